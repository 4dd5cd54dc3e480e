//go:build !linux

package pgserver

import "syscall"

// listsChildren says that childrenOf does not know.
const listsChildren = false

// dieWithParent does nothing where the kernel has no parent-death signal: the
// caller's Stop is all there is.
func dieWithParent(*syscall.SysProcAttr) {}

// childrenOf returns nothing where there is no /proc: children notice by
// themselves that their postmaster is gone.
func childrenOf(int) []int { return nil }

// halted takes a signal that was sent for received.
func halted(int) bool { return true }
