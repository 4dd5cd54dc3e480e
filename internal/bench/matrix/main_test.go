package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// fakes is a matrix in which version 14 has no binaries and 15 fails.
func fakes(out io.Writer) matrix {
	clock := time.Unix(0, 0)
	return matrix{
		find: func(_ context.Context, major int) (pgserver.Binaries, error) {
			if major == 14 {
				return pgserver.Binaries{}, errors.New("npm fetches them")
			}
			return pgserver.Binaries{Dir: fmt.Sprintf("/pg/%d", major), Version: pgserver.Version{Major: major, Minor: 3}}, nil
		},
		test: func(_ context.Context, b pgserver.Binaries, out io.Writer) error {
			if b.Version.Major != 15 {
				_, _ = io.WriteString(out, "ok  \texample.org/sync\t1.0s\n")
				return nil
			}
			// A line may come in pieces.
			_, _ = io.WriteString(out, "--- FAIL: TestX (0.1s)\nFAIL\nFAIL\texample.org/sy")
			_, _ = io.WriteString(out, "nc\t2.0s\nok  \texample.org/verify\t1s\nFAIL\texample.org/broken [build failed]\nFAIL\texample.org/catalog/inspect\t1s\nFAIL\n")
			return errors.New("exit status 1")
		},
		clock: func() time.Time { clock = clock.Add(time.Minute); return clock },
		out:   out,
	}
}

func TestMatrixGoesOnAfterAFailure(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if fakes(&out).run(t.Context(), []int{13, 14, 15, 16}) {
		t.Error("the matrix passed")
	}
	_, table, _ := strings.Cut(out.String(), "\nPostgreSQL  ")
	want := strings.Join([]string{
		"result  time      failed",
		"13.3        ok      1m0s      ",
		"14          FAIL    0s        (no server binaries)",
		"15.3        FAIL    1m0s      sync broken inspect",
		"16.3        ok      1m0s      ",
		"",
	}, "\n")
	if table != want {
		t.Errorf("the table is\n%s\nwant\n%s", table, want)
	}
	for _, part := range []string{"==== PostgreSQL 13.3 in /pg/13 ====", "npm fetches them", "--- FAIL: TestX", "ok  \texample.org/verify"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("the output lacks %q", part)
		}
	}
}

func TestMatrixPasses(t *testing.T) {
	t.Parallel()
	if !fakes(io.Discard).run(t.Context(), []int{13, 16}) {
		t.Error("the matrix failed")
	}
}

func TestInterruptedMatrixFails(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if fakes(io.Discard).run(ctx, []int{13}) {
		t.Error("the matrix passed")
	}
}

func TestParseMajors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]int{"": {13, 14, 15, 16, 17, 18}, "18  13": {18, 13}} {
		if got, err := parseMajors(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q is %v (%v), want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"12", "x", "13,14"} {
		if got, err := parseMajors(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
