package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// findOrInstall looks for the binaries of a major version as the tests will.
func findOrInstall(ctx context.Context, major int) (pgserver.Binaries, error) {
	err := errors.Join(
		os.Setenv(pgserver.MajorVariable, strconv.Itoa(major)),
		os.Unsetenv(pgserver.BinDirVariable)) // it can be right for one version only
	if err != nil {
		return pgserver.Binaries{}, err
	}
	b, err := pgserver.Find(ctx, "")
	if errors.Is(err, pgserver.ErrNotFound) {
		b, err = pgserver.Install(ctx, os.Stderr)
	}
	return b, err
}

// goTest runs go test on packages, with the Go command that GO names. The
// environment is what findOrInstall left.
func goTest(packages []string) func(context.Context, pgserver.Binaries, io.Writer) error {
	program := os.Getenv("GO")
	if program == "" {
		program = "go"
	}
	args := append([]string{"test", "-timeout", oneVersion}, packages...)
	return func(ctx context.Context, b pgserver.Binaries, out io.Writer) error {
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Stdout, cmd.Stderr = out, out
		// On Ctrl-C the terminal interrupts go test as well, which then stops
		// in order.
		cmd.Cancel = func() error { return nil }
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("testing on PostgreSQL %s: %w", b.Version, err)
		}
		return nil
	}
}

// failures passes the output of go test on and remembers the packages in it
// that failed, which stand in lines such as
//
//	FAIL	github.com/kproxy/kproxy/sync	12.345s
//	FAIL	github.com/kproxy/kproxy/sync [build failed]
type failures struct {
	next     io.Writer
	line     []byte // the last one, as far as it has come
	packages []string
}

// Write implements io.Writer.
func (f *failures) Write(p []byte) (int, error) {
	f.line = append(f.line, p...)
	for {
		end := bytes.IndexByte(f.line, '\n')
		if end < 0 {
			return f.next.Write(p)
		}
		failed, is := strings.CutPrefix(string(f.line[:end]), "FAIL\t")
		f.line = f.line[end+1:]
		if is {
			f.packages = append(f.packages, path.Base(strings.Fields(failed + " ?")[0]))
		}
	}
}
