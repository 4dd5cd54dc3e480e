// Command bench measures every figure that the documentation claims, beside the peers that
// are there, in the same run: anonymization, maintained releases, synchronization, the
// proxy, rewriting and the whole system. It runs commands that anybody can run by hand,
// writes what they say as JSON, one file for each section, and makes docs/benchmarks.md and
// its pictures of those files alone.
//
//	go run ./bench [flags]
//
// It fails where a command fails, which is where something is wrong, never where something
// is slow. A section of which a command failed keeps the file it had.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// options are the flags.
type options struct {
	size   size
	only   []string
	out    string // folder of the JSON files and of the pictures
	page   string
	render bool
	rounds int
	tools  tools
}

// tools are what the commands are made with.
type tools struct {
	kproxy string   // the program to measure
	peers  []string // adapters for bench/methods, name=command
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string) error {
	o, err := parse(arguments)
	if err != nil {
		return err
	}
	var failed error
	if !o.render {
		failed = o.measure(ctx)
	}
	return errors.Join(failed, o.write())
}

func parse(arguments []string) (options, error) {
	o := options{size: small}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	whole := flags.Bool("full", false, "measure large tables, many clients and a whole day: hours, and 16 GB of memory")
	only := flags.String("only", "", "sections to measure, separated by commas: "+strings.Join(sectionNames(), ", "))
	flags.StringVar(&o.out, "out", "docs/benchmarks", "folder for the figures and the pictures")
	flags.StringVar(&o.page, "page", "docs/benchmarks.md", "file for the page")
	flags.BoolVar(&o.render, "render", false, "measure nothing: make the page of the figures that are there")
	flags.IntVar(&o.rounds, "rounds", 0, "rounds; 0 = those of the size")
	flags.StringVar(&o.tools.kproxy, "kproxy", "bin/kproxy", "the kproxy to measure, which make build makes")
	flags.Func("peer", "name=command of another anonymizer, or an adapter to it: see bench/methods", func(peer string) error {
		o.tools.peers = append(o.tools.peers, peer)
		return nil
	})
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	if *whole {
		o.size = full
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("%q is no flag", flags.Arg(0))
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	for _, name := range o.only {
		if !slices.Contains(sectionNames(), name) {
			return o, fmt.Errorf("there is no section %q, there are %s", name, strings.Join(sectionNames(), ", "))
		}
	}
	return o, nil
}

// measure runs the sections and writes their files.
func (o options) measure(ctx context.Context) error {
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	var failed error
	for _, s := range sections {
		if len(o.only) > 0 && !slices.Contains(o.only, s.name) {
			continue
		}
		measured, err := o.section(ctx, s)
		if errors.Is(err, errNothingGiven) {
			fmt.Fprintf(os.Stderr, "%s: %v\n", s.name, err)
			continue
		}
		if err == nil {
			err = measured.Write(o.file(s.name))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s failed: %v\n", s.name, err)
			failed = errors.Join(failed, fmt.Errorf("section %s: %w", s.name, err))
		}
	}
	return failed
}
