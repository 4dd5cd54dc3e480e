package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/internal/bench/host"
	"github.com/kproxy/kproxy/internal/bench/result"
)

// An interrupt reaches what a command has started, and is no figure.
func TestInterruptedCommandsEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	s := step{words: []string{"sh", "-c", "sh -c 'sleep 50'; true"}, read: readFigures}
	if _, _, err := tinyOptions(t, t.TempDir()).run(ctx, s); err == nil {
		t.Error("an interrupted command was taken for one that ended")
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it ended after %v", took)
	}
}

// unwritable has gone, like a terminal.
type unwritable struct{}

func (unwritable) Write([]byte) (int, error) { return 0, errors.New("it has gone") }

// A command does not end by what it tells, when nobody is there any more.
func TestCommandsOutliveWhoListens(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := tinyOptions(t, dir)
	o.progress = unwritable{}
	s := stepOf(filepath.Join(dir, "counter"), "for i in 1 2 3; do echo told >&2; sleep 0.1; done")
	if _, figures, err := o.run(t.Context(), s); err != nil || len(figures) != 1 {
		t.Errorf("%v, %v", figures, err)
	}
}

// stepOf is a step that counts in a file how often it is run, and measures one figure.
func stepOf(counter, script string) step {
	return step{
		words: []string{"sh", "-c", "echo >>" + counter + "; " + script},
		read: func([]byte, string) ([]result.Figure, error) {
			return []result.Figure{result.New("rate", "kproxy", nil, "1/s", 1)}, nil
		},
	}
}

func runsOf(t *testing.T, counter string) int {
	t.Helper()
	text, err := os.ReadFile(counter)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return len(text)
}

// What was measured before an interruption or a failure is not measured again.
func TestRunsGoOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	script := "exit 1"
	s := section{name: "some", steps: func(plan) []step { return []step{stepOf(first, "true"), stepOf(second, script)} }}
	o := tinyOptions(t, filepath.Join(dir, "out"))
	if err := os.MkdirAll(o.unfinished, 0o755); err != nil {
		t.Fatal(err)
	}
	const commit = "abc"
	p := &pace{out: o.progress}
	if measured, err := o.section(t.Context(), s, commit, p); measured != nil || err == nil {
		t.Fatalf("a section of which a step failed is %+v, %v", measured, err)
	}
	o.goOn, script = true, "true"
	measured, err := o.section(t.Context(), s, commit, p)
	if err != nil || len(measured.Figures) != 2 || len(measured.Commands) != 2 {
		t.Fatalf("%+v, %v", measured, err)
	}
	if runsOf(t, first) != 1 || runsOf(t, second) != 2 {
		t.Errorf("the steps have run %d and %d times, want 1 and 2", runsOf(t, first), runsOf(t, second))
	}
	for _, other := range []string{"def", "abc+", "unknown"} {
		before := runsOf(t, first)
		if _, err := o.section(t.Context(), s, other, p); err != nil {
			t.Fatal(err)
		}
		if runsOf(t, first) == before {
			t.Errorf("what was measured of %s was taken over for %s", commit, other)
		}
	}
	if err := o.finish(s); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(o.unfinished, "*")); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}

