//go:build !linux

package listen

import "time"

// setUserTimeout leaves the time to the system, which has no such setting.
func setUserTimeout(int, time.Duration) error { return nil }
