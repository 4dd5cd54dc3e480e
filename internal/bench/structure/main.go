// Command structure writes docs/structure.md: lines of Go by package, the largest types, functions
// that nothing reaches, and clones between product files. The last two are by pinned tools, which it
// runs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	deadcode = "golang.org/x/tools/cmd/deadcode@v0.52.0"
	dupl     = "github.com/mibk/dupl@v1.0.0"
	// cloneTokens is the least size of a clone, in nodes of the syntax tree as dupl counts them.
	cloneTokens = "120"
	// largest is how many types are listed.
	largest = 20
)

func main() {
	out := flag.String("out", "", "write the page into this `FILE` in place of standard output")
	flag.Parse()
	if err := run(context.Background(), *out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run makes the page of the module in the current folder.
func run(ctx context.Context, out string) error {
	m, err := read(".")
	if err != nil {
		return err
	}
	var page strings.Builder
	m.write(&page)
	if err := addDead(ctx, &page); err != nil {
		return err
	}
	if err := addClones(ctx, &page, m.product); err != nil {
		return err
	}
	if out == "" {
		_, err := os.Stdout.WriteString(page.String())
		return err
	}
	return os.WriteFile(out, []byte(page.String()), 0o600)
}

// addDead lists functions that no program and no test reaches.
func addDead(ctx context.Context, page *strings.Builder) error {
	text, err := tool(ctx, "", deadcode, "-test", "./...")
	if err != nil {
		return err
	}
	fmt.Fprintf(page, "\n## Functions that nothing reaches\n\n`%s -test ./...` finds", name(deadcode))
	list(page, strings.Split(text, "\n"))
	return nil
}

// addClones lists pairs of product files with parts alike, once for each pair.
func addClones(ctx context.Context, page *strings.Builder, files []string) error {
	text, err := tool(ctx, strings.Join(files, "\n"), dupl, "-files", "-plumbing", "-t", cloneTokens)
	if err != nil {
		return err
	}
	var clones []string
	for line := range strings.Lines(text) {
		if one, other, found := strings.Cut(strings.TrimSpace(line), ": duplicate of "); found && one < other {
			clones = append(clones, one+": like "+other)
		}
	}
	fmt.Fprintf(page, "\n## Clones between product files\n\n`%s -t %s` finds", name(dupl), cloneTokens)
	list(page, clones)
	return nil
}

// list ends a sentence with what was found.
func list(page *strings.Builder, lines []string) {
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
	if len(lines) == 0 {
		page.WriteString(" none.\n")
		return
	}
	slices.Sort(lines)
	fmt.Fprintf(page, " %d:\n\n", len(lines))
	for _, line := range lines {
		fmt.Fprintf(page, "- %s\n", line)
	}
}

// name is a tool with its version, without its path.
func name(tool string) string { return filepath.Base(tool) }

// tool runs a pinned tool and returns what it prints.
func tool(ctx context.Context, stdin, path string, arguments ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"run", path}, arguments...)...)
	cmd.Stdin = strings.NewReader(stdin)
	text, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		return "", fmt.Errorf("running %s: %w: %s", path, err, failed.Stderr)
	}
	return string(text), err
}
