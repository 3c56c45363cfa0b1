package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkStart is what a person and a client wait for before bouncer does anything: a whole process each time.
func BenchmarkStart(b *testing.B) {
	bouncer := filepath.Join(b.TempDir(), exeName("bouncer"))
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bouncer, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for _, args := range [][]string{{"--help"}, {"version"}} {
		b.Run(args[0], func(b *testing.B) {
			for b.Loop() {
				if err := exec.Command(bouncer, args...).Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("true", func(b *testing.B) { // what starting any program costs here
		for b.Loop() {
			_ = exec.Command("true").Run() // where there is none, finding that out
		}
	})
}
