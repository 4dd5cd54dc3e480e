package main

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// TestMemoryIsLimitedToWhatIsAllowed asks Go what it keeps to.
func TestMemoryIsLimitedToWhatIsAllowed(t *testing.T) {
	const before = 1 << 50
	failing := func(err error) memlimit.Provider { return func() (uint64, error) { return 0, err } }
	for name, c := range map[string]struct {
		env     string
		allowed memlimit.Provider
		want    int64
		says    string
	}{
		"limited":              {"", memlimit.Limit(2 << 30), 2 << 30 / 10 * 9, "allowed_bytes=2147483648 limit_bytes=1932735276"},
		"not limited":          {"", failing(memlimit.ErrNoLimit), before, ""},
		"limited by nothing":   {"", memlimit.Limit(math.MaxUint64), before, ""},
		"not known":            {"", failing(errors.New("no such file")), before, ""},
		"the operator's":       {"300MiB", memlimit.Limit(2 << 30), before, ""},
		"none, the operator's": {"off", memlimit.Limit(2 << 30), before, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(memoryEnv, c.env)
			was := debug.SetMemoryLimit(before)
			t.Cleanup(func() { debug.SetMemoryLimit(was) })
			var log bytes.Buffer
			limitMemory(slog.New(slog.NewTextHandler(&log, nil)), c.allowed)
			if got := debug.SetMemoryLimit(-1); got != c.want {
				t.Errorf("the limit is %d, want %d", got, c.want)
			}
			if text := log.String(); c.says == "" && text != "" || !strings.Contains(text, c.says) || strings.Count(text, "\n") > 1 {
				t.Errorf("the log says %q", text)
			}
		})
	}
}
