package pgserver

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// install puts fake server programs of a version into a folder under root.
func install(t *testing.T, root, dir, version string) string {
	t.Helper()
	dir = filepath.Join(root, dir)
	for _, program := range []string{"initdb", "pg_ctl", "postgres"} {
		fake(t, dir, program, "echo '"+program+" (PostgreSQL) "+version+"'")
	}
	return dir
}

// fake writes a shell script.
func fake(t *testing.T, dir, program, body string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, program), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestFindOrder takes the places away one after the other.
func TestFindOrder(t *testing.T) {
	root := t.TempDir()
	explicit := install(t, root, "explicit", "13.0")
	variable := install(t, root, "variable", "14.1")
	path := install(t, root, "path", "15.2 (Debian 15.2-1)")
	config := install(t, root, "config", "16beta1")
	newest := install(t, root, "lib/17/bin", "17.0")
	older := install(t, root, "lib/9/bin", "13.9") // 9 sorts after 17 as text
	fetched := install(t, root, "cache/postgresql-18.4.0-beta.17/bin", "18.4")
	formerly := install(t, root, "cache/postgresql-17.10.0-beta.99/bin", "17.10")
	fake(t, filepath.Join(root, "tools"), "pg_config", "echo "+config)

	places := search{
		distributed: []string{filepath.Join(root, "lib/*/bin")},
		fetched:     []string{filepath.Join(root, "cache/*/bin")},
	}
	t.Setenv(MajorVariable, "")
	// The system's own folders, which may hold a server, are left out.
	setPath := func(dirs ...string) {
		t.Setenv("PATH", strings.Join(dirs, string(os.PathListSeparator)))
	}
	t.Setenv(BinDirVariable, variable)
	setPath("relative", path, filepath.Join(root, "tools"))
	expect := func(name, explicit, want string) {
		t.Helper()
		b, err := places.find(t.Context(), explicit)
		if err != nil || b.Dir != want {
			t.Errorf("%s: found %s, want %s (%v)", name, b.Dir, want, err)
		}
	}
	expect("explicit", explicit, explicit)
	expect("variable", "", variable)
	t.Setenv(BinDirVariable, "")
	expect("path", "", path)
	setPath(filepath.Join(root, "tools"))
	expect("pg_config", "", config)
	setPath()
	expect("newest", "", newest)
	if err := os.RemoveAll(newest); err != nil {
		t.Fatal(err)
	}
	expect("older", "", older)
	if err := os.RemoveAll(older); err != nil {
		t.Fatal(err)
	}
	expect("fetched", "", fetched)
	if err := os.RemoveAll(fetched); err != nil {
		t.Fatal(err)
	}
	expect("fetched formerly", "", formerly)
	if err := os.RemoveAll(formerly); err != nil {
		t.Fatal(err)
	}
	if _, err := places.find(t.Context(), ""); !errors.Is(err, ErrNotFound) {
		t.Errorf("nothing there: %v", err)
	}
}

func TestFindByMajor(t *testing.T) {
	root := t.TempDir()
	explicit := install(t, root, "explicit", "13.0")
	variable := install(t, root, "variable", "14.1")
	path := install(t, root, "path", "15.2")
	distributed := install(t, root, "lib/16/bin", "16.3")
	fetched := install(t, root, "cache/postgresql-17.10.0/bin", "17.10")
	places := search{
		distributed: []string{filepath.Join(root, "lib/*/bin")},
		fetched:     []string{filepath.Join(root, "cache/*/bin")},
	}
	t.Setenv("PATH", path)
	t.Setenv(BinDirVariable, "")
	for major, want := range map[string]string{"": path, "15": path, "16": distributed, "17": fetched} {
		t.Setenv(MajorVariable, major)
		if b, err := places.find(t.Context(), ""); err != nil || b.Dir != want {
			t.Errorf("version %q: found %s, want %s (%v)", major, b.Dir, want, err)
		}
	}
	t.Setenv(MajorVariable, "18")
	if _, err := places.find(t.Context(), ""); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "asks for version 18") {
		t.Errorf("version 18: %v", err)
	}
	if b, err := places.find(t.Context(), explicit); err != nil || b.Dir != explicit {
		t.Errorf("an explicit folder: %s (%v)", b.Dir, err)
	}
	t.Setenv(BinDirVariable, variable)
	if _, err := places.find(t.Context(), ""); err == nil || errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "14.1") {
		t.Errorf("a named folder with another version: %v", err)
	}
	t.Setenv(MajorVariable, "14")
	if b, err := places.find(t.Context(), ""); err != nil || b.Dir != variable {
		t.Errorf("a named folder: %s (%v)", b.Dir, err)
	}
	for _, wrong := range []string{"12", "17.1", "x", "-1"} {
		t.Setenv(MajorVariable, wrong)
		if _, err := places.find(t.Context(), ""); err == nil || !strings.Contains(err.Error(), MajorVariable) {
			t.Errorf("version %q: %v", wrong, err)
		}
	}
}

