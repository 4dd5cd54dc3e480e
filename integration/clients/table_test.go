package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTable judges that the table in docs/clients.md is what the last runs came to, or writes it.
// Versions that files pin are those of the files.
func TestTable(t *testing.T) {
	const page, head = "../../docs/clients.md", "| Client | Version | Run as | Steps | Differ |\n| --- | --- | --- | --- | --- |\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), head)
	if !found {
		t.Fatalf("%s has no table", page)
	}
	_, after, _ := strings.Cut(rest, "\n\n")
	var table strings.Builder
	for _, c := range clientsOf {
		table.WriteString(c.row(t))
	}
	made := before + head + table.String() + "\n" + after
	if *update {
		if err := os.WriteFile(page, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if made != string(text) {
		t.Errorf("the table of %s is not what the runs came to: go test ./integration/clients -run TestTable -update", page)
	}
}

func (c tested) row(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(outcomePath(c.names))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		return "" // it was never run
	}
	var versions, steps, differ []string
	for _, file := range files {
		o := readOutcome(t, strings.TrimSuffix(filepath.Base(file), ".json"))
		if kind, _, _ := strings.Cut(c.version, " "); slices.Contains([]string{"go", "gomod", "lock", "pins", "pom", "cargo"}, kind) && o.Version != versionOf(t, c.version) {
			t.Errorf("%s was run in version %s, and is pinned at %s", c.names, o.Version, versionOf(t, c.version))
		}
		versions, steps, differ = append(versions, o.Version), append(steps, fmt.Sprint(o.Steps)), append(differ, fmt.Sprint(o.Differ))
	}
	each := ""
	if len(files) > 1 {
		each = " each"
	}
	one := func(values []string) string { return strings.Join(slices.Compact(values), ", ") }
	return fmt.Sprintf("| %s | %s | %s | %s%s | %s |\n", c.client, one(versions), c.does, one(steps), each, one(differ))
}
