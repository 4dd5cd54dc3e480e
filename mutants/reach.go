package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// test is what tests of a package do while nothing is changed.
type test struct {
	pattern string // of its name
	took    time.Duration
	reaches map[string][]block // by file
}

// block is a stretch of a file that was executed.
type block struct{ fromLine, fromColumn, toLine, toColumn int }

// measure runs the package's tests and notes how long each takes and what it reaches.
// The Go command compiles them into program.
func (r *runner) measure(ctx context.Context) ([]test, error) {
	program := filepath.Join(r.folder, "unchanged.test")
	if _, err := command(ctx, r.pkg.folder, "test", "-c", "-vet=off", "-cover", "-o", program, "."); err != nil {
		return nil, err
	}
	output, err := r.execute(ctx, program, 0, "-test.list", "^(Test|Fuzz|Example)")
	if err != nil {
		return nil, fmt.Errorf("listing the tests: %w\n%s", err, output)
	}
	var names []string
	for name := range strings.Lines(output) {
		if name = strings.TrimSpace(name); r.options.tests.MatchString(name) && !r.options.skip.MatchString(name) {
			names = append(names, regexp.QuoteMeta(name))
		}
	}
	if !r.options.each {
		names = []string{"(" + strings.Join(names, "|") + ")"}
	}
	var tests []test
	for _, name := range names {
		t := test{pattern: name}
		profile := filepath.Join(r.folder, "profile")
		began := time.Now()
		if output, err := r.execute(ctx, program, 0, "-test.run", "^"+name+"$", "-test.coverprofile", profile); err != nil {
			return nil, fmt.Errorf("%s fails without a mutant: %w\n%s", name, err, output)
		}
		t.took = time.Since(began)
		if t.reaches, err = r.readProfile(profile); err != nil {
			return nil, err
		}
		tests = append(tests, t)
	}
	slices.SortStableFunc(tests, func(a, b test) int { return cmp.Compare(a.took, b.took) })
	return tests, nil
}

// readProfile reads the blocks that were executed, by the names of their files in the module.
func (r *runner) readProfile(name string) (map[string][]block, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	reached := map[string][]block{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		path, rest, _ := strings.Cut(lines.Text(), ".go:")
		var b block
		var statements, count int
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &b.fromLine, &b.fromColumn, &b.toLine, &b.toColumn, &statements, &count); err != nil {
			continue // the mode
		}
		if count > 0 {
			within := strings.TrimPrefix(path, r.pkg.module+"/") + ".go"
			reached[within] = append(reached[within], b)
		}
	}
	return reached, lines.Err()
}

// executes reports whether the test executes a mutant. What a block's first statement
// begins with, as a condition does, may stand just before or after the block.
func (t test) executes(m mutant) bool {
	end := m.line + strings.Count(string(m.file.source[m.start:m.end]), "\n")
	return slices.ContainsFunc(t.reaches[m.file.name], func(b block) bool {
		return b.fromLine <= end && m.line <= b.toLine
	})
}
