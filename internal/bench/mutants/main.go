// Command mutants changes one thing at a time in the functions of packages, runs the tests
// that reach it, and prints which changes no test noticed and the share that was noticed.
//
//	mutants [-sample 40] [-seed 1] [-only REGEXP] [-tests REGEXP] PACKAGE...
//
// Of a package whose tests take minutes, -reach keeps what each of them reaches from one run to
// the next, and -most bounds how long each mutant is tried: what no test notices within that
// counts as not noticed.
//
// Nothing is written into the tree: the Go command is given the changed file in place of
// the one that is there. Changes that do not compile do not count, nor do those that
// equivalent.txt shows to change nothing, each with the reason.
//
// Why not gremlins: it tries all mutants or those of a diff, none of which removes a call or
// changes what is returned, and keeps no reasons for those that need no test.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"time"
)

// options are what the flags say.
type options struct {
	sample  int            // mutants of each package; 0: all
	seed    uint64         // of the sample
	only    *regexp.Regexp // which mutants, by file, function and change
	tests   *regexp.Regexp // which tests
	skip    *regexp.Regexp // which tests not
	each    bool           // each test by itself is asked what it reaches
	reach   string         // file that keeps what they reach
	most    time.Duration  // of the tests that are run against a mutant; 0: no bound
	workers int
	patient float64 // how many times as long as unchanged a test may take
	least   float64 // share of mutants that have to be noticed
	list    bool
}

func main() {
	var o options
	flag.IntVar(&o.sample, "sample", 40, "try `n` mutants of each package; 0 tries all")
	flag.Uint64Var(&o.seed, "seed", 1, "the `number` that decides which")
	only := flag.String("only", "", "of the mutants whose file, function, line and change, as `FILE FUNCTION LINE FROM -> TO`, match this regular expression")
	tests := flag.String("tests", "", "run the tests that this regular `expression` matches")
	skip := flag.String("skip", "^$", "leave out the tests that this regular `expression` matches: fewer mutants are noticed, sooner")
	flag.BoolVar(&o.each, "each", true, "run each test alone first, to know what it reaches; false runs all of them for each mutant")
	flag.StringVar(&o.reach, "reach", "", "keep what each test reaches in a `file`, and take it from there while the package without its tests is the same")
	flag.DurationVar(&o.most, "most", 0, "run, of the tests that reach a mutant, the quickest that take so much `time` together; 0 runs all")
	flag.IntVar(&o.workers, "workers", max(1, runtime.GOMAXPROCS(0)/2), "mutants at a `time`")
	flag.Float64Var(&o.patient, "patience", 5, "a mutant is noticed when tests take so many `times` as long, and half a minute")
	flag.Float64Var(&o.least, "least", 0, "fail when less `percent` of a package's mutants are noticed")
	flag.BoolVar(&o.list, "list", false, "print the mutants that would be tried")
	flag.Parse()

	var err error
	if o.only, err = regexp.Compile(*only); err == nil {
		if o.tests, err = regexp.Compile(*tests); err == nil {
			if o.skip, err = regexp.Compile(*skip); err == nil {
				err = run(o, flag.Args())
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// run tries the mutants of packages one package after the other, and prints the shares.
func run(o options, patterns []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	folder, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	packages, err := load(ctx, patterns)
	if err != nil {
		return err
	}
	same, err := readEquivalents(equivalentText)
	if err != nil {
		return err
	}
	var scores []score
	for _, p := range packages {
		mutants, err := choose(p, same, o)
		if err != nil {
			return err
		}
		if o.list {
			for _, m := range mutants {
				fmt.Println(m)
			}
			continue
		}
		began := time.Now()
		r := runner{pkg: p, options: o, folder: folder, tell: tell}
		s, err := r.try(ctx, mutants)
		if err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
		s.took = time.Since(began)
		scores = append(scores, s)
	}
	return report(os.Stdout, scores, o.least)
}

// tell prints a mutant that no test noticed.
func tell(m mutant, v verdict) {
	switch v {
	case survived:
		fmt.Printf("survived: %s\n", m)
	case unreached:
		fmt.Printf("not reached: %s\n", m)
	}
}
