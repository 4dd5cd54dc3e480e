package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/kproxy/kproxy/bench/host"
	"github.com/kproxy/kproxy/bench/result"
	"github.com/kproxy/kproxy/pgserver"
)

// size says how much is measured.
type size string

// The sizes. Tiny is for the tests: whether the commands work.
const (
	tiny  size = "tiny"
	small size = "small"
	full  size = "full"
)

// of picks by size.
func of[T any](s size, forTiny, forSmall, forFull T) T {
	switch s {
	case tiny:
		return forTiny
	case full:
		return forFull
	}
	return forSmall
}

// section is a set of figures that are measured together.
type section struct {
	name, title string
	// text stands below the heading of the page.
	text string
	// rounds by size, where the command line gives none.
	rounds map[size]int
	steps  func(p plan) []step
	// way and others are compared by ratios.
	way    string
	others []string
	views  []view
	charts []picture
}

// plan is what steps are made for.
type plan struct {
	size   size
	rounds int
	tools  tools
	// pictures is the folder for pictures that commands draw themselves.
	pictures string
}

// step is a command, and how its figures are read.
type step struct {
	words []string
	// read is given what the command printed, and the file or folder that stood for FILE
	// among its words.
	read func(printed []byte, file string) ([]result.Figure, error)
	// needs is a program without which the step is left out; missing says what is then not
	// compared, and what to install.
	needs, missing string
}

// outputFile stands among a command's words for a file that it writes.
const outputFile = "FILE"

// line is what one can type.
func (s step) line() string {
	words := make([]string, len(s.words))
	for i, word := range s.words {
		if strings.ContainsAny(word, " $^|()*?'") {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		words[i] = word
	}
	return strings.Join(words, " ")
}

func (o options) file(name string) string { return filepath.Join(o.out, name+".json") }

// errNothingGiven is of a section that measures only what the command line gives.
var errNothingGiven = errors.New("nothing to measure was given, the figures of last time stay")

// section runs all steps of one.
func (o options) section(ctx context.Context, s section) (*result.Section, error) {
	rounds := o.rounds
	if rounds == 0 {
		rounds = s.rounds[o.size]
	}
	steps := s.steps(plan{size: o.size, rounds: rounds, tools: o.tools, pictures: o.out})
	if len(steps) == 0 {
		return nil, errNothingGiven
	}
	measured := &result.Section{
		Name: s.name, Size: string(o.size), Date: time.Now().UTC().Truncate(time.Second), Commit: commit(ctx),
		Machine: host.Machine(), Versions: versions(ctx),
	}
	for i, one := range steps {
		if _, err := exec.LookPath(one.needs); one.needs != "" && err != nil {
			measured.Missing = append(measured.Missing, one.missing)
			continue
		}
		fmt.Fprintf(os.Stderr, "%s %s, %d of %d: %s\n", time.Now().UTC().Format(time.TimeOnly), s.name, i+1, len(steps), one.line())
		command, figures, err := one.run(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one.line(), err)
		}
		fmt.Fprintf(os.Stderr, "         %.0f s, %d figures, others took %.0f %% of the machine\n", command.Seconds, len(figures), 100*command.Others)
		measured.Commands = append(measured.Commands, command)
		takeVersions(measured.Versions, figures)
		measured.Figures = append(measured.Figures, figures...)
	}
	result.CompareWith(measured.Figures, s.way, s.others...)
	return measured, nil
}

// takeVersions moves what a command says of the versions of those it has measured, which
// is no parameter that figures differ by, to the other versions.
func takeVersions(to map[string]string, from []result.Figure) {
	for _, f := range from {
		if version, told := f.Parameters["version"]; told {
			to[f.Way] = version
			delete(f.Parameters, "version")
		}
	}
}

// run runs the command and reads its figures.
func (s step) run(ctx context.Context) (result.Command, []result.Figure, error) {
	command := result.Command{Line: s.line()}
	dir, err := os.MkdirTemp("", "kproxy-bench-")
	if err != nil {
		return command, nil, err
	}
	defer os.RemoveAll(dir)
	words := make([]string, len(s.words))
	file := filepath.Join(dir, "figures")
	for i, word := range s.words {
		words[i] = strings.ReplaceAll(word, outputFile, file)
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	// All of an interrupted command's processes are told, as by a terminal: go waits for
	// the program that it has started, and that one ends its servers.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = time.Minute
	var printed, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &complaints
	others, took, err := host.Others(cmd.Run)
	command.Seconds, command.Others = round(took.Seconds()), round(others)
	if err != nil {
		return command, nil, fmt.Errorf("%w:\n%s%s", err, last(printed.Bytes()), last(complaints.Bytes()))
	}
	if s.read == nil {
		return command, nil, nil
	}
	figures, err := s.read(printed.Bytes(), file)
	if err == nil && len(figures) == 0 {
		err = fmt.Errorf("it measured nothing:\n%s%s", last(printed.Bytes()), last(complaints.Bytes()))
	}
	return command, figures, err
}

// round leaves hundredths.
func round(x float64) float64 { return float64(int(x*100+0.5)) / 100 }

// last is the end of what a program printed.
func last(text []byte) []byte {
	const enough = 4000
	return text[max(0, len(text)-enough):]
}

// commit is that of the sources, shortened, with "+" where Go's files differ from it.
func commit(ctx context.Context) string {
	name, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	text := strings.TrimSpace(string(name))
	changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--", "*.go", "*.sql", "go.mod").Output()
	if err != nil || len(changed) > 0 {
		text += "+"
	}
	return text
}

// versions are those of what takes part, of the programs that are there.
func versions(ctx context.Context) map[string]string {
	all := map[string]string{"Go": strings.TrimPrefix(runtime.Version(), "go")}
	if binaries, err := pgserver.Find(ctx, ""); err == nil {
		all["PostgreSQL"] = binaries.Version.String()
	}
	for name, program := range map[string]string{"PgBouncer": "pgbouncer", "Pgpool-II": "pgpool", "pgbench": "pgbench"} {
		output, err := exec.CommandContext(ctx, program, "--version").CombinedOutput()
		if err != nil {
			continue
		}
		first, _, _ := strings.Cut(string(output), "\n")
		for word := range strings.FieldsSeq(first) {
			if word[0] >= '0' && word[0] <= '9' {
				all[name] = word
				break
			}
		}
	}
	return all
}
