// Package units writes numbers of bytes and durations for people.
package units

import (
	"fmt"
	"time"
)

// Age is a duration in its two greatest units.
func Age(d time.Duration) string {
	d = max(0, d)
	const day = 24 * time.Hour
	whole := func(unit, below time.Duration) int { return int(d % below / unit) }
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, whole(time.Second, time.Minute))
	case d < day:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, whole(time.Minute, time.Hour))
	default:
		return fmt.Sprintf("%dd%02dh", d/day, whole(time.Hour, day))
	}
}

// Bytes is a number of bytes in the greatest binary unit that it fills.
func Bytes(bytes int64) string {
	value, unit := float64(max(0, bytes)), "B"
	for _, larger := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if value < 1024 {
			break
		}
		value, unit = value/1024, larger
	}
	if unit == "B" {
		return fmt.Sprintf("%d B", int64(value))
	}
	return fmt.Sprintf("%.1f %s", value, unit)
}

// Count writes a number of things.
func Count(n int, one, more string) string {
	if n == 1 {
		more = one
	}
	return fmt.Sprintf("%d %s", n, more)
}
