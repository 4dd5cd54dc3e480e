//go:build !linux

package pgserver

import "errors"

// mountMemory fails: what it takes differs from system to system.
func mountMemory(string, int64) (mount, error) {
	return mount{}, errors.ErrUnsupported
}

// unmountLeftBehind does nothing where no disk is mounted.
func unmountLeftBehind(string) {}
