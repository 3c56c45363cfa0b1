// Command bench measures what a relay adds to MCP calls: bouncer, a raw line copier and the bare server, interleaved in
// one run against the same small echo server. See README.md beside it.
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "echo":
			return echo(os.Stdin, os.Stdout)
		case "copy":
			return copier(args[1:])
		}
	}
	o, err := parse(args)
	if err != nil {
		return err
	}
	return measure(o)
}

// options are what one measurement needs.
type options struct {
	bouncer string
	sizes   []int
	kinds   []string
	calls   int
	rounds  int
	peers   []peer // name and command line that takes the server's command line behind it
}

type peer struct {
	name string
	argv []string
}

func parse(args []string) (options, error) {
	var o options
	var sizes, kinds string
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.StringVar(&o.bouncer, "bouncer", "", "path of the bouncer binary to measure")
	set.StringVar(&sizes, "sizes", "1k,100k", "result sizes: 200,1k,10k,100k,1m,16m,64m")
	set.StringVar(&kinds, "kinds", "prose", "what the results hold: prose,fresh,base64,digits,json")
	set.IntVar(&o.calls, "calls", 2000, "sequential calls per path, size and round (fewer for large results)")
	set.IntVar(&o.rounds, "rounds", 5, "interleaved rounds")
	set.Func("peer", "another relay, as `NAME=COMMAND ARGS`; the server's command line is put behind it", func(s string) error {
		name, line, ok := strings.Cut(s, "=")
		if !ok {
			return fmt.Errorf("%q has no =", s)
		}
		o.peers = append(o.peers, peer{name, strings.Fields(line)})
		return nil
	})
	if err := set.Parse(args); err != nil {
		return o, err
	}
	for _, s := range strings.Split(sizes, ",") {
		n, err := size(s)
		if err != nil {
			return o, err
		}
		o.sizes = append(o.sizes, n)
	}
	for _, kind := range strings.Split(kinds, ",") {
		if _, _, _, err := payload(kind, 1); err != nil {
			return o, err
		}
		o.kinds = append(o.kinds, kind)
	}
	if o.bouncer == "" {
		return o, fmt.Errorf("say which binary to measure: -bouncer FILE")
	}
	return o, nil
}

func size(s string) (int, error) {
	s = strings.ToLower(s)
	unit := 1
	switch {
	case strings.HasSuffix(s, "k"):
		unit, s = 1<<10, strings.TrimSuffix(s, "k")
	case strings.HasSuffix(s, "m"):
		unit, s = 1<<20, strings.TrimSuffix(s, "m")
	}
	n, err := strconv.Atoi(s)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("%q is no size", s)
	}
	return n * unit, nil
}
