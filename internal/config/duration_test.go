package config

import (
	"math"
	"testing"
	"time"
)

func TestDurationsMayHaveDays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"7d": 168 * time.Hour, "0d": 0, "1d12h": 36 * time.Hour, "2d1h30m": 49*time.Hour + 30*time.Minute, "1d0.5s": 24*time.Hour + time.Second/2,
		"1h30m": 90 * time.Minute, "-5s": -5 * time.Second, "99999d2500000h": math.MaxInt64,
	} {
		if got, err := parseDuration(text); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"d", "7", "1.5d", "-7d", "1d-5h", "1d+5h", "1d2d", "5h1d", "1 d", "1d ", "100000d", "1d12", "1d12x"} {
		if got, err := parseDuration(text); err == nil {
			t.Errorf("%s is read as %v", text, got)
		}
	}
}
