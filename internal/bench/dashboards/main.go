// Command dashboards measures what dashboards ask of a protected table: twelve questions about groups of patients,
// through kproxy for the first time and again while its answers are kept, beside the same on the unprotected table and on
// materialized views, by one viewer and by many, of a table at rest and of one that changes.
//
//	go run ./internal/bench/dashboards [flags]
//
// It needs Linux and PostgreSQL's server. All ways take turns in each round; what matters are the ratios of a
// round. It fails on what is wrong, never on what is slow.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/kproxy/kproxy/internal/bench/host"
	"github.com/kproxy/kproxy/internal/bench/result"
)

// options are the flags.
type options struct {
	program  string
	patients int
	rounds   int
	viewers  []int
	updates  string        // immediate or guarded
	summary  string        // of classes: view or stored
	rate     int           // changes a second
	time     time.Duration // of many viewers, in each round
	json     string
}

func main() {
	ctx, stop := untilInterrupted()
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "dashboards:", err)
		os.Exit(1)
	}
}

func parse(arguments []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("dashboards", flag.ContinueOnError)
	flags.StringVar(&o.program, "kproxy", "bin/kproxy", "kproxy to measure")
	flags.IntVar(&o.patients, "patients", 1_000_000, "records of the protected table")
	flags.IntVar(&o.rounds, "rounds", 5, "rounds, in each of which every way is measured once")
	flags.StringVar(&o.updates, "updates", immediate, "updates of the protected table: immediate or guarded")
	flags.StringVar(&o.summary, "summary", "view", "summary of the classes, where updates are immediate: view or stored")
	flags.IntVar(&o.rate, "rate", 1000, "changes a second, for a table that changes; 0 measures it at rest alone")
	flags.DurationVar(&o.time, "time", 10*time.Second, "length of a run of several viewers")
	flags.StringVar(&o.json, "json", "", "file for the figures")
	viewers := flags.String("viewers", "1,50", "viewers at a time")
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	for text := range strings.SplitSeq(*viewers, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return o, fmt.Errorf("-viewers %s: %q is not a number of viewers", *viewers, text)
		}
		o.viewers = append(o.viewers, n)
	}
	if o.updates != immediate && o.updates != guarded {
		return o, fmt.Errorf("-updates %s: updates are %s or %s", o.updates, immediate, guarded)
	}
	if o.summary != "view" && (o.summary != "stored" || o.updates != immediate) {
		return o, fmt.Errorf("-summary %s: a summary is a view, or stored where updates are immediate", o.summary)
	}
	if flags.NArg() > 0 || o.rounds < 1 || o.patients < 100 {
		return o, fmt.Errorf("no arguments, one round and 100 patients at least")
	}
	return o, nil
}

func run(ctx context.Context, arguments []string, out io.Writer) error {
	o, err := parse(arguments)
	if err != nil {
		return err
	}
	s, err := newSite(ctx, o)
	if err != nil {
		return err
	}
	defer s.close()
	fmt.Fprintf(out, "PostgreSQL %s, %d patients, %s updates, summary %s; source %s, release %s, published in %.0f s.\n\n", s.server.Version(), o.patients, o.updates, o.summary, s.sourceSize, s.releaseSize, s.published.Seconds())
	var figures []result.Figure
	for _, state := range []string{"at rest", "changes"} {
		if state == "changes" && o.rate == 0 {
			continue
		}
		measured, err := s.measure(ctx, state, out)
		if err != nil {
			return err
		}
		figures = append(figures, measured...)
	}
	if o.json == "" {
		return nil
	}
	return result.WriteFigures(o.json, figures)
}

// untilInterrupted is a context that ends with an interrupt.
func untilInterrupted() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), host.Interrupts()...)
}
