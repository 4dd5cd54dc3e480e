// Command matrix runs tests on each major version of PostgreSQL that is pinned,
// fetching the server binaries that the machine does not have, and prints which
// versions fail. It goes on after a failure and ends with exit code 1 if there
// was any.
//
//	matrix [-versions "13 18"] PACKAGE...
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
	"time"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// oneVersion bounds the tests of a package on one version, as go test's
// -timeout.
const oneVersion = "15m"

func main() {
	versions := flag.String("versions", "", "major versions, separated by spaces (default: all that are pinned)")
	flag.Parse()
	if err := run(*versions, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(versions string, packages []string) error {
	if len(packages) == 0 {
		return errors.New("matrix: no packages to test")
	}
	majors, err := parseMajors(versions)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	m := matrix{find: findOrInstall, test: goTest(packages), clock: time.Now, out: os.Stdout}
	if !m.run(ctx, majors) {
		return errors.New("matrix: not all versions passed")
	}
	return nil
}

// parseMajors reads the versions asked for; none means all.
func parseMajors(text string) ([]int, error) {
	pinned := pgserver.Pinned()
	var majors []int
	for _, field := range strings.Fields(text) {
		major, err := strconv.Atoi(field)
		if err != nil || !slices.Contains(pinned, major) {
			return nil, fmt.Errorf("matrix: %q is none of the versions %v", field, pinned)
		}
		majors = append(majors, major)
	}
	if majors == nil {
		majors = pinned
	}
	return majors, nil
}

// matrix runs the same tests on one version after the other.
type matrix struct {
	find  func(ctx context.Context, major int) (pgserver.Binaries, error)
	test  func(ctx context.Context, b pgserver.Binaries, out io.Writer) error
	clock func() time.Time
	out   io.Writer
}

// outcome is a line of the table at the end.
type outcome struct {
	version, result string
	took            time.Duration
	failed          []string
}

// run reports whether all versions passed.
func (m matrix) run(ctx context.Context, majors []int) bool {
	passed := true
	var outcomes []outcome
	for _, major := range majors {
		if ctx.Err() != nil {
			passed = false
			break
		}
		o := m.one(ctx, major)
		passed = passed && o.result == "ok"
		outcomes = append(outcomes, o)
	}
	fmt.Fprintf(m.out, "\n%-12s%-8s%-10s%s\n", "PostgreSQL", "result", "time", "failed")
	for _, o := range outcomes {
		fmt.Fprintf(m.out, "%-12s%-8s%-10s%s\n", o.version, o.result, o.took.Round(time.Second), strings.Join(o.failed, " "))
	}
	return passed
}

// one runs the tests on one version.
func (m matrix) one(ctx context.Context, major int) outcome {
	began := m.clock()
	o := outcome{version: strconv.Itoa(major), result: "FAIL"}
	b, err := m.find(ctx, major)
	if err != nil {
		fmt.Fprintf(m.out, "\n==== PostgreSQL %d ====\n%v\n", major, err)
		o.failed = []string{"(no server binaries)"}
		return o
	}
	o.version = b.Version.String()
	fmt.Fprintf(m.out, "\n==== PostgreSQL %s in %s ====\n", b.Version, b.Dir)
	failures := &failures{next: m.out}
	if err := m.test(ctx, b, failures); err != nil {
		fmt.Fprintf(m.out, "%v\n", err)
		o.failed = failures.packages
	} else {
		o.result = "ok"
	}
	o.took = m.clock().Sub(began)
	return o
}
