package rig

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Variable names the environment variable that gives tests the path of a kproxy that was built
// from these sources before. make sets it, so that the program is linked once and not by each package.
const Variable = "KPROXY_PROGRAM"

// Build puts kproxy, built from the source around the working directory, into a folder, and
// returns its path.
func Build(folder string) (program string, err error) {
	program = filepath.Join(folder, "kproxy")
	if built := os.Getenv(Variable); built != "" {
		if err := place(built, program); err != nil {
			return "", fmt.Errorf("copying kproxy, which %s names: %w", Variable, err)
		}
		return program, nil
	}
	if err := depend(); err != nil {
		return "", fmt.Errorf("looking at the source of kproxy: %w", err)
	}
	output, err := exec.Command("go", "build", "-o", program, "github.com/kproxy/kproxy/cmd/kproxy").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building kproxy: %w\n%s", err, output)
	}
	return program, nil
}

// depend looks at what the program is built from: go test keeps a result only while what the
// test looked at is as it was. What the test binary links would tell less, and be linked.
func depend() error {
	root, err := os.Getwd()
	for err == nil {
		if _, err = os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if above := filepath.Dir(root); above != root {
			root, err = above, nil
		}
	}
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin"):
			return filepath.SkipDir
		case d.IsDir() || strings.HasSuffix(d.Name(), "_test.go"):
			return nil
		}
		if _, err = os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil // another process's, and gone
		}
		return err
	})
}

// place copies a program.
func place(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
