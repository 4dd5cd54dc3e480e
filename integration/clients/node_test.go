package clients

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// TestNode has the drivers of Node.js work, in the versions of package-lock.json.
func TestNode(t *testing.T) {
	t.Parallel()
	need(t, "Node.js with npm", installed("node") && installed("npm"))
	for _, client := range []string{"node_postgres", "postgres_js"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			folder := modules(t)
			compare(t, client, program(nil, "node", filepath.Join(folder, client+".mjs")))
		})
	}
}

// node is the folder that the programs run in; its parent has their modules.
var node struct {
	once   sync.Once
	folder string
	err    error
}

// modules has npm install what package-lock.json names, with the hashes there, unless
// it has done so before, and returns a folder in which the programs find it.
func modules(t *testing.T) string {
	t.Helper()
	node.once.Do(func() { node.folder, node.err = install() })
	if node.err != nil {
		t.Fatal(node.err)
	}
	return node.folder
}

func install() (folder string, err error) {
	source := filepath.Join("testdata", "node")
	lock, err := os.ReadFile(filepath.Join(source, "package-lock.json"))
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	cache = filepath.Join(cache, "kproxy", fmt.Sprintf("node-%.8x", sha256.Sum256(lock)))
	if _, err := os.Stat(cache); errors.Is(err, os.ErrNotExist) {
		if err := fill(cache, source); err != nil {
			return "", err
		}
	}
	// Modules are looked for beside the programs and in the folders above.
	folder, err = os.MkdirTemp(cache, "run-")
	if err != nil {
		return "", err
	}
	cleanup(func() error { return os.RemoveAll(folder) })
	programs, err := filepath.Glob(filepath.Join(source, "*.mjs"))
	if err != nil {
		return "", err
	}
	for _, program := range programs {
		text, err := os.ReadFile(program)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(program)), text, 0o600); err != nil {
			return "", err
		}
	}
	return folder, nil
}

// fill makes the cache folder, which is complete when it has its name.
func fill(cache, source string) (err error) {
	if err := os.MkdirAll(filepath.Dir(cache), 0o755); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(filepath.Dir(cache), "fetch-")
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
	if err := os.Rename(scratch, cache); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}