func TestMajorInPath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{
		"/usr/lib/postgresql/15/bin":                          15,
		"/usr/pgsql-16/bin":                                   16,
		"/usr/libexec/postgresql17":                           17,
		"/opt/homebrew2/opt/postgresql@14/bin":                14,
		"/Applications/Postgres.app/Contents/Versions/18/bin": 18,
		"/var/cache/kproxy/postgresql-13.23.0-beta.16/bin":    13,
		"/usr/local/pgsql/bin":                                0,
		"/tmp/9/postgresql-18":                                18,
	} {
		if got := majorInPath(path); got != want {
			t.Errorf("%s is of version %d, want %d", path, got, want)
		}
	}
}

func TestOldVersionsAreRefused(t *testing.T) {
	root := t.TempDir()
	old := install(t, root, "old", "12.20")
	t.Setenv(BinDirVariable, "")
	t.Setenv(MajorVariable, "")
	t.Setenv("PATH", old)
	none := search{}
	_, err := none.find(t.Context(), "")
	if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "12.20") {
		t.Errorf("on the path: %v", err)
	}
	some := search{distributed: []string{install(t, root, "new", "13.1")}}
	if b, err := some.find(t.Context(), ""); err != nil || b.Version != (Version{13, 1}) {
		t.Errorf("an old server hides a new one: %v, %v", b, err)
	}
	// A named folder is believed or refused: nothing else is looked for.
	for name, find := range map[string]func() (Binaries, error){
		"explicit": func() (Binaries, error) { return some.find(t.Context(), old) },
		"variable": func() (Binaries, error) {
			t.Setenv(BinDirVariable, old)
			return some.find(t.Context(), "")
		},
	} {
		if _, err := find(); err == nil || errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestIncompleteFoldersAreRefused(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(dir string) error{
		"no initdb":      func(dir string) error { return os.Remove(filepath.Join(dir, "initdb")) },
		"no pg_ctl":      func(dir string) error { return os.Remove(filepath.Join(dir, "pg_ctl")) },
		"not executable": func(dir string) error { return os.Chmod(filepath.Join(dir, "postgres"), 0o644) },
		"no version": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "postgres"), []byte("#!/bin/sh\necho hello\n"), 0o755)
		},
		"fails": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "postgres"), []byte("#!/bin/sh\nexit 1\n"), 0o755)
		},
	} {
		dir := install(t, t.TempDir(), "bin", "15.0")
		if _, err := examine(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		if err := damage(dir); err != nil {
			t.Fatal(err)
		}
		if b, err := examine(t.Context(), dir); err == nil {
			t.Errorf("%s: accepted as %v", name, b)
		}
	}
}

func TestParseVersion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Version{
		"postgres (PostgreSQL) 13.0\n":                       {13, 0},
		"postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12)": {15, 18},
		"postgres (PostgreSQL) 18beta2":                      {18, 0},
		"postgres (PostgreSQL) 19devel":                      {19, 0},
		"postgres (PostgreSQL) 9.6.24":                       {9, 6},
	} {
		if got, err := parseVersion(text); err != nil || got != want {
			t.Errorf("%q is %v (%v), want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "postgres", "(PostgreSQL)", "(PostgreSQL) x"} {
		if v, err := parseVersion(text); err == nil {
			t.Errorf("%q is %v", text, v)
		}
	}
}