// A section in which something was wrong is not taken for measured, nor one of other commands.
func TestWhatFailedIsMeasuredAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second, wrong := filepath.Join(dir, "first"), filepath.Join(dir, "second"), filepath.Join(dir, "wrong")
	s := section{name: "some", steps: func(plan) []step {
		telling := stepOf(second, "test ! -e "+wrong)
		telling.tells = true
		return []step{stepOf(first, "true"), telling}
	}}
	o := tinyOptions(t, filepath.Join(dir, "out"))
	o.goOn = true
	if err := errors.Join(os.MkdirAll(o.unfinished, 0o755), os.WriteFile(wrong, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	const commit = "abc"
	measure := func() error {
		measured, err := o.section(t.Context(), s, commit, &pace{out: o.progress})
		if measured == nil {
			t.Fatal(err)
		}
		return o.conclude(s, measured, err)
	}
	if err := measure(); err == nil || o.isMeasured(s, commit) {
		t.Errorf("what was wrong is taken for measured: %v", err)
	}
	if err := os.Remove(wrong); err != nil {
		t.Fatal(err)
	}
	if err := measure(); err != nil || !o.isMeasured(s, commit) {
		t.Errorf("what is right is not: %v", err)
	}
	if runsOf(t, first) != 1 || runsOf(t, second) != 2 {
		t.Errorf("the steps have run %d and %d times, want 1 and 2", runsOf(t, first), runsOf(t, second))
	}
	o.tools.memoryLimit = "1GiB"
	if o.isMeasured(s, commit) {
		t.Error("what was measured otherwise is taken for this")
	}
}

// Who goes on without room is not stopped by a step that looks for it too.
func TestCrampedIsHandedOn(t *testing.T) {
	t.Parallel()
	for _, cramped := range []bool{false, true} {
		o := options{size: full, cramped: cramped}
		if handed := slices.Contains(o.stepsOf(wholeSystem)[0].words, "-cramped"); handed != cramped {
			t.Errorf("-cramped is handed on: %v, want %v", handed, cramped)
		}
		if again := o.again(sections); strings.Contains(again, "-cramped") != cramped {
			t.Errorf("to go on: %s", again)
		}
	}
}

// What a command has written before it failed is kept, or taken where it tells what was
// wrong; a picture goes to the others.
func TestFilesOfFailuresAreKept(t *testing.T) {
	t.Parallel()
	o := tinyOptions(t, t.TempDir())
	s := stepOf(filepath.Join(t.TempDir(), "counter"), "echo measured >$0; echo drawn >$0.svg; exit 1")
	s.words, s.draws = append(s.words, outputFile), "some.svg"
	if _, figures, err := o.run(t.Context(), s); err == nil || figures != nil {
		t.Errorf("%v, %v", figures, err)
	}
	if text, err := os.ReadFile(filepath.Join(o.unfinished, "failed-figures")); err != nil || string(text) != "measured\n" {
		t.Errorf("kept is %q, %v", text, err)
	}
	s.tells = true
	if _, figures, err := o.run(t.Context(), s); err == nil || len(figures) != 1 {
		t.Errorf("%v, %v", figures, err)
	}
	if text, err := os.ReadFile(filepath.Join(o.out, s.draws)); err != nil || string(text) != "drawn\n" {
		t.Errorf("drawn is %q, %v", text, err)
	}
}

// A machine without room is told at the beginning.
func TestRoomIsLookedForFirst(t *testing.T) {
	t.Parallel()
	o := tinyOptions(t, t.TempDir())
	vast := section{name: "vast", steps: func(plan) []step { return []step{step{}.taking(time.Hour, host.Room{Disk: 1e18})} }}
	if err := o.prepare([]section{vast}); err == nil || !strings.Contains(err.Error(), "vast takes") {
		t.Errorf("%v", err)
	}
	o.cramped = true
	if err := o.prepare([]section{vast}); err != nil {
		t.Errorf("-cramped: %v", err)
	}
	o.tools.kproxy = "/no/such/kproxy"
	if err := o.prepare(nil); err == nil {
		t.Error("no kproxy was missed")
	}
}

// What is left is reckoned by what was slower than reckoned.
func TestPaceLearns(t *testing.T) {
	t.Parallel()
	p := &pace{out: t.Output()}
	ten := step{about: 10 * time.Minute}
	p.add(ten, ten, ten)
	if got := p.togo(); got != 30*time.Minute {
		t.Errorf("at first %v", got)
	}
	p.begin("some", ten, "command")
	p.end(ten, result.Command{Seconds: 1200}, 1)
	if got := p.togo(); got != 40*time.Minute {
		t.Errorf("after a slow one %v", got)
	}
	p.skip(ten)
	if got := p.togo(); got != 20*time.Minute || p.done != 2 {
		t.Errorf("after another %v, %d done", got, p.done)
	}
}

// Where a peer is not there now, the figures that were measured beside it stay; without
// such, what there is is measured.
func TestFiguresBesidePeersStay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := tinyOptions(t, filepath.Join(dir, "out"))
	counter := filepath.Join(dir, "counter")
	s := section{name: "some", steps: func(plan) []step {
		beside := stepOf(counter, "true")
		beside.needs, beside.missing = "no-such-program", "it: install it"
		return []step{beside, stepOf(counter, "true")}
	}}
	measure := func() *result.Section {
		t.Helper()
		if err := o.measureAll(t.Context(), []section{s}); err != nil {
			t.Fatal(err)
		}
		there, err := result.Read(o.file(s.name))
		if err != nil {
			t.Fatal(err)
		}
		return there
	}
	first := measure()
	if len(first.Figures) != 1 || len(first.Missing) != 1 || runsOf(t, counter) != 1 {
		t.Fatalf("without earlier figures: %+v", first)
	}
	if measure(); runsOf(t, counter) != 2 {
		t.Error("figures without the peer stay")
	}
	first.Missing = nil
	if err := first.Write(o.file(s.name)); err != nil {
		t.Fatal(err)
	}
	if again := measure(); runsOf(t, counter) != 2 || len(again.Missing) > 0 {
		t.Errorf("figures beside the peer are lost: %+v", again)
	}
}
