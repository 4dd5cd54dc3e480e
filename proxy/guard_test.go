package proxy

import (
	"errors"
	"strings"
	"testing"
)

// TestPanicsAreToldWithoutValues looks at what the log is told of a session that crashed.
func TestPanicsAreToldWithoutValues(t *testing.T) {
	t.Parallel()
	err := guard(func() error { return explode("canary") })
	var told *panicError
	if !errors.As(err, &told) || err.Error() != "panic of type string" {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(told.Stack, "proxy.explode:") || strings.Contains(told.Stack, "canary") {
		t.Errorf("told is %s", told.Stack)
	}
}

//go:noinline
func explode(statement string) error { panic("no " + statement) }
