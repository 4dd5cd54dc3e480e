// Command speed compares kproxy with PgBouncer and with direct connections, on one
// machine, in one run, in alternating rounds. See docs/speed.md.
//
//	go run ./internal/bench/speed [flags] [lookup] [page] [tls] [scan] [login] [idle]
//
// It needs Linux, PostgreSQL's server and pgbench, and pgbouncer on the PATH; pgpool is
// measured as well where it is on the PATH. Without an argument everything is measured but
// idle, which takes 12 GB of memory for PostgreSQL with 5,000 sessions.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/kproxy/kproxy/internal/bench/result"
)

// options are the flags.
type options struct {
	programs  programs
	records   int
	rounds    int
	time      time.Duration
	clients   []int
	protocols []string
	idle      int
	active    int
	calm      float64
	sockets   bool
	json      string // the file to write; empty = none
}

// sessions is how many clients one way has at once, and some more.
func (o *options) sessions() int {
	return max(o.idle+o.active, slices.Max(o.clients)) + 50
}

// connections is how many PostgreSQL allows for. Proxies keep those of the clients that
// they had: each of PgBouncer, Pgpool-II and the kproxies, beside as many direct ones.
func (o *options) connections() int {
	others := len(o.programs) + 2
	return o.sessions() + others*slices.Max(o.clients) + 150
}

// programs are kproxy binaries by what the tables call them.
type programs [][2]string

// String implements flag.Value.
func (p *programs) String() string { return fmt.Sprint(*p) }

// Set implements flag.Value.
func (p *programs) Set(text string) error {
	name, path, found := strings.Cut(text, "=")
	if !found || name == "" || path == "" {
		return errors.New("want name=path")
	}
	*p = append(*p, [2]string{name, path})
	return nil
}

// measurement is something that can be measured; do prints its table.
type measurement struct {
	name string
	do   func(ctx context.Context, b *bench) error
}

// measurements are what can be measured, in the order of the report.
var measurements = []measurement{{"lookup", lookups}, {"page", pages}, {"tls", encrypted}, {"scan", scans}, {"login", logins}, {"idle", idlers}}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string, out io.Writer) error {
	o, names, err := parse(arguments)
	if err != nil {
		return err
	}
	b, err := newBench(ctx, o, out)
	if err != nil {
		return err
	}
	defer b.close()
	b.heading()
	for _, m := range measurements {
		if !slices.Contains(names, m.name) {
			continue
		}
		if err := m.do(ctx, b); err != nil {
			return fmt.Errorf("measuring %s: %w", m.name, err)
		}
	}
	b.ending()
	if o.json == "" {
		return nil
	}
	return result.WriteFigures(o.json, b.figures)
}

func parse(arguments []string) (options, []string, error) {
	var o options
	flags := flag.NewFlagSet("speed", flag.ContinueOnError)
	flags.Var(&o.programs, "kproxy", "name=path of a kproxy to measure; repeat it to compare several")
	flags.IntVar(&o.records, "records", 1_000_000, "records of the protected table")
	flags.IntVar(&o.rounds, "rounds", 5, "rounds, in each of which every way is measured once")
	flags.DurationVar(&o.time, "time", 5*time.Second, "length of one run of pgbench")
	clients := flags.String("clients", "1,8,64", "clients of lookup")
	protocols := flags.String("protocols", "simple,extended,prepared", "protocols of lookup")
	flags.IntVar(&o.idle, "idle", 5000, "idle sessions")
	flags.IntVar(&o.active, "active", 200, "active sessions beside the idle ones")
	flags.Float64Var(&o.calm, "calm", 0.15, "repeat a run, at most twice, during which other processes took more than this share of the machine")
	flags.BoolVar(&o.sockets, "sockets", false, "reach PostgreSQL through Unix sockets, all ways alike")
	flags.StringVar(&o.json, "json", "", "file for the figures")
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "Usage: speed [flags] [%s]...\n\nCompare the speed of kproxy with that of other ways to PostgreSQL: all but idle, unless some are named.\n\n", strings.Join(namesOf(measurements), "|"))
		flags.PrintDefaults()
	}
	if err := flags.Parse(arguments); err != nil {
		return o, nil, err
	}
	for text := range strings.SplitSeq(*clients, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return o, nil, fmt.Errorf("-clients %s: %q is not a number of clients", *clients, text)
		}
		o.clients = append(o.clients, n)
	}
	o.protocols = strings.Split(*protocols, ",")
	if len(o.programs) == 0 {
		o.programs = programs{{"kproxy", "bin/kproxy"}}
	}
	names := flags.Args()
	if len(names) == 0 {
		names = []string{"lookup", "page", "tls", "scan", "login"}
	}
	for _, name := range names {
		if !slices.ContainsFunc(measurements, func(m measurement) bool { return m.name == name }) {
			return o, nil, fmt.Errorf("there is no measurement %q: name some of %s", name, strings.Join(namesOf(measurements), ", "))
		}
	}
	return o, names, nil
}

func namesOf(measurements []measurement) (names []string) {
	for _, m := range measurements {
		names = append(names, m.name)
	}
	return names
}
