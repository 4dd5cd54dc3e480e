package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/kproxy/kproxy/internal/bench/host"
	"github.com/kproxy/kproxy/internal/bench/result"
	"github.com/kproxy/kproxy/internal/pgserver"
)

// patienceAtEnd is how long a command may take to end when it is interrupted: that of ten
// million patients removes its server's files.
const patienceAtEnd = 5 * time.Minute

// run runs a step's command and reads its figures. An error of a step that tells stands
// beside its figures. What a command that failed has written goes into the folder kept.
func (o options) run(ctx context.Context, s step) (result.Command, []result.Figure, error) {
	command := result.Command{Line: o.line(s)}
	dir, err := os.MkdirTemp("", "kproxy-bench-")
	if err != nil {
		return command, nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "figures")
	words := make([]string, len(s.words))
	for i, word := range s.words {
		words[i] = strings.ReplaceAll(word, outputFile, file)
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	// All of an interrupted command's processes are told, as by a terminal: go waits for
	// the program that it has started, and that one ends its servers.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = patienceAtEnd
	var printed, complaints bytes.Buffer
	// What commands tell on the way is told on, and kept to explain a failure.
	cmd.Stdout, cmd.Stderr = &printed, io.MultiWriter(&complaints, unheard{o.progress})
	others, took, failure := host.Others(cmd.Run)
	command.Seconds, command.Others = round(took.Seconds()), round(others)
	if failure != nil {
		failure = fmt.Errorf("%w:\n%s%s%s", failure, last(printed.Bytes()), last(complaints.Bytes()), o.keep(dir))
		if !s.tells || ctx.Err() != nil {
			return command, nil, failure
		}
	}
	figures, err := s.read(printed.Bytes(), file)
	if err == nil && len(figures) == 0 {
		err = errors.New("it measured nothing")
	}
	if err == nil && s.draws != "" {
		err = copyFile(file+".svg", filepath.Join(o.out, s.draws))
	}
	if err != nil {
		return command, nil, errors.Join(failure, fmt.Errorf("%w:\n%s%s%s", err, last(printed.Bytes()), last(complaints.Bytes()), o.keep(dir)))
	}
	return command, figures, failure
}

// unheard is a writer that may have gone, such as a terminal: what a command tells is taken
// from it all the same, as it would end by what nobody takes.
type unheard struct{ io.Writer }

func (u unheard) Write(text []byte) (int, error) {
	_, _ = u.Writer.Write(text)
	return len(text), nil
}

// line is the step's, with what of the environment matters.
func (o options) line(s step) string {
	if o.tools.memoryLimit != "" {
		return "GOMEMLIMIT=" + o.tools.memoryLimit + " " + s.line()
	}
	return s.line()
}

// keep moves the files of a command that failed to where they can be looked at, and says
// where; nothing where there are none.
func (o options) keep(dir string) string {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 || os.MkdirAll(o.unfinished, 0o755) != nil {
		return ""
	}
	var text strings.Builder
	for _, file := range files {
		to := filepath.Join(o.unfinished, "failed-"+filepath.Base(file))
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && copyFile(file, to) == nil {
			fmt.Fprintf(&text, "what it had measured is in %s\n", to)
		}
	}
	return text.String()
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o644)
	}
	return err
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
