package rig

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Python is an interpreter that can install packages of recent versions; empty if there is none.
func Python() string {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import sys, pip; assert sys.version_info >= (3, 11)").Run() == nil {
			return name
		}
	}
	return ""
}

// Packages is a folder with the packages that a file of requirements pins with their hashes,
// for the interpreter's PYTHONPATH. pip installs them once, into the user's cache folder,
// under the name and the hash of what they depend on. It takes wheels alone, unless the
// file names a package that has none: no other package's code runs.
func Packages(name, python, requirements string) (folder string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("installing packages for %s: %w", name, err)
		}
	}()
	pins, err := os.ReadFile(requirements)
	if err != nil {
		return "", err
	}
	// Wheels are for one version of Python and one kind of machine.
	kind, err := exec.Command(python, "-c", "import sys, sysconfig; print(sys.version_info[:2], sysconfig.get_platform())").Output()
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder = filepath.Join(cache, "kproxy", fmt.Sprintf("%s-%.8x", name, sha256.Sum256(append(pins, kind...))))
	if _, err = os.Stat(folder); errors.Is(err, os.ErrNotExist) {
		err = fetch(folder, python, requirements)
	}
	return folder, err
}

// fetch has pip fill a folder.
func fetch(folder, python, requirements string) error {
	return fill(folder, func(scratch string) (*exec.Cmd, error) {
		cmd := exec.Command(python, "-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps", "--only-binary", ":all:",
			"--disable-pip-version-check", "--root-user-action", "ignore", "--target", scratch, "-r", requirements)
		for _, setting := range os.Environ() {
			if !strings.HasPrefix(setting, "PYTHONPATH=") {
				cmd.Env = append(cmd.Env, setting)
			}
		}
		return cmd, nil
	})
}
