// Command day has the whole system live through a day in an hour: a hospital's database
// under changes that follow the hours of a day, kproxy as a process of its own that
// publishes the patients with guarded updates, dashboards that ask through it what Cube
// would ask, and readers who check every state that they see. Meanwhile it measures lag,
// latency, memory, processor time and what the server keeps; at the end the release is
// proved, and the private store compared with the source.
//
//	go run ./integration/day [flags]
//
// It needs Linux and PostgreSQL's server, and of memory and disk 1.5 and 2 KB a patient. It
// fails on what is wrong, never on what is slow. Each minute, a line about the last part of
// the day goes to standard error; at the end, a table of the whole day to standard output,
// whose first column names what was measured, with its unit (diary.go).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	Program    string        `json:"-"`
	Patients   int           `json:"patients"`
	Minutes    float64       `json:"minutes"`
	Rate       float64       `json:"rate"` // changes a second, in the mean
	Dashboards int           `json:"dashboards"`
	Refresh    time.Duration `json:"refreshNanoseconds"` // from one refresh of a dashboard to the next
	Queue      int           `json:"queue"`              // queries of all dashboards at once
	Seed       uint64        `json:"seed"`
	// JSON and Plot are files to write; empty means none.
	JSON string `json:"-"`
	Plot string `json:"-"`
}

// length of the day.
func (o options) length() time.Duration { return time.Duration(o.Minutes * float64(time.Minute)) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	o, err := parse(os.Args[1:])
	if err == nil {
		err = run(ctx, o, os.Stdout, os.Stderr)
	}
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "day:", err)
		os.Exit(1)
	}
}

func parse(arguments []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("day", flag.ContinueOnError)
	flags.StringVar(&o.Program, "kproxy", "bin/kproxy", "the kproxy to run")
	flags.IntVar(&o.Patients, "patients", 10_000_000, "patients in the morning")
	flags.Float64Var(&o.Minutes, "minutes", 60, "length of the day")
	flags.Float64Var(&o.Rate, "rate", 1000, "changes a second, in the mean of the day")
	flags.IntVar(&o.Dashboards, "dashboards", 50, "dashboards, of 12 queries each")
	flags.DurationVar(&o.Refresh, "refresh", 0, "time from one refresh of a dashboard to the next; 0s: 24 times a day")
	flags.IntVar(&o.Queue, "queue", 2, "queries that run at once, of all dashboards: Cube's CUBEJS_CONCURRENCY")
	flags.Uint64Var(&o.Seed, "seed", 1, "of patients, changes and dashboards")
	flags.StringVar(&o.JSON, "json", "", "file for the figures")
	flags.StringVar(&o.Plot, "plot", "", "file for the picture, as SVG")
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	if o.Refresh == 0 {
		o.Refresh = o.length() / 24
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("%q is no flag", flags.Arg(0))
	}
	if o.Patients < 1000 || o.Minutes < 0.05 || o.Rate <= 0 || o.Dashboards < 1 || o.Refresh <= 0 || o.Queue < 1 {
		return o, errors.New("want at least 1000 patients, 0.05 minutes, a rate, a dashboard, a time between refreshes and a queue")
	}
	return o, nil
}

// run lives through the day and writes what was measured. The error tells what was wrong;
// files are written all the same.
func run(ctx context.Context, o options, out, progress io.Writer) error {
	s, err := newSite(ctx, o, progress)
	if err != nil {
		return fmt.Errorf("making the site: %w", err)
	}
	defer s.close()
	d := newDiary(o)
	s.live(ctx, d, progress)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	fmt.Fprintln(progress, "The day is over; proving what is published.")
	if err := s.prove(ctx, d); err != nil {
		return fmt.Errorf("proving: %w", err)
	}
	r := s.result(d)
	if err := r.save(o); err != nil {
		return err
	}
	r.print(out)
	return errors.Join(r.wrong()...)
}

// save writes the files that were asked for.
func (r result) save(o options) error {
	if o.JSON != "" {
		text, err := json.MarshalIndent(r, "", "\t")
		if err != nil {
			return fmt.Errorf("writing the figures: %w", err)
		}
		if err := os.WriteFile(o.JSON, append(text, '\n'), 0o644); err != nil {
			return fmt.Errorf("writing the figures: %w", err)
		}
	}
	if o.Plot != "" {
		svg, err := r.plot()
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.Plot, svg, 0o644); err != nil {
			return fmt.Errorf("writing the picture: %w", err)
		}
	}
	return nil
}
