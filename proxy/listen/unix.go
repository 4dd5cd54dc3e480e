package listen

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const (
	// maxSocketPath is the length in bytes of the longest path that sockaddr_un holds
	// on Linux, with its NUL.
	maxSocketPath = 107

	// anyone may connect, as with PostgreSQL's unix_socket_permissions.
	anyone fs.FileMode = 0o777
)

// errInUse reports a socket of a server that runs.
var errInUse = errors.New("another server uses this socket")

// unixListener removes its socket and the socket's lock file when it is closed.
type unixListener struct {
	*net.UnixListener
	release func() error
}

// listenUnix listens on the socket that libpq looks for in a folder.
func listenUnix(ctx context.Context, folder string, port int, o Options) (_ net.Listener, err error) {
	path := filepath.Join(folder, ".s.PGSQL."+strconv.Itoa(port))
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("the path %s is longer than %d bytes", path, maxSocketPath)
	}
	lock, err := takeLock(path+".lock", folder, port)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = lock.release() // the first error says more
		}
	}()
	if err := removeStale(path); err != nil {
		return nil, err
	}
	// Nobody may connect before the permissions are set. Systems where those of an
	// unbound socket cannot be restricted leave a moment.
	config := net.ListenConfig{Control: func(_, _ string, conn syscall.RawConn) error {
		return conn.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), 0o600) })
	}}
	ln, err := config.Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	mode := o.SocketMode
	if mode == 0 {
		mode = anyone
	}
	if err := os.Chmod(path, mode); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return &unixListener{ln.(*net.UnixListener), sync.OnceValue(lock.release)}, nil //nolint:forcetypeassert // listening on unix
}

// Close stops listening; established connections go on.
func (l *unixListener) Close() error {
	return errors.Join(l.UnixListener.Close(), l.release())
}

// removeStale removes the socket that a server has left behind; the lock is held.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s is not a socket; it stays", path)
	}
	// There are servers without lock files.
	if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
		_ = conn.Close()
		return fmt.Errorf("%s: %w", path, errInUse)
	}
	return os.Remove(path)
}
