package listen

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// setUserTimeout bounds how long sent data may stay unacknowledged.
func setUserTimeout(fd int, t time.Duration) error {
	err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(t.Milliseconds()))
	return os.NewSyscallError("setsockopt", err)
}
