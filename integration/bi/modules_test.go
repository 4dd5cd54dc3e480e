package bi

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// project is a folder of testdata as its tool works in it: a copy, in a new folder with
// the modules that npm installs as package-lock.json pins them.
func project(t *testing.T, name string) string {
	t.Helper()
	need(t, "nodejs and npm", installed("node") && installed("npm"))
	source := filepath.Join("testdata", name)
	lock, err := os.ReadFile(filepath.Join(source, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(cache, "kproxy", fmt.Sprintf("%s-%.8x", name, sha256.Sum256(lock)))
	if _, err := os.Stat(modules); errors.Is(err, os.ErrNotExist) {
		if err := install(modules, source); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := os.MkdirTemp(modules, "run-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err := os.CopyFS(folder, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	// Some tools look for modules beside their project and not above it.
	if err := os.Symlink(filepath.Join("..", "node_modules"), filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return folder
}

// install has npm fill a folder, which is complete when it has its name. Scripts that
// would fetch what npm does not have are not run.
func install(folder, source string) (err error) {
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(filepath.Dir(folder), "fetch-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(scratch, name), text, 0o600); err != nil {
			return err
		}
	}
	cmd := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = scratch
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, output)
	}
	if err := os.Rename(scratch, folder); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}
