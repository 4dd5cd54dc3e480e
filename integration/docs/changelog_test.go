package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryVersionHasAnUpgradeNote compares the versions in CHANGELOG.md with the notes in
// docs/upgrading.md. What is not released comes first.
func TestEveryVersionHasAnUpgradeNote(t *testing.T) {
	t.Parallel()
	read := func(path string) string {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	changes, notes := read("CHANGELOG.md"), read("docs/upgrading.md")
	headings := regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(changes, -1)
	if len(headings) < 2 || headings[0][1] != "Unreleased" {
		t.Fatalf("CHANGELOG.md has the sections %q", headings)
	}
	released := regexp.MustCompile(`^(\d+\.\d+\.\d+) - \d{4}-\d{2}-\d{2}$`)
	for _, heading := range headings[1:] {
		version := released.FindStringSubmatch(heading[1])
		if version == nil {
			t.Errorf("CHANGELOG.md: %q is not a version with its date", heading[1])
		} else if !strings.Contains(notes, "\n### "+version[1]+"\n") {
			t.Errorf("docs/upgrading.md has no note on version %s", version[1])
		}
	}
}
