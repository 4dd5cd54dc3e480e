package pgserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ErrNoDisk is wrapped by the error of NewDisk on a machine that lets this
// process mount nothing; a test skips then, and says why.
var ErrNoDisk = errors.New("no file system can be mounted here")

// ballast is the file that takes the free space of a full disk.
const ballast = "ballast"

// Disk is a small file system of its own, in memory, for a server whose disk is
// to be full. A cluster as initdb makes it takes some 40 MB, and the log grows
// by segments of 16 MB. Its methods may not be called concurrently.
type Disk struct {
	folder *folder
	owner  *owner
	mount  mount
}

// mount is a mounted file system.
type mount struct {
	dir    string       // where this process sees it
	remove func() error // unmounts it
}

// NewDisk mounts a file system of size bytes that Close, or the end of this
// process, takes away. Under Linux root can who has CAP_SYS_ADMIN (in a
// container: --cap-add SYS_ADMIN), and any other user where the kernel lets
// users make namespaces. Elsewhere the error wraps ErrNoDisk.
func NewDisk(size int64) (*Disk, error) {
	own, err := unprivileged()
	if err != nil {
		return nil, err
	}
	f, err := temporaryFolder(own)
	if err != nil {
		return nil, err
	}
	m, err := mountMemory(f.data, size)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrNoDisk, err), f.release())
	}
	d := &Disk{folder: f, owner: own, mount: m}
	if err := own.own(m.dir); err != nil {
		return nil, errors.Join(fmt.Errorf("mounting a disk: %w", err), d.Close())
	}
	return d, nil
}

// Folder makes a folder on the disk that belongs to the user that servers run
// as, and returns its path: a server's DataDir, or a place for a tablespace.
func (d *Disk) Folder(name string) (string, error) {
	dir := filepath.Join(d.mount.dir, name)
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		err = d.owner.own(dir)
	}
	if err != nil {
		return "", fmt.Errorf("making a folder on a disk: %w", err)
	}
	return dir, nil
}

// Fill takes all of the free space. A server then fails to extend its tables
// with SQLSTATE 53100 (disk_full), and stops in a PANIC where its log has to
// grow. What the server itself gives back afterwards is free until the next
// Fill.
func (d *Disk) Fill() error {
	file, err := os.OpenFile(filepath.Join(d.mount.dir, ballast), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("filling a disk: %w", err)
	}
	for block := make([]byte, 1<<20); len(block) > 0 && err == nil; {
		if _, err = file.Write(block); errors.Is(err, syscall.ENOSPC) {
			block, err = block[:len(block)/2], nil
		}
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("filling a disk: %w", err)
	}
	return nil
}

// Free gives back what Fill took. A server that has ended meanwhile goes on
// after Restart. Freeing a disk that was not filled does nothing.
func (d *Disk) Free() error {
	err := os.Remove(filepath.Join(d.mount.dir, ballast))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("freeing a disk: %w", err)
	}
	return nil
}

// Close takes the disk away. The server on it is stopped before.
func (d *Disk) Close() error {
	if err := d.mount.remove(); err != nil {
		return fmt.Errorf("unmounting a disk: %w", err)
	}
	return d.folder.release()
}
