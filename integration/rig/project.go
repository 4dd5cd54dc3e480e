package rig

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Project makes a copy of a folder of programs for Node.js in which they find the modules
// that its package-lock.json pins. npm installs them once, into the user's cache folder,
// under the name and the lock's hash. The caller removes the copy.
func Project(name, source string) (folder string, err error) {
	lock, err := os.ReadFile(filepath.Join(source, "package-lock.json"))
	if err != nil {
		return "", fmt.Errorf("installing modules for %s: %w", name, err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("installing modules for %s: %w", name, err)
	}
	modules := filepath.Join(cache, "kproxy", fmt.Sprintf("%s-%.8x", name, sha256.Sum256(lock)))
	if _, err := os.Stat(modules); errors.Is(err, os.ErrNotExist) {
		if err := install(modules, source); err != nil {
			return "", fmt.Errorf("installing modules for %s: %w", name, err)
		}
	}
	if folder, err = os.MkdirTemp(modules, "run-"); err != nil {
		return "", fmt.Errorf("copying %s: %w", name, err)
	}
	if err = os.CopyFS(folder, os.DirFS(source)); err == nil {
		// Some tools look for modules beside their project and not above it.
		err = os.Symlink(filepath.Join("..", "node_modules"), filepath.Join(folder, "node_modules"))
	}
	if err != nil {
		return "", fmt.Errorf("copying %s: %w", name, errors.Join(err, os.RemoveAll(folder)))
	}
	return folder, nil
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
	// Another process may have been faster.
	if err := os.Rename(scratch, folder); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}
