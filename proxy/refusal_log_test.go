package proxy

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// TestRepeatedRefusalsAreCounted has a guesser and an outage: the first refusal is logged at
// once, the others as a number.
func TestRepeatedRefusalsAreCounted(t *testing.T) {
	t.Parallel()
	const logins = 200
	for _, test := range []struct{ what, password, level, reason, state string }{
		{"a guesser", "wrong", "INFO", "wrong password", stateInvalidPassword},
		{"an outage", testPassword, "ERROR", "connect: connection refused", stateConnectionFailure},
	} {
		c := nowhere(t)
		c.Access.Throttle.Off = true
		log := &logBuffer{}
		c.Logger = slog.New(slog.NewTextHandler(log, nil))
		p := serve(t, c)
		login := func() {
			w := dialWire(t, p.addr)
			defer func() { _ = w.Close() }()
			if w.outcome(testUser, published, test.password) == "ok" {
				w.expectFatal(test.state)
			}
		}
		login()
		eventually(t, "the first is logged", func() bool { return len(log.lines(refusedLine)) == 1 })
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range logins / 4 {
					login()
				}
			})
		}
		all.Wait()
		if err := p.stop(); err != nil {
			t.Fatal(err)
		}
		if lines := log.lines("level="); len(lines) != 2 || !strings.Contains(lines[1], "times=200 period=1m0s ") {
			t.Errorf("%s: %d lines:\n%s", test.what, len(lines), strings.Join(lines[:min(len(lines), 5)], ""))
		}
		for _, line := range log.lines("level=") {
			for _, want := range []string{"level=" + test.level, refusedLine, "user=" + testUser, test.reason} {
				if !strings.Contains(line, want) {
					t.Errorf("%s: the log has not %s: %s", test.what, want, line)
				}
			}
		}
	}
}
