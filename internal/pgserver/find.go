package pgserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// BinDirVariable names the environment variable that says where the server
	// binaries are.
	BinDirVariable = "KPROXY_PG_BIN"
	// MajorVariable names the environment variable that says which major
	// version they must have, such as 17; empty means any.
	MajorVariable = "KPROXY_PG_VERSION"
)

// probeLimit bounds a question put to a binary that was found.
const probeLimit = 10 * time.Second

// ErrNotFound is wrapped by the error of Find when the machine has no usable
// server binaries and the caller named none; Install is the remedy.
var ErrNotFound = errors.New("no suitable PostgreSQL server binaries")

// Binaries are the server programs of one PostgreSQL installation.
type Binaries struct {
	// Dir is the absolute path of the folder that holds initdb, postgres and
	// pg_ctl.
	Dir string
	// Version is what postgres says it is.
	Version Version
}

// distributions are the folders where packages put server binaries that are
// not on the path: Debian and Ubuntu, PGDG on Red Hat, SUSE, Alpine, a build
// from source, Homebrew on both architectures, Postgres.app.
var distributions = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/usr/lib/postgresql[0-9]*/bin",
	"/usr/libexec/postgresql[0-9]*",
	"/usr/local/pgsql/bin",
	"/opt/homebrew/opt/postgresql@*/bin",
	"/usr/local/opt/postgresql@*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
}

// Find looks for server binaries of version 13 or later: in the folder
// explicit or, if that is empty, in the folder that KPROXY_PG_BIN names; these
// two are believed or refused. Otherwise it takes the first of: the path,
// `pg_config --bindir`, the distributions' folders (newest first), and what
// Install fetched before (newest first). The error then wraps ErrNotFound.
//
// KPROXY_PG_VERSION restricts all but explicit to one major version.
func Find(ctx context.Context, explicit string) (Binaries, error) {
	return search{distributed: distributions, fetched: fetchedPatterns()}.find(ctx, explicit)
}

// search is Find with the folders of its last two steps as arguments.
type search struct {
	distributed, fetched []string // patterns of filepath.Glob
}

func (s search) find(ctx context.Context, explicit string) (Binaries, error) {
	if explicit != "" {
		b, err := examine(ctx, explicit)
		if err != nil {
			return Binaries{}, fmt.Errorf("finding PostgreSQL by the folder given: %w", err)
		}
		return b, nil
	}
	major, err := wantedMajor()
	if err != nil {
		return Binaries{}, err
	}
	if dir := os.Getenv(BinDirVariable); dir != "" {
		b, err := examine(ctx, dir)
		if err == nil && major != 0 && b.Version.Major != major {
			err = fmt.Errorf("the server in %s is PostgreSQL %s, and %s asks for %d", dir, b.Version, MajorVariable, major)
		}
		if err != nil {
			return Binaries{}, fmt.Errorf("finding PostgreSQL by %s: %w", BinDirVariable, err)
		}
		return b, nil
	}
	return s.first(ctx, major)
}

// first is the first candidate of a major version, or of any if major is 0.
func (s search) first(ctx context.Context, major int) (Binaries, error) {
	var refused []string
	for _, dir := range s.candidates(ctx) {
		b, err := examine(ctx, dir)
		switch {
		case err == nil && (major == 0 || b.Version.Major == major):
			return b, nil
		case err != nil && !errors.Is(err, os.ErrNotExist):
			refused = append(refused, err.Error())
		}
	}
	wanted := fmt.Sprintf("version %d or later is needed", oldest)
	if major != 0 {
		wanted = fmt.Sprintf("%s asks for version %d", MajorVariable, major)
	}
	if len(refused) > 0 {
		return Binaries{}, fmt.Errorf("%w: %s (%s)", ErrNotFound, wanted, strings.Join(refused, "; "))
	}
	return Binaries{}, fmt.Errorf("%w: %s", ErrNotFound, wanted)
}

// wantedMajor is the major version that KPROXY_PG_VERSION asks for, or 0.
func wantedMajor() (int, error) {
	text := os.Getenv(MajorVariable)
	if text == "" {
		return 0, nil
	}
	major, err := strconv.Atoi(text)
	if err != nil || major < oldest {
		return 0, fmt.Errorf("%s is %q: it is a major version of PostgreSQL, %d or later", MajorVariable, text, oldest)
	}
	return major, nil
}

// candidates lists the folders to examine when none was named.
func (s search) candidates(ctx context.Context) []string {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	dirs = slices.DeleteFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) })
	if output, err := ask(ctx, "pg_config", "--bindir"); err == nil {
		dirs = append(dirs, strings.TrimSpace(output))
	}
	for _, patterns := range [][]string{s.distributed, s.fetched} {
		var found []string
		for _, pattern := range patterns {
			matches, _ := filepath.Glob(pattern) // the patterns are well-formed
			found = append(found, matches...)
		}
		slices.SortStableFunc(found, func(a, b string) int { return majorInPath(b) - majorInPath(a) })
		dirs = append(dirs, found...)
	}
	return dirs
}

// numbered matches a path from the first number of its last numbered element.
var numbered = regexp.MustCompile(`([0-9]{1,4})[^/]*(?:/[^0-9]*)?$`)

// majorInPath is the first number in the last element of a path that has one,
// which is the major version in the distributions' folders and in those with
// fetched binaries, or 0.
func majorInPath(path string) int {
	m := numbered.FindStringSubmatch(path)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // at most four digits
	return n
}

// examine checks that a folder holds all the programs and asks their version.
// The error wraps os.ErrNotExist when the folder has no server in it.
func examine(ctx context.Context, dir string) (Binaries, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Binaries{}, err
	}
	for _, program := range []string{"postgres", "initdb", "pg_ctl"} {
		info, err := os.Stat(filepath.Join(dir, program))
		switch {
		case err != nil:
			return Binaries{}, err
		case info.IsDir() || info.Mode()&0o111 == 0:
			return Binaries{}, fmt.Errorf("%s in %s is not a program", program, dir)
		}
	}
	output, err := ask(ctx, filepath.Join(dir, "postgres"), "--version")
	if err != nil {
		return Binaries{}, fmt.Errorf("asking the version of the server in %s: %w", dir, err)
	}
	version, err := parseVersion(output)
	if err != nil {
		return Binaries{}, fmt.Errorf("asking the version of the server in %s: %w", dir, err)
	}
	if version.Major < oldest {
		return Binaries{}, fmt.Errorf("the server in %s is PostgreSQL %s, older than %d", dir, version, oldest)
	}
	return Binaries{Dir: dir, Version: version}, nil
}

// ask runs a program and returns what it prints.
func ask(ctx context.Context, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	output, err := exec.CommandContext(ctx, program, args...).Output()
	return string(output), err
}
