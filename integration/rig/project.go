package rig

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// Project makes a copy of a folder of programs for Node.js in which they find the modules
// that its package-lock.json pins. npm installs them once, into the user's cache folder,
// under the name and the lock's hash. The caller removes the copy.
func Project(name, source string) (folder string, err error) {
	modules, err := installed(name, source, []string{"package-lock.json", "package.json"},
		// Scripts that would fetch what npm does not have are not run.
		"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	if err != nil {
		return "", err
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

// Jars is where Java finds the libraries that the pom.xml of a folder pins: a class path.
// Maven installs them once, into the user's cache folder, under the name and the pom's hash.
func Jars(name, source string) (path string, err error) {
	// Several at once would write the same files of Maven's own repository.
	maven.Lock()
	defer maven.Unlock()
	jars, err := installed(name, source, []string{"pom.xml"},
		"mvn", "-B", "-q", "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=.")
	if err != nil {
		return "", err
	}
	return filepath.Join(jars, "*"), nil
}

var maven sync.Mutex

// installed is the folder in the user's cache, under the name and the hash of the first of
// some files, that a command filled, started once in a folder that has only these files.
func installed(name, source string, files []string, command ...string) (folder string, err error) {
	lock, err := os.ReadFile(filepath.Join(source, files[0]))
	if err != nil {
		return "", fmt.Errorf("installing what %s needs: %w", name, err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("installing what %s needs: %w", name, err)
	}
	folder = filepath.Join(cache, "kproxy", fmt.Sprintf("%s-%.8x", name, sha256.Sum256(lock)))
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		return folder, nil
	}
	if err := install(folder, source, files, command); err != nil {
		return "", fmt.Errorf("installing what %s needs: %w", name, err)
	}
	return folder, nil
}

// install has a command fill a folder, which has some files before.
func install(folder, source string, files, command []string) error {
	return fill(folder, func(scratch string) (*exec.Cmd, error) {
		for _, name := range files {
			text, err := os.ReadFile(filepath.Join(source, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(scratch, name), text, 0o600)
			}
			if err != nil {
				return nil, err
			}
		}
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = scratch
		return cmd, nil
	})
}

// fill makes a folder of what a command leaves in a scratch one. It is complete when it has its name.
func fill(folder string, by func(scratch string) (*exec.Cmd, error)) (err error) {
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(filepath.Dir(folder), "fetch-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	cmd, err := by(scratch)
	if err != nil {
		return err
	}
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd.Args, err, output)
	}
	// Another process may have been faster.
	if err := os.Rename(scratch, folder); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}
