package pool

import (
	"errors"
	"fmt"
	"syscall"
)

// errDescriptors is sent to a client when the process cannot open more files and sockets.
var errDescriptors = &Refusal{stateTooManyConnections, "kproxy can open no more connections", "Try again later; the operator finds the reason in the log of kproxy."}

// starved tells whether a failure to connect is this process's, or this machine's: it has no
// descriptor for another socket.
func starved(err error) bool { return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) }

// FixDescriptors is what the operator does about it.
const FixDescriptors = "raise the limit of open files of kproxy (LimitNOFILE in its unit, ulimit -n), or lower limits.max_sessions and limits.max_logins"

// starving is the end of an attempt for want of a descriptor.
func starving(err error) error { return fmt.Errorf("%w: %w; %s", errDescriptors, err, FixDescriptors) }
