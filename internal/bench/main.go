// Command bench measures anonymization, maintained releases, synchronization, the proxy,
// rewriting and the whole system, beside the peers that are there, in the same run. It runs
// commands that anybody can run by hand, writes what they say as JSON, one file for each
// section, and makes docs/benchmarks.md and its pictures of those files, with what other
// pages claim of them (claims.go).
//
//	go run ./internal/bench [flags]
//
// It fails where a command fails, which is where something is wrong, never where something
// is slow. A section of which a command has no figures keeps the file it had; so does one that
// was interrupted, and one that was measured before beside a peer which is not there now;
// Pgpool-II alone is just left out. One in which something was wrong, but is measured, says that
// it failed. -continue takes over what was measured of the same commands, size, program and
// machine, and of the same commit, with no Go file changed since.
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
	"strings"
	"time"

	"github.com/kproxy/kproxy/internal/bench/host"
)

// options are the flags.
type options struct {
	size       size
	only       []string
	out        string // folder of the JSON files and of the pictures
	unfinished string // folder of what was measured of sections that are not complete
	page       string
	render     bool
	goOn       bool
	cramped    bool
	rounds     int
	tools      tools
	progress   io.Writer
}

// tools are what the commands are made with.
type tools struct {
	kproxy string   // the program to measure
	peers  []string // adapters for internal/bench/methods, name=command
	// memoryLimit is GOMEMLIMIT, which all commands inherit.
	memoryLimit string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), host.Interrupts()...)
	context.AfterFunc(ctx, stop) // a second interrupt ends this process at once
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
	o := options{size: small, progress: os.Stderr, tools: tools{memoryLimit: os.Getenv("GOMEMLIMIT")}}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	whole := flags.Bool("full", false, "measure large tables, many clients and a whole day")
	only := flags.String("only", "", "sections to measure, separated by commas: "+strings.Join(sectionNames(), ", "))
	flags.StringVar(&o.out, "out", "docs/benchmarks", "folder for the figures and the pictures")
	flags.StringVar(&o.page, "page", "docs/benchmarks.md", "file for the page")
	flags.BoolVar(&o.render, "render", false, "measure nothing: make the page of the figures that are there")
	flags.StringVar(&o.unfinished, "unfinished", ".bench", "folder for what is measured of sections that are not complete yet")
	flags.BoolVar(&o.goOn, "continue", false, "go on with a run that was interrupted: take over what was measured of the same size, machine and commit, with no Go file changed")
	flags.BoolVar(&o.cramped, "cramped", false, "begin although there is less memory or disk than the sections take")
	flags.IntVar(&o.rounds, "rounds", 0, "rounds; 0 = those of the size")
	flags.StringVar(&o.tools.kproxy, "kproxy", usualProgram, "the kproxy to measure: "+usualProgram+" is built of the sources first, another one is taken as it is, and named")
	flags.Func("peer", "name=command of another anonymizer, or an adapter to it: see internal/bench/methods", func(peer string) error {
		o.tools.peers = append(o.tools.peers, peer)
		return nil
	})
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "Usage: go run ./internal/bench [flags]")
		flags.PrintDefaults()
		writeReckoning(flags.Output())
	}
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

// writeReckoning tells what the sections take.
func writeReckoning(to io.Writer) {
	fmt.Fprintf(to, "\nReckoned, on two quiet cores, without -peer:\n  %-14s %9s %9s %16s\n", "section", "usual", "-full", "memory and disk")
	for _, s := range sections {
		usual, _ := reckon(s, small)
		whole, room := reckon(s, full)
		fmt.Fprintf(to, "  %-14s %9s %9s %8.0f %4.0f GB\n", s.name, short(usual), short(whole), room.Memory/1e9, room.Disk/1e9)
	}
}

// reckon is what a section takes of some size.
func reckon(s section, at size) (about time.Duration, room host.Room) {
	for _, one := range (options{size: at}).stepsOf(s) {
		about += one.about
		room.Memory, room.Disk = max(room.Memory, one.room.Memory), max(room.Disk, one.room.Disk)
	}
	return about, room
}
