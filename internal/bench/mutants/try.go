package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// verdict is what became of a mutant.
type verdict int

const (
	noticed verdict = iota
	survived
	unreached // by any test
)

// runner tries the mutants of a package.
type runner struct {
	pkg     *pkg
	options options
	folder  string // for what is compiled
	tell    func(mutant, verdict)
	tests   []test // the quickest first
	program string // the tests, with the mutants that have numbers in it
	numbers map[mutant]int
	reads   bool // one of the files in it reads which of them it is
}

// try runs the tests against each mutant, and tells the verdicts as they are found.
func (r *runner) try(ctx context.Context, mutants []mutant) (score, error) {
	s := score{name: strings.TrimPrefix(r.pkg.path, r.pkg.module+"/")}
	var err error
	if r.tests, err = r.measure(ctx); err != nil {
		return s, err
	}
	if r.program, err = r.together(ctx, mutants); err != nil {
		return s, err
	}
	type outcome struct {
		mutant
		verdict
		err error
	}
	queue, outcomes := make(chan mutant), make(chan outcome)
	var workers sync.WaitGroup
	for i := range r.options.workers {
		workers.Go(func() {
			for m := range queue {
				v, err := r.one(ctx, filepath.Join(r.folder, fmt.Sprint(i)), m)
				outcomes <- outcome{m, v, err}
			}
		})
	}
	go func() {
		for _, m := range mutants {
			queue <- m
		}
		close(queue)
		workers.Wait()
		close(outcomes)
	}()
	for o := range outcomes {
		err = errors.Join(err, o.err)
		s.count[o.verdict]++
		r.tell(o.mutant, o.verdict)
	}
	return s, errors.Join(err, ctx.Err())
}

// one compiles a mutant and runs the tests that execute it, the quick ones before the others.
func (r *runner) one(ctx context.Context, name string, m mutant) (verdict, error) {
	if ctx.Err() != nil {
		return noticed, nil
	}
	groups := r.groups(m)
	if len(groups) == 0 {
		return unreached, nil
	}
	program, err := r.compile(ctx, name, m)
	if err != nil {
		return 0, err
	}
	for _, g := range groups {
		limit := time.Duration(r.options.patient*float64(g.Took)) + 30*time.Second
		if _, err := r.execute(ctx, program, r.numbers[m], "-test.failfast", "-test.timeout", limit.String(), "-test.run", "^("+g.Pattern+")$"); err != nil {
			return noticed, nil
		}
	}
	return survived, nil
}

// compile is the program that has the mutant in it; name is that of one with this mutant alone.
func (r *runner) compile(ctx context.Context, name string, m mutant) (string, error) {
	if r.numbers[m] > 0 {
		return r.program, nil
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {m.file.full: name + ".go"}})
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.WriteFile(name+".go", m.source(), 0o600), os.WriteFile(name+".json", overlay, 0o600)); err != nil {
		return "", err
	}
	if _, err := command(ctx, r.pkg.folder, "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", name+".json", "-o", name+".test", "."); err != nil {
		return "", err
	}
	return name + ".test", nil
}

// groups are the tests that execute a mutant, in runs of which each takes longer than
// the one before: most mutants are noticed by the first.
func (r *runner) groups(m mutant) (groups []test) {
	limit := 2 * time.Second
	var total time.Duration
	for _, t := range r.tests {
		if !t.executes(m) {
			continue
		}
		total += t.Took
		if r.options.most > 0 && total > r.options.most && len(groups) > 0 {
			break
		}
		last := len(groups) - 1
		if last >= 0 && groups[last].Took+t.Took <= limit {
			groups[last].Pattern += "|" + t.Pattern
			groups[last].Took += t.Took
			continue
		}
		if last >= 0 {
			limit *= 8
		}
		groups = append(groups, test{Pattern: t.Pattern, Took: t.Took})
	}
	return groups
}

// mostMemory bounds what a mutant may ask for, in kilobytes: some never stop asking.
const mostMemory = 8 << 20

// execute runs a program of tests in the package's folder, as the mutant with a number or,
// for 0, unchanged, and returns what it printed.
func (r *runner) execute(ctx context.Context, program string, mutant int, args ...string) (string, error) {
	limited := fmt.Sprintf(`ulimit -v %d 2>/dev/null; exec "$0" "$@"`, mostMemory)
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", limited, program}, args...)...)
	cmd.Dir = r.pkg.folder
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", variable, mutant))
	output, err := cmd.CombinedOutput()
	return string(output), err
}
