//go:build !linux

package torture

import "syscall"

// dieWithTests has no counterpart here: children are ended by the tests alone.
func dieWithTests(*syscall.SysProcAttr) {}
