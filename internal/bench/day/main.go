// Command day has the whole system live through a day in an hour: a hospital's database
// under changes that follow the hours of a day, kproxy as a process of its own that
// publishes the patients with guarded updates, dashboards that ask through it what Cube
// would ask, and readers who check every state that they see. Meanwhile it measures lag,
// latency, memory, processor time and what the server keeps; at the end the release is
// proved, and the private store compared with the source.
//
//	go run ./internal/bench/day [flags]
//
// It needs Linux and PostgreSQL's server, and room: ten million patients 8.6 GB of memory and
// 21 GB of disk; it looks for that before it begins (room.go). It fails on what is wrong, never on what is slow. Each
// minute, a line about the last part of the day goes to standard error; at the end, a table
// of the whole day to standard output, whose first column names what was measured, with its
// unit (diary.go). Files are written of a day on which something was wrong, too, and of one
// that was interrupted, of which they say so. kproxy is given GOMEMLIMIT, if it is set.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/kproxy/kproxy/internal/bench/host"
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
	Cramped    bool          `json:"-"` // begin where memory or disk may lack
	// JSON and Plot are files to write; empty means none.
	JSON string `json:"-"`
	Plot string `json:"-"`
}

// length of the day.
func (o options) length() time.Duration { return time.Duration(o.Minutes * float64(time.Minute)) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), host.Interrupts()...)
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
	flags.BoolVar(&o.Cramped, "cramped", false, "begin although there is less memory or disk than the patients take")
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
// files are written all the same, also of a day that was interrupted.
func run(ctx context.Context, o options, out, progress io.Writer) error {
	if err := o.prepare(); err != nil {
		return err
	}
	s, err := newSite(ctx, o, progress)
	if err != nil {
		return fmt.Errorf("making the site: %w", err)
	}
	defer s.close()
	d := newDiary(o)
	s.live(ctx, d, progress)
	if ctx.Err() == nil {
		fmt.Fprintln(progress, "The day is over; proving what is published.")
		err := during(progress, "proving", func() error { return s.prove(ctx, d) })
		if err != nil && ctx.Err() == nil {
			d.failed("proving: %v", err)
		}
	}
	r := s.result(d)
	r.Interrupted = ctx.Err() != nil
	err = r.save(o)
	r.print(out)
	return errors.Join(append(r.wrong(), err)...)
}

// prepare finds out before the day what would else end it in its evening.
func (o options) prepare() error {
	if _, err := exec.LookPath(o.Program); err != nil {
		return fmt.Errorf("finding kproxy: %w", err)
	}
	for _, path := range []string{o.JSON, o.Plot} {
		if path == "" {
			continue
		}
		probe, err := os.CreateTemp(filepath.Dir(path), ".day-")
		if err != nil {
			return fmt.Errorf("%s cannot be written: %w", path, err)
		}
		if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
			return fmt.Errorf("%s cannot be written: %w", path, err)
		}
	}
	if lacking := o.room().Lacking(); len(lacking) > 0 && !o.Cramped {
		return fmt.Errorf("a day of %d patients takes %s; -cramped begins all the same", o.Patients, strings.Join(lacking, " and "))
	}
	return nil
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
