package clients

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// TestRust has Rust's drivers work, and what is built on them, in the versions of Cargo.lock.
func TestRust(t *testing.T) {
	heavy(t)
	t.Parallel()
	folder := crates(t)
	for _, client := range []string{"tokio_postgres", "sqlx", "diesel"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			compare(t, client, program(nil, filepath.Join(folder, "debug", client)))
		})
	}
}

var built struct {
	once   sync.Once
	folder string
	err    error
}

// crates compiles the programs of testdata/rust, into the user's cache folder, where
// they stay for the next time.
func crates(t *testing.T) string {
	t.Helper()
	// Of those that Debian 12 has, sqlx would not compile.
	const oldest = 94
	var minor int
	version, _ := exec.Command("cargo", "--version").Output() // empty for none
	if _, err := fmt.Sscanf(string(version), "cargo 1.%d.", &minor); err != nil || minor < oldest {
		t.Skipf("install Rust 1.%d or newer; this is %q", oldest, version)
	}
	rig.Need(t, "libpq-dev libssl-dev pkg-config", exec.Command("pkg-config", "--exists", "libpq", "openssl").Run() == nil)
	built.once.Do(func() {
		var cache string
		if cache, built.err = os.UserCacheDir(); built.err != nil {
			return
		}
		built.folder = filepath.Join(cache, "kproxy", "rust")
		cmd := exec.CommandContext(t.Context(), "cargo", "build", "--quiet", "--locked", "--manifest-path", filepath.Join("testdata", "rust", "Cargo.toml"))
		cmd.Env = append(os.Environ(), "CARGO_TARGET_DIR="+built.folder)
		if output, err := cmd.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("cargo build: %w\n%s", err, strings.TrimSpace(string(output)))
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.folder
}
