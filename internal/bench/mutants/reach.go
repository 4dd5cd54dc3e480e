package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// test is what tests of a package do while nothing is changed.
type test struct {
	Pattern string // of its name
	Took    time.Duration
	Reaches map[string][]block // by file
}

// block is a stretch of a file that was executed.
type block struct{ FromLine, FromColumn, ToLine, ToColumn int }

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
		// Programs that note what they reach warn where nobody asks them to.
		if name = strings.TrimSpace(name); !strings.Contains(name, " ") && r.options.tests.MatchString(name) && !r.options.skip.MatchString(name) {
			names = append(names, regexp.QuoteMeta(name))
		}
	}
	if !r.options.each {
		names = []string{"(" + strings.Join(names, "|") + ")"}
	}
	known, err := r.recall()
	if err != nil {
		return nil, err
	}
	var tests []test
	for _, name := range names {
		t, is := known.Tests[name]
		if !is {
			if t, err = r.measureOne(ctx, program, name); err != nil {
				return nil, err
			}
			known.Tests[name] = t
			if err := r.keep(known); err != nil {
				return nil, err
			}
		}
		tests = append(tests, t)
	}
	slices.SortStableFunc(tests, func(a, b test) int { return cmp.Compare(a.Took, b.Took) })
	return tests, nil
}

// measureOne runs the tests of a pattern.
func (r *runner) measureOne(ctx context.Context, program, pattern string) (test, error) {
	profile := filepath.Join(r.folder, "profile")
	began := time.Now()
	if output, err := r.execute(ctx, program, 0, "-test.run", "^"+pattern+"$", "-test.coverprofile", profile); err != nil {
		return test{}, fmt.Errorf("%s fails without a mutant: %w\n%s", pattern, err, output)
	}
	t := test{Pattern: pattern, Took: time.Since(began)}
	var err error
	t.Reaches, err = r.readProfile(profile)
	return t, err
}

// reach is what is known of the tests of a package.
type reach struct {
	Source string          // a digest of what they reach into
	Tests  map[string]test // by their patterns
}

// recall reads what an earlier run found, where the package is still the same.
func (r *runner) recall() (reach, error) {
	hash := sha256.New()
	for _, f := range r.pkg.files {
		_, _ = fmt.Fprintf(hash, "%s %d %s", f.name, len(f.source), f.source)
	}
	fresh := reach{Source: hex.EncodeToString(hash.Sum(nil)), Tests: map[string]test{}}
	if r.options.reach == "" {
		return fresh, nil
	}
	text, err := os.ReadFile(r.options.reach)
	if errors.Is(err, fs.ErrNotExist) {
		return fresh, nil
	} else if err != nil {
		return fresh, err
	}
	var known reach
	if err := json.Unmarshal(text, &known); err != nil {
		return fresh, fmt.Errorf("%s: %w", r.options.reach, err)
	}
	if known.Source != fresh.Source {
		return fresh, nil
	}
	return known, nil
}

// keep writes what is known for later runs.
func (r *runner) keep(known reach) error {
	if r.options.reach == "" {
		return nil
	}
	text, err := json.Marshal(known)
	if err != nil {
		return err
	}
	return os.WriteFile(r.options.reach, text, 0o600)
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
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &b.FromLine, &b.FromColumn, &b.ToLine, &b.ToColumn, &statements, &count); err != nil {
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
	if m.function == "init" {
		return true // before any test, which no profile says
	}
	end := m.line + strings.Count(string(m.file.source[m.start:m.end]), "\n")
	return slices.ContainsFunc(t.Reaches[m.file.name], func(b block) bool {
		return b.FromLine <= end && m.line <= b.ToLine
	})
}
