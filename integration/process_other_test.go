//go:build !linux

package integration

import "syscall"

// dieWithTests does nothing where the kernel cannot help: after a crash of the
// tests, their processes have to be stopped by hand.
func dieWithTests(*syscall.SysProcAttr) {}
