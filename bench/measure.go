package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

const window = 32 // calls in flight for throughput

// sample is what one session over one path showed.
type sample struct {
	start, p50, p99 time.Duration
	cpu             time.Duration // of the relay itself, per sequential call
	perSecond       float64
	idle, peak      int // KiB
}

// measure runs every path in turn, round by round, so that a slow moment of the machine meets all of them.
func measure(o options) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "bouncer-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	server := []string{self, "echo"}
	paths := []peer{
		{"direct", nil},
		{"copier", []string{self, "copy"}},
		{"bouncer", []string{o.bouncer, "run", "--home=" + freshHome, "--upstream-name=echo", "--"}},
	}
	paths = append(paths, o.peers...)
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, kind := range o.kinds {
		for _, size := range o.sizes {
			got, err := rounds(o, paths, server, home, load{kind, size, callsFor(o.calls, size)})
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s %s\tp50\tadded\tp99\tCPU/call\tcalls/s\tstart\tRSS idle\tpeak\t\n", label(size), kind)
			report(out, paths, got)
		}
	}
	return out.Flush()
}

// load is what one session asks for.
type load struct {
	kind        string
	size, calls int
}

// freshHome stands in a command line for a folder that no session has used before, so that none starts with what others said.
const freshHome = "HOME"

// rounds measures every path in turn, again and again.
func rounds(o options, paths []peer, server []string, home string, l load) (map[string][]sample, error) {
	got := map[string][]sample{}
	for round := range o.rounds + 1 {
		for _, p := range paths {
			fresh, err := os.MkdirTemp(home, "")
			if err != nil {
				return nil, err
			}
			argv := slices.Clone(p.argv)
			for i := range argv {
				argv[i] = strings.Replace(argv[i], "="+freshHome, "="+fresh, 1)
			}
			s, err := session(append(argv, server...), l)
			if err = errors.Join(err, os.RemoveAll(fresh)); err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			if round > 0 { // the first warms the caches
				got[p.name] = append(got[p.name], s)
			}
		}
	}
	return got, nil
}

func callsFor(calls, size int) int {
	const budget = 64 << 20 // bytes a session may move
	return max(3, min(calls, budget/size))
}

// report prints medians over the rounds, and ratios of medians of what bouncer and the copier add to the direct path.
func report(out io.Writer, paths []peer, got map[string][]sample) {
	median := func(name string, of func(sample) float64) float64 {
		var all []float64
		for _, s := range got[name] {
			all = append(all, of(s))
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	micros := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
	p50 := func(s sample) float64 { return micros(s.p50) }
	direct := median("direct", p50)
	for _, p := range paths {
		fmt.Fprintf(out, "%s\t%.0f us\t%.0f us\t%.0f us\t%.1f us\t%.0f\t%.1f ms\t%.1f MB\t%.1f MB\t\n", p.name,
			median(p.name, p50), median(p.name, p50)-direct,
			median(p.name, func(s sample) float64 { return micros(s.p99) }),
			median(p.name, func(s sample) float64 { return micros(s.cpu) }),
			median(p.name, func(s sample) float64 { return s.perSecond }),
			median(p.name, func(s sample) float64 { return micros(s.start) / 1e3 }),
			median(p.name, func(s sample) float64 { return float64(s.idle) / 1024 }),
			median(p.name, func(s sample) float64 { return float64(s.peak) / 1024 }))
	}
	copied := median("copier", p50) - direct
	for _, p := range paths[2:] {
		fmt.Fprintf(out, "%s / copier\tadded x%.2f\tCPU x%.2f\tstart %+.1f ms\t\n", p.name,
			(median(p.name, p50)-direct)/copied,
			median(p.name, func(s sample) float64 { return micros(s.cpu) })/median("copier", func(s sample) float64 { return micros(s.cpu) }),
			median(p.name, func(s sample) float64 { return micros(s.start) / 1e3 })-median("copier", func(s sample) float64 { return micros(s.start) / 1e3 }))
	}
	fmt.Fprintln(out)
}

// session starts one path, makes the calls one after the other and then again with several in flight.
func session(argv []string, l load) (sample, error) {
	var s sample
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return s, err
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return s, err
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return s, err
	}
	c := &client{in: in, out: bufio.NewReaderSize(pipe, 1<<20)}
	if err := c.hello(); err != nil {
		return s, err
	}
	s.start = time.Since(begin)
	s.idle = memory(cmd.Process.Pid, "VmRSS:")
	before := cpu(cmd.Process.Pid)
	took := make([]time.Duration, l.calls)
	for i := range took {
		t := time.Now()
		if err := c.call(l); err != nil {
			return s, err
		}
		took[i] = time.Since(t)
	}
	s.cpu = (cpu(cmd.Process.Pid) - before) / time.Duration(l.calls)
	slices.Sort(took)
	s.p50, s.p99 = took[len(took)/2], took[len(took)*99/100]
	if s.perSecond, err = c.flood(l); err != nil {
		return s, err
	}
	s.peak = memory(cmd.Process.Pid, "VmHWM:")
	if err := in.Close(); err != nil {
		return s, err
	}
	_, _ = io.Copy(io.Discard, c.out) // until it closes its end
	return s, cmd.Wait()
}

// client speaks just enough MCP.
type client struct {
	in  io.Writer
	out *bufio.Reader
	id  int
}

func (c *client) hello() error {
	if err := c.send(`"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`); err != nil {
		return err
	}
	if err := c.receive(); err != nil {
		return err
	}
	_, err := io.WriteString(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return err
}

func (c *client) send(rest string) error {
	c.id++
	_, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":%s}`+"\n", c.id, rest)
	return err
}

func (c *client) receive() error {
	for n := 0; ; n++ {
		line, err := c.out.ReadSlice('\n')
		if n == 0 && strings.Contains(string(line[:min(len(line), 200)]), "[bouncer blocked]") {
			return fmt.Errorf("a call was blocked: %s", line)
		}
		if err != bufio.ErrBufferFull {
			return err
		}
	}
}

func (c *client) ask(l load) error {
	return c.send(fmt.Sprintf(`"tools/call","params":{"name":"echo","arguments":{"kind":"%s","size":%d}}`, l.kind, l.size))
}

func (c *client) call(l load) error {
	if err := c.ask(l); err != nil {
		return err
	}
	return c.receive()
}

func (c *client) flood(l load) (float64, error) {
	begin := time.Now()
	sent := 0
	for sent < min(window, l.calls) {
		if err := c.ask(l); err != nil {
			return 0, err
		}
		sent++
	}
	for range l.calls {
		if err := c.receive(); err != nil {
			return 0, err
		}
		if sent < l.calls {
			if err := c.ask(l); err != nil {
				return 0, err
			}
			sent++
		}
	}
	return float64(l.calls) / time.Since(begin).Seconds(), nil
}

func label(size int) string {
	switch {
	case size >= 1<<20:
		return fmt.Sprintf("%d MB", size>>20)
	case size >= 1<<10:
		return fmt.Sprintf("%d KB", size>>10)
	}
	return fmt.Sprintf("%d B", size)
}
