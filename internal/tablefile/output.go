package tablefile

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Output is a file that is written beside its place, under another name, and put there when it is
// whole.
type Output struct {
	path  string
	force bool
	file  *os.File
	sum   hash.Hash
	size  int64
}

// Stdout is the path that stands for standard output.
const Stdout = "-"

// ExistsError says that an output exists.
type ExistsError struct{ Path string }

func (e *ExistsError) Error() string { return fmt.Sprintf("%s exists: %s", e.Path, e.Hint()) }

// Code and Hint are for scripts and operators.
func (e *ExistsError) Code() string { return "exists" }

// Hint says what to do.
func (e *ExistsError) Hint() string { return "choose another name, or replace it with --force" }

// Is tells that it is an fs.ErrExist.
func (e *ExistsError) Is(target error) bool { return target == fs.ErrExist }

// CheckFree checks that a file may be written to the path: that nothing is there, or with force a file.
func CheckFree(path string, force bool) error {
	if path == Stdout {
		return nil
	}
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("writing %s: %w", path, err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("writing %s: it is there, and is not a file", path)
	case !force:
		return &ExistsError{path}
	}
	return nil
}

// Create begins the file of a path, or of Stdout. The error is that of CheckFree, or the system's.
func Create(path string, force bool) (*Output, error) {
	if err := CheckFree(path, force); err != nil {
		return nil, err
	}
	o := &Output{path: path, force: force, sum: sha256.New()}
	folder, base := filepath.Split(path)
	if path == Stdout {
		folder, base = os.TempDir(), "kproxy"
	}
	mode := fs.FileMode(0o666) // less the umask
	if path == Stdout {
		mode = 0o600
	}
	file, err := os.OpenFile(filepath.Join(folder, "."+base+"."+rand.Text()[:10]+".part"), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", path, err)
	}
	o.file = file
	return o, nil
}

// Write writes to the file.
func (o *Output) Write(text []byte) (int, error) {
	n, err := o.file.Write(text)
	o.sum.Write(text[:n])
	o.size += int64(n)
	return n, err
}

// Name is where the file is until it is in its place.
func (o *Output) Name() string { return o.file.Name() }

// Path is where it is to be.
func (o *Output) Path() string { return o.path }

// Digest is the SHA-256 of what was written, in hexadecimal digits, and Size its length in bytes.
func (o *Output) Digest() string { return hex.EncodeToString(o.sum.Sum(nil)) }

// Size is the length of what was written, in bytes.
func (o *Output) Size() int64 { return o.size }

// Sync makes what was written last.
func (o *Output) Sync() error {
	if err := o.file.Sync(); err != nil {
		return fmt.Errorf("writing %s: %w", o.path, err)
	}
	return nil
}

// Commit puts the file into its place, or copies it to standard output. Without force, a file that has come
// there meanwhile stays, and is an ExistsError.
func (o *Output) Commit(stdout io.Writer) error {
	if o.path == Stdout {
		defer o.Discard()
		if _, err := o.file.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("writing to standard output: %w", err)
		}
		if _, err := io.Copy(stdout, o.file); err != nil {
			return fmt.Errorf("writing to standard output: %w", err)
		}
		return nil
	}
	if err := errors.Join(o.Sync(), o.file.Close()); err != nil {
		return err
	}
	if o.force {
		return o.rename()
	}
	switch err := os.Link(o.Name(), o.path); {
	case errors.Is(err, fs.ErrExist):
		return &ExistsError{o.path}
	case err != nil: // file systems without links
		if err := CheckFree(o.path, false); err != nil {
			return err
		}
		return o.rename()
	}
	return os.Remove(o.Name())
}

func (o *Output) rename() error {
	if err := os.Rename(o.Name(), o.path); err != nil {
		return fmt.Errorf("writing %s: %w", o.path, err)
	}
	return nil
}

// Discard removes what was written. After Commit it does nothing.
func (o *Output) Discard() {
	_ = o.file.Close()
	_ = os.Remove(o.Name())
}
