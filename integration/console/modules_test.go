package console

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const browserFolder = "testdata/browser"

// modules has npm install what package-lock.json pins, unless it has done so before, and
// returns the folder with the modules and the program that goes through the console.
func modules() (folder string, err error) {
	lock, err := os.ReadFile(filepath.Join(browserFolder, "package-lock.json"))
	if err != nil {
		return "", err
	}
	program, err := os.ReadFile(filepath.Join(browserFolder, "console.mjs"))
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	// Another program is in another folder, since several tests may run at once.
	folder = filepath.Join(cache, "kproxy", fmt.Sprintf("console-%.8x", sha256.Sum256(append(lock, program...))))
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return "", err
	}
	scratch, err := os.MkdirTemp(filepath.Dir(folder), "fetch-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	for _, name := range []string{"package.json", "package-lock.json", "console.mjs"} {
		text, err := os.ReadFile(filepath.Join(browserFolder, name))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(scratch, name), text, 0o600); err != nil {
			return "", err
		}
	}
	cmd := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = scratch
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w\n%s", err, output)
	}
	if err := os.Rename(scratch, folder); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return folder, nil
}
