package rig

import (
	"os"
	"os/exec"
	"testing"
)

// Need skips a test unless what it needs is installed, and says what that is: packages of
// Debian. In continuous integration, which installs them and sets CI, the test fails.
func Need(t testing.TB, packages string, installed bool) {
	t.Helper()
	switch {
	case installed:
	case os.Getenv("CI") != "":
		t.Fatalf("not installed: %s", packages)
	default:
		t.Skipf("install %s", packages)
	}
}

// Program is the path of the first of some programs that is there, empty for none.
func Program(names ...string) string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
