package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// TestLibpq has newer versions of libpq than the system's do what these alone do: TLS
// without a request for it, ALPN, protocol 3.2, rows in chunks, encrypted cancel
// requests, Close.
func TestLibpq(t *testing.T) {
	t.Parallel()
	for _, major := range []string{"17", "18"} {
		t.Run(major, func(t *testing.T) {
			t.Parallel()
			interpreter := python("ctypes")
			library := libpqOf(t, major)
			rig.Need(t, "libpq "+major+" with python3", library != "" && interpreter != "")
			path := filepath.Join("testdata", "python", "libpq_work.py")
			compare(t, "libpq_"+major, program([]string{"LIBPQ=" + library, "LD_LIBRARY_PATH=" + filepath.Dir(library)}, interpreter, "-B", path))
		})
	}
}

// libpqOf is the library of a major version, which comes with the binaries of the
// server that the tests are run on; empty if there is none.
func libpqOf(t *testing.T, major string) string {
	t.Helper()
	output, failure, err := run(t, append(os.Environ(), "KPROXY_PG_BIN=", "KPROXY_PG_VERSION="+major), "go", "run", "../../internal/pgserver/ensure")
	_, folder, ok := strings.Cut(strings.TrimSpace(output), " in ")
	if err != nil || !ok {
		t.Logf("looking for PostgreSQL %s: %v\n%s", major, err, failure)
		return ""
	}
	library := filepath.Join(filepath.Dir(folder), "lib", "libpq.so.5")
	if _, err := os.Stat(library); err != nil {
		return ""
	}
	return library
}
