package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// replaceFile puts a text in a file's place at once: whoever reads it meanwhile has the
// old or the new one, whole. Mode and owner stay, and a symbolic link goes on to lead to
// the file.
func replaceFile(path string, text []byte) (err error) {
	wrapped := func(err error) error { return fmt.Errorf("writing %s: %w", path, err) }
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return wrapped(err)
	}
	info, err := os.Stat(target)
	if err != nil {
		return wrapped(err)
	}
	f, err := os.CreateTemp(filepath.Dir(target), ".kproxy-*")
	if err != nil {
		return wrapped(err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if owner, known := info.Sys().(*syscall.Stat_t); known && os.Getuid() == 0 {
		if err := f.Chown(int(owner.Uid), int(owner.Gid)); err != nil {
			_ = f.Close()
			return wrapped(err)
		}
	}
	for _, step := range []func() error{
		func() error { return f.Chmod(info.Mode().Perm()) },
		func() error { _, err := f.Write(text); return err },
		f.Sync,
		f.Close,
		func() error { return os.Rename(f.Name(), target) },
	} {
		if err := step(); err != nil {
			_ = f.Close() // closed already, for the last two
			return wrapped(err)
		}
	}
	return nil
}
