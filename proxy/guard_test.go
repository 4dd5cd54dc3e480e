package proxy

import (
	"errors"
	"strings"
	"testing"
)

// TestPanicsAreToldWithoutValues panics where arguments hold a number and a key, whose bytes
// traces of package debug would show.
func TestPanicsAreToldWithoutValues(t *testing.T) {
	t.Parallel()
	err := guard(func() error { return explode("canary", 0xc0ffee, [4]byte{0xca, 0xfe, 0xba, 0xbe}) })
	var crash *panicError
	if !errors.As(err, &crash) || err.Error() != "panic of type string" {
		t.Fatalf("got %v", err)
	}
	told := string(crash.stack)
	if !strings.Contains(told, "proxy.explode:") || !strings.Contains(told, "TestPanicsAreToldWithoutValues") {
		t.Errorf("the place is not told: %s", told)
	}
	for _, value := range []string{"canary", "c0ffee", "ca, 0x", "0xca", "babe"} {
		if strings.Contains(told, value) {
			t.Errorf("told is %q: %s", value, told)
		}
	}
}

//go:noinline
func explode(statement string, number int, key [4]byte) error {
	if number > int(key[0]) {
		panic("no " + statement)
	}
	return nil
}
