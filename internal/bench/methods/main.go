// Command methods measures every anonymization method over numbers of records, numbers
// of attributes and k: time, memory, allocations, information loss and classes, of tables
// like the Adult census data. Each release is checked; a wrong one is an error.
//
//	go run ./internal/bench/methods [flags]
//
// A peer is a program of another project, or an adapter to one, such as those in
// internal/bench/peers:
//
//	go run ./internal/bench/methods -peer "python-strict=python3 internal/bench/peers/mondrian.py FOLDER strict"
//
// It is called with the name of a CSV file and k. The file's header says NAME:numeric or
// NAME:categorical; categories are texts of a letter and a number, which is their order. Beside
// it, NAME.csv has an attribute's hierarchy for whom it is of use: a line for each number, with
// what is published of it in turn, semicolons between. Those of the categories are those of the
// table; numbers are in groups of two, four, eight and so on neighbors.
//
// On its standard output a peer writes a line "version V" if it likes, a line "seconds S" (how
// long it anonymized, without reading and writing), a line "cpu S" if it likes (the processor
// time of that), a line "memory B" if it likes (the most memory that it ever had, in bytes), and
// then for each record of the file what is published of its attributes, commas between: a number
// alone, LOW~HIGH, or * for nothing; categories by their numbers, without the letter.
//
// Records of which the same is published are one class; those of which nothing is, are withheld.
// What is published has to be true, and is measured as what the methods here publish; releases
// are checked as theirs. A peer that fails, or whose release is wrong, is an error; one that
// takes too long is left out.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/internal/bench/result"
)

// options are the flags.
type options struct {
	records, attributes, k []int
	cores                  []int // 0 = those that there are
	methods                []string
	peers                  peers
	adult                  string // folder of the Adult census data
	rounds                 int
	patience               time.Duration
	json                   string
}

// The table and the k that each list departs from. Of the records it is the first.
const (
	usualAttributes = 8
	usualK          = 5
)

// adultRecords are those of the Adult census data that have all attributes.
const adultRecords = 30162

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "methods:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string, out io.Writer) error {
	o, err := parse(arguments)
	if err != nil {
		return err
	}
	if err := o.leaveOut(runtime.NumCPU(), out); err != nil {
		return err
	}
	m := &measuring{options: o, out: out, slow: map[contestant]int{}}
	for _, one := range o.cases() {
		if err := m.measure(ctx, one); err != nil {
			return fmt.Errorf("%s: %w", one, err)
		}
	}
	if o.json == "" {
		return nil
	}
	return result.WriteFigures(o.json, m.figures)
}

func parse(arguments []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("methods", flag.ContinueOnError)
	numbers := func(name, usual, usage string) *string { return flags.String(name, usual, usage) }
	records := numbers("records", "10000,100000", "numbers of records")
	attributes := numbers("attributes", "2,4,8,12", "numbers of attributes, for the least number of records")
	k := numbers("k", "2,5,10,25,50,100", "numbers k, for the least number of records")
	cores := numbers("cores", "", "numbers of cores for kproxy's methods, of which those beyond the machine's are left out; all if empty")
	names := flags.String("methods", strings.Join(methods.Names(), ","), "methods, with an effort behind a colon where they make several")
	flags.StringVar(&o.adult, "adult", "", "measure the Adult census data of this `folder`, for each k, in place of the generated tables")
	flags.Var(&o.peers, "peer", "name=command of a program to measure beside; repeat it for several")
	flags.IntVar(&o.rounds, "rounds", 1, "rounds, of runs that take less than a second")
	flags.DurationVar(&o.patience, "patience", 10*time.Second, "leave out runs that would take longer, by the time of smaller ones")
	flags.StringVar(&o.json, "json", "", "file for the figures")
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	for _, list := range []struct {
		text string
		to   *[]int
		most int
	}{{*records, &o.records, 1 << 30}, {*attributes, &o.attributes, 2 * usualAttributes}, {*k, &o.k, 1 << 30}, {*cores, &o.cores, 1 << 10}} {
		if list.to == &o.cores && list.text == "" {
			o.cores = []int{0}
			continue
		}
		for field := range strings.SplitSeq(list.text, ",") {
			n, err := strconv.Atoi(field)
			if err != nil || n < 1 || n > list.most {
				return o, fmt.Errorf("%q is no number from 1 to %d", field, list.most)
			}
			*list.to = append(*list.to, n)
		}
		slices.Sort(*list.to)
		*list.to = slices.Compact(*list.to)
	}
	o.methods = strings.Split(*names, ",")
	for _, name := range o.methods {
		if _, err := methodOf(name); err != nil {
			return o, err
		}
	}
	return o, nil
}

// methodOf is the method of a name, which may have its effort behind it: NAME:good.
func methodOf(text string) (anonymizer.Method, error) {
	name, effort, told := strings.Cut(text, ":")
	if !told {
		return methods.Named(name)
	}
	makes, err := anonymizer.ParseEffort(effort)
	if err != nil {
		return nil, err
	}
	return methods.Trying(name, makes)
}

// leaveOut leaves numbers of cores out that the machine has not, and tells them: a figure of
// four cores that two have made would be wrong.
func (o *options) leaveOut(machine int, out io.Writer) error {
	o.cores = slices.DeleteFunc(o.cores, func(cores int) bool {
		if cores > machine {
			fmt.Fprintf(out, "left out are %d cores, of which the machine has %d\n", cores, machine)
		}
		return cores > machine
	})
	if len(o.cores) == 0 {
		return fmt.Errorf("the machine has %d cores", machine)
	}
	return nil
}

// contestant is a method, or a peer.
type contestant struct {
	method string
	cores  int // that it may use; 0 = those that there are
}

// sample is a run of one.
type sample struct {
	contestant
	source
	k int
}

// String says which.
func (s sample) String() string {
	name := s.method
	if s.cores > 0 {
		name += fmt.Sprintf(" on %d cores", s.cores)
	}
	if s.folder != "" {
		name += ", Adult"
	}
	return fmt.Sprintf("%s, %d records, %d attributes, k = %d", name, s.records, s.attributes, s.k)
}

// cases are all runs, each once, methods in turn: the records rising, so that what takes
// too long is known before what takes longer.
func (o options) cases() []sample {
	var contestants []contestant
	for _, name := range o.methods {
		for _, cores := range o.cores {
			contestants = append(contestants, contestant{name, cores})
		}
	}
	for _, name := range o.peers.names() {
		contestants = append(contestants, contestant{name, 0})
	}
	var all []sample
	add := func(of source, k int) {
		for _, each := range contestants {
			one := sample{each, of, k}
			if !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
	if o.adult != "" {
		for _, k := range o.k {
			add(source{adultRecords, usualAttributes, o.adult}, k)
		}
		return all
	}
	for _, k := range o.k {
		add(source{o.records[0], usualAttributes, ""}, k)
	}
	for _, attributes := range o.attributes {
		add(source{o.records[0], attributes, ""}, usualK)
	}
	for _, records := range o.records {
		add(source{records, usualAttributes, ""}, usualK)
	}
	return all
}
