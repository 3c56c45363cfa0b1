package main

import "testing"

// A client that goes while its server reads nothing must be noticed, although what bouncer could not pass on stands before
// the end of its input.
func TestClientGoesWhileServerIsDeaf(t *testing.T) {
	for name, server := range map[string]string{
		"reads nothing": `exec sleep 1000`,
		"talks only":    `yes '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stall(t, "eof", server)
		})
	}
}
