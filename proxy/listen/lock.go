package listen

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// lockFile reserves a Unix socket. It has the lines of PostgreSQL's own, so that servers
// of either kind respect each other's; its second line, where PostgreSQL names its data
// directory, has lockOwner. While its process lives the file is also locked by flock(2):
// a process number may belong to somebody else after a crash, such a lock cannot.
type lockFile struct{ *os.File }

const (
	lockOwner = "kproxy"

	// maxLockBytes caps what is read of a lock file; PostgreSQL's are shorter.
	maxLockBytes = 8 << 10

	// lockAttempts bounds how often a lock file may vanish while it is opened.
	lockAttempts = 100
)

// takeLock makes the lock file at path, or takes over the one of a server that is gone.
func takeLock(path, folder string, port int) (lockFile, error) {
	for range lockAttempts {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return lockFile{}, err
		}
		lock := lockFile{file}
		held, err := lock.hold()
		if err == nil && held {
			if err = lock.write(folder, port); err == nil {
				return lock, nil
			}
		}
		_ = file.Close()
		if err != nil {
			return lockFile{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	return lockFile{}, fmt.Errorf("%s comes and goes", path)
}

// hold locks the file unless a running server holds it. It returns false when the file
// was removed meanwhile.
func (l lockFile) hold() (bool, error) {
	err := syscall.Flock(int(l.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, errInUse
	}
	if err != nil {
		return false, os.NewSyscallError("flock", err)
	}
	mine, err := l.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Lstat(l.Name())
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(mine, there) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	text, err := io.ReadAll(io.LimitReader(l, maxLockBytes))
	if err != nil {
		return false, err
	}
	if pid := foreign(string(text)); pid != 0 && alive(pid) {
		return false, fmt.Errorf("%w: process %d; if that is no server, remove the file", errInUse, pid)
	}
	return true, nil
}

// foreign returns the process named in a lock file that is not this program's; 0 = none.
func foreign(text string) int {
	lines := strings.SplitN(text, "\n", 3)
	if len(lines) > 1 && lines[1] == lockOwner {
		return 0 // and nobody has locked it
	}
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil {
		return 0
	}
	return max(pid, -pid) // negative: a PostgreSQL for a single user
}

// alive tells whether a process other than this one runs.
func alive(pid int) bool {
	if pid == os.Getpid() || pid == os.Getppid() {
		return false // numbers from before a container was started again
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// write puts this process into the file.
func (l lockFile) write(folder string, port int) error {
	if err := l.Truncate(0); err != nil {
		return err
	}
	text := fmt.Sprintf("%d\n%s\n%d\n%d\n%s\n", os.Getpid(), lockOwner, time.Now().Unix(), port, folder)
	_, err := l.WriteAt([]byte(text), 0)
	return err
}

// release removes the file while it is still locked, so that it cannot remove another process's
// file.
func (l lockFile) release() error {
	return errors.Join(os.Remove(l.Name()), l.Close())
}
