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

// BinDirVariable names the environment variable that says where the server
// binaries are.
const BinDirVariable = "KPROXY_PG_BIN"

// probeLimit bounds a question put to a binary that was found.
const probeLimit = 10 * time.Second

// ErrNotFound is wrapped by the error of Find when the machine has no usable
// server binaries and the caller named none; Install is the remedy.
var ErrNotFound = errors.New("no PostgreSQL server binaries of version 13 or later")

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
// Install fetched before. The error then wraps ErrNotFound.
func Find(ctx context.Context, explicit string) (Binaries, error) {
	return search{patterns: append(slices.Clone(distributions), fetchedPattern())}.find(ctx, explicit)
}

// search is Find with the folders of its last step as an argument.
type search struct {
	patterns []string
}

func (s search) find(ctx context.Context, explicit string) (Binaries, error) {
	for _, named := range []struct{ dir, by string }{
		{explicit, "the folder given"},
		{os.Getenv(BinDirVariable), BinDirVariable},
	} {
		if named.dir == "" {
			continue
		}
		b, err := examine(ctx, named.dir)
		if err != nil {
			return Binaries{}, fmt.Errorf("finding PostgreSQL by %s: %w", named.by, err)
		}
		return b, nil
	}
	var refused []string
	for _, dir := range s.candidates(ctx) {
		b, err := examine(ctx, dir)
		if err == nil {
			return b, nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			refused = append(refused, err.Error())
		}
	}
	if len(refused) > 0 {
		return Binaries{}, fmt.Errorf("%w (%s)", ErrNotFound, strings.Join(refused, "; "))
	}
	return Binaries{}, ErrNotFound
}

// candidates lists the folders to examine when none was named.
func (s search) candidates(ctx context.Context) []string {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	dirs = slices.DeleteFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) })
	if output, err := ask(ctx, "pg_config", "--bindir"); err == nil {
		dirs = append(dirs, strings.TrimSpace(output))
	}
	var distributed []string
	for _, pattern := range s.patterns {
		matches, _ := filepath.Glob(pattern) // the patterns are well-formed
		distributed = append(distributed, matches...)
	}
	slices.SortStableFunc(distributed, func(a, b string) int { return majorInPath(b) - majorInPath(a) })
	return append(dirs, distributed...)
}

var digits = regexp.MustCompile(`[0-9]{1,4}`)

// majorInPath is the last number in a path, which is the major version in all
// the distributions' folders, or 0.
func majorInPath(path string) int {
	all := digits.FindAllString(path, -1)
	if len(all) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(all[len(all)-1]) // at most four digits
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
