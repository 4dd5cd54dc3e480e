//go:build !linux

package main

import "syscall"

// dieWithUs does nothing where the kernel cannot help.
func dieWithUs(*syscall.SysProcAttr) {}
