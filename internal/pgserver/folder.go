package pgserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// temporaryName begins the name of every temporary folder.
const temporaryName = "kproxy-pg-"

// folder is where a cluster lives.
//
// A temporary folder holds the data folder and a file that this process has
// locked. The kernel drops the lock when the process ends in whatever way, so
// that a later Start can tell a folder left behind from one in use.
type folder struct {
	data string
	root string // the temporary folder; empty when the caller named data
	lock *os.File
}

// openFolder prepares the caller's data folder, or a temporary one if named is
// empty, for the user that will run the server.
func openFolder(named string, own *owner) (*folder, error) {
	if named == "" {
		return temporaryFolder(own)
	}
	data, err := filepath.Abs(named)
	if err != nil {
		return nil, fmt.Errorf("locating the data folder: %w", err)
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, fmt.Errorf("creating the data folder: %w", err)
	}
	f := &folder{data: data}
	if !f.initialized() {
		if err := own.own(data); err != nil {
			return nil, fmt.Errorf("handing over the data folder: %w", err)
		}
	}
	if !own.reaches(data) {
		return nil, fmt.Errorf("running PostgreSQL%s: the user cannot enter the data folder %s", own, data)
	}
	return f, nil
}

// temporaryFolder makes a new folder under the first usable base.
func temporaryFolder(own *owner) (_ *folder, err error) {
	base, err := temporaryBase(own)
	if err != nil {
		return nil, err
	}
	sweep(base)
	root, err := os.MkdirTemp(base, temporaryName)
	if err != nil {
		return nil, fmt.Errorf("creating a temporary data folder: %w", err)
	}
	f := &folder{root: root, data: filepath.Join(root, "data")}
	if err := f.furnish(own); err != nil {
		return nil, errors.Join(fmt.Errorf("creating a temporary data folder: %w", err), f.release())
	}
	return f, nil
}

// temporaryBase is the first folder for temporary files that the user reaches.
func temporaryBase(own *owner) (string, error) {
	for _, base := range []string{os.TempDir(), "/tmp", "/var/tmp"} {
		if own.reaches(base) {
			return filepath.Abs(base)
		}
	}
	return "", fmt.Errorf("running PostgreSQL%s: the user cannot enter %s; set TMPDIR", own, os.TempDir())
}

// furnish locks the temporary folder and makes the data folder in it. Others
// may pass through the root to the data folder, which is its owner's alone.
func (f *folder) furnish(own *owner) error {
	if err := f.acquire(); err != nil {
		return err
	}
	if err := os.Chmod(f.root, 0o711); err != nil {
		return err
	}
	if err := os.Mkdir(f.data, 0o700); err != nil {
		return err
	}
	return own.own(f.data)
}

// acquire takes the lock under another name first: sweep never sees a lock
// file that its maker has not locked yet.
func (f *folder) acquire() error {
	pending := filepath.Join(f.root, "locking")
	lock, err := os.OpenFile(pending, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	f.lock = lock
	if err := flock(lock); err != nil {
		return err
	}
	return os.Rename(pending, lockFile(f.root))
}

// release removes a temporary folder and leaves a named one alone.
func (f *folder) release() error {
	if f.root == "" {
		return nil
	}
	err := os.RemoveAll(f.root)
	if f.lock != nil {
		err = errors.Join(err, f.lock.Close())
	}
	if err != nil {
		return fmt.Errorf("removing the temporary data folder: %w", err)
	}
	return nil
}

// initialized reports whether initdb has run here (PostgreSQL, chapter
// "Database File Layout").
func (f *folder) initialized() bool {
	_, err := os.Stat(filepath.Join(f.data, "PG_VERSION"))
	return err == nil
}

// sweep removes the temporary folders of processes that ended without Stop.
// Errors are of no consequence: what cannot be removed is left where it is.
func sweep(base string) {
	roots, _ := filepath.Glob(filepath.Join(base, temporaryName+"*")) // the pattern is well-formed
	for _, root := range roots {
		info, err := os.Lstat(root)
		if err != nil || !info.IsDir() || !ownedByCaller(info) {
			continue
		}
		lock, err := os.OpenFile(lockFile(root), os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if flock(lock) == nil {
			unmountLeftBehind(filepath.Join(root, "data"))
			_ = os.RemoveAll(root)
		}
		_ = lock.Close()
	}
}

func ownedByCaller(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

func lockFile(root string) string { return filepath.Join(root, "lock") }

func flock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
