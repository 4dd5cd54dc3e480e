package audit

import (
	"fmt"
	"os"
)

// Path opens the file with a path, to be appended to, and makes it, for its owner alone, if
// it is not there. A file that others may read or write is refused.
func Path(path string) func() (File, error) {
	return func() (File, error) {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return nil, fmt.Errorf("opening the audit log: %w", err)
		}
		info, err := file.Stat()
		if err != nil {
			_ = file.Close()
			return nil, fmt.Errorf("looking at the audit log: %w", err)
		}
		if info.Mode().IsRegular() && info.Mode().Perm()&0o007 != 0 {
			_ = file.Close()
			return nil, fmt.Errorf("the audit log %s is open to everybody (mode %04o): run chmod 0600 on it, or 0640 for a group that reads it", path, info.Mode().Perm())
		}
		if !info.Mode().IsRegular() {
			return unsynced{file}, nil // a pipe or a device has no disk
		}
		return file, nil
	}
}

// unsynced is a file without a disk.
type unsynced struct{ *os.File }

// Sync does nothing.
func (unsynced) Sync() error { return nil }

// isSame tells whether two files are one, as far as they say which they are.
func isSame(a, b File) bool {
	type known interface{ Stat() (os.FileInfo, error) }
	first, isKnown := a.(known)
	second, areKnown := b.(known)
	if !isKnown || !areKnown {
		return false
	}
	one, err := first.Stat()
	if err != nil {
		return false
	}
	other, err := second.Stat()
	return err == nil && os.SameFile(one, other)
}

// Stderr writes to the process's standard error.
func Stderr() (File, error) { return stderr{}, nil }

type stderr struct{}

func (stderr) Write(b []byte) (int, error) { return os.Stderr.Write(b) }

// Stat tells which file it is.
func (stderr) Stat() (os.FileInfo, error) { return os.Stderr.Stat() }

// Sync and Close do nothing: who reads standard error has it.
func (stderr) Sync() error  { return nil }
func (stderr) Close() error { return nil }
