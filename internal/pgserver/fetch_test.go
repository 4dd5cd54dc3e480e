package pgserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFetch downloads a package that has the shape of the real one (a jar that
// holds a tar.xz with bin/initdb, bin/pg_ctl and bin/postgres) but shell
// scripts for programs, whose initdb fails as the real one does for root.
func TestFetch(t *testing.T) {
	t.Parallel()
	jar, err := os.ReadFile(filepath.Join("testdata", "embedded.jar"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(jar)
	repository := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := jar
		if strings.HasSuffix(r.URL.Path, ".sha256") {
			body = []byte(hex.EncodeToString(sum[:]))
		}
		_, _ = w.Write(body)
	}))
	defer repository.Close()

	cache := filepath.Join(t.TempDir(), "kproxy")
	b, err := fetch(t.Context(), &bytes.Buffer{}, repository.URL, cache)
	want := Binaries{Dir: filepath.Join(cache, "postgresql-18", "bin"), Version: Version{18, 3}}
	if err != nil || b != want {
		t.Errorf("fetched %v (%v), want %v", b, err, want)
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "start-*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestFailedFetchIsOneLine(t *testing.T) {
	t.Parallel()
	repository := httptest.NewServer(http.NotFoundHandler())
	defer repository.Close()
	_, err := fetch(t.Context(), &bytes.Buffer{}, repository.URL, t.TempDir())
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fetch(ctx, &bytes.Buffer{}, repository.URL, t.TempDir()); err == nil {
		t.Error("a canceled download succeeded")
	}
}
