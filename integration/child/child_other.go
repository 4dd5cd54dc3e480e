//go:build !linux

package child

import "syscall"

// dieWithUs does nothing where the kernel cannot help.
func dieWithUs(*syscall.SysProcAttr) {}
