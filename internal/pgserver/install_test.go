package pgserver

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindManagerTakesTheFirstPresent(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if m, ok := findManager(managers); ok {
		t.Errorf("found %s in an empty folder", m.program)
	}
	for _, program := range []string{"pacman", "zypper", "apk", "dnf", "apt-get"} {
		fake(t, dir, program, "exit 0")
		if m, ok := findManager(managers); !ok || m.program != program {
			t.Errorf("found %q, want %s", m.program, program)
		}
	}
}

// TestManagerInstalls has a fake package manager put fake programs on the
// path, under a fake sudo for callers who are not root.
func TestManagerInstalls(t *testing.T) {
	root := t.TempDir()
	prepared := install(t, root, "prepared", "16.3")
	tools := filepath.Join(root, "tools")
	bin := filepath.Join(root, "bin")
	fake(t, tools, "dnf", `test "$*" = "install -y postgresql-server" && cp -r '`+prepared+`' '`+bin+`'`)
	fake(t, tools, "sudo", `shift; exec "$@"`)
	t.Setenv("PATH", strings.Join([]string{tools, bin, "/usr/bin", "/bin"}, ":"))
	t.Setenv(BinDirVariable, "")
	t.Setenv(MajorVariable, "")

	var progress bytes.Buffer
	m := managers[1]
	b, err := m.install(t.Context(), &progress)
	if err != nil || b.Dir != bin || b.Version != (Version{16, 3}) {
		t.Errorf("installed %v: %v", b, err)
	}
	if !strings.Contains(progress.String(), m.advice) {
		t.Errorf("progress does not say what runs: %q", progress.String())
	}
	fake(t, tools, "dnf", "exit 7")
	if _, err := m.install(t.Context(), &progress); err == nil || !strings.Contains(err.Error(), "dnf") {
		t.Errorf("a failed installation is reported as %v", err)
	}
}

func TestNoRightToInstall(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root needs no sudo")
	}
	tools := t.TempDir()
	fake(t, tools, "sudo", "exit 1")
	t.Setenv("PATH", tools)
	if _, err := managers[0].install(t.Context(), &bytes.Buffer{}); err == nil {
		t.Error("installed without a right to")
	}
}
