package rig

import (
	"fmt"
	"os/exec"
	"path/filepath"

	_ "github.com/kproxy/kproxy/catalog/provision" // what kproxy is made of: a change of it is one of the tests that use this package
	_ "github.com/kproxy/kproxy/proxy"
	_ "github.com/kproxy/kproxy/rewrite"
	_ "github.com/kproxy/kproxy/sync"
)

// Build builds kproxy from the source around the working directory into a folder, and
// returns the program's path. What it reads does not count when go test decides whether a
// result still holds; of the program's packages only those that are imported above do, so
// that make runs these tests with -count 1.
func Build(folder string) (program string, err error) {
	program = filepath.Join(folder, "kproxy")
	output, err := exec.Command("go", "build", "-o", program, "github.com/kproxy/kproxy/cmd/kproxy").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building kproxy: %w\n%s", err, output)
	}
	return program, nil
}
