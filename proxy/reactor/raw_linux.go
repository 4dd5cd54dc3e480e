package reactor

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// read and write are those of the system on a descriptor that never sleeps. Go's
// scheduler does not hear of them: to tell it costs as much as a small message.

func read(fd int, p []byte) (int, error) { return raw(unix.SYS_READ, fd, p) }

func write(fd int, p []byte) (int, error) { return raw(unix.SYS_WRITE, fd, p) }

func raw(call uintptr, fd int, p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, _, failed := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	if failed != 0 {
		return 0, failed
	}
	return int(n), nil
}
