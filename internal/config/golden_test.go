package config

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares what was got with the file beside the input.
func golden(t *testing.T, input, got string) {
	t.Helper()
	path := strings.TrimSuffix(input, ".yaml") + ".golden"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

func inputs(t *testing.T, folder string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", folder, "*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no inputs in %s: %v", folder, err)
	}
	return paths
}

func parseFile(t *testing.T, path string) (*Config, error) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return Parse(filepath.Base(path), text)
}

func TestBadConfigurationsListAllMistakes(t *testing.T) {
	t.Parallel()
	for _, path := range inputs(t, "bad") {
		c, err := parseFile(t, path)
		if c != nil {
			t.Errorf("%s: gave a configuration", path)
		}
		checkErrors(t, path, err)
	}
}

func TestBadPolicyFilesListAllMistakes(t *testing.T) {
	t.Parallel()
	for _, path := range inputs(t, "badpolicy") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = ParsePolicy(filepath.Base(path), text)
		checkErrors(t, path, err)
	}
}

// checkErrors holds an error to its golden file and to what every error keeps:
// the file's order, a fix for each mistake and no secret.
func checkErrors(t *testing.T, path string, err error) {
	t.Helper()
	var problems Errors
	if !errors.As(err, &problems) || len(problems) == 0 {
		t.Errorf("%s: error %v is no list of mistakes", path, err)
		return
	}
	if !slices.IsSortedFunc(problems, func(a, b Problem) int { return a.Line - b.Line }) {
		t.Errorf("%s: not in the file's order", path)
	}
	for _, p := range problems {
		if p.What == "" || p.Fix == "" || strings.Contains(p.Error(), "\n") {
			t.Errorf("%s: incomplete: %q", path, p.Error())
		}
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%s: a secret is printed:\n%s", path, err)
	}
	golden(t, path, err.Error()+"\n")
}

func TestGoodConfigurations(t *testing.T) {
	t.Parallel()
	for _, path := range inputs(t, "good") {
		c, err := parseFile(t, path)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		golden(t, path, describe(t, c))
	}
}

// describe shows settings as JSON and the policy in the words of a policy.
func describe(t *testing.T, c *Config) string {
	t.Helper()
	settings := *c
	settings.Policy = catalog.Policy{}
	text, err := json.MarshalIndent(settings, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", text)
	for _, table := range c.Policy.Tables {
		fmt.Fprintf(&b, "%s at %s: %s, %s, %v\n", table.Table, c.Locate(table.Table, ""), table.Method, table.Unpublishable, table.Constraints)
		if table.Subject != "" || table.Suppression != 0 {
			fmt.Fprintf(&b, "  subject %q, suppression %v\n", table.Subject, table.Suppression)
		}
		if len(table.Hidden) > 0 {
			fmt.Fprintf(&b, "  hidden %v\n", table.Hidden)
		}
		if len(table.Joinable) > 0 {
			fmt.Fprintf(&b, "  joinable %v\n", table.Joinable)
		}
		if table.Updates != (catalog.Updates{Mode: catalog.Immediate}) || table.Reanonymize != 0 {
			u := table.Updates
			fmt.Fprintf(&b, "  updates %v: crowd %d, batch %d, within %v, deadline %v; reanonymize %v\n", u.Mode, u.Crowd, u.Batch, u.Within, u.Deadline, table.Reanonymize)
			if u.Rows > 0 || u.RowsWithin > 0 {
				fmt.Fprintf(&b, "  rows %d, rows within %v\n", u.Rows, u.RowsWithin)
			}
		}
		for _, column := range table.Columns {
			fmt.Fprintf(&b, "  %q at %s: %s", column.Name, c.Locate(table.Table, column.Name), column.Role)
			if column.Role == catalog.QuasiIdentifying {
				fmt.Fprintf(&b, " %s", column.Publish)
			}
			if column.Hierarchy != nil {
				b.WriteString(" " + levels(*column.Hierarchy))
			}
			b.WriteString("\n")
		}
	}
	for _, a := range c.Policy.Audiences {
		fmt.Fprintf(&b, "audience %s of %v\n", a.Name, a.Roles)
		for _, table := range c.Policy.Tables {
			if seen, shown := table.For(a.Name); shown {
				fmt.Fprintf(&b, "  %s: %v, without %v\n", table.Table, table.ConstraintsFor(a.Name), table.HiddenFrom(a.Name))
				for _, column := range seen.Columns {
					fmt.Fprintf(&b, "    %q", column.Name)
					if column.Role == catalog.QuasiIdentifying {
						fmt.Fprintf(&b, " %s %s", column.Publish, levels(*column.Hierarchy))
					}
					if column.Depth > 0 {
						fmt.Fprintf(&b, " to depth %d", column.Depth)
					}
					b.WriteString("\n")
				}
			}
		}
	}
	for _, p := range c.Policy.People {
		fmt.Fprintf(&b, "people %s: root %s by %v, knows %s, %v\n  %s\n", p.Kind, p.Root, p.Key, p.Knows, p.Constraints, p.Explain())
		for _, t := range p.Tables {
			fmt.Fprintf(&b, "  %s: person %v, through %s by %v, key %v, order %q\n", t.Table, t.Person, t.Through, t.By, t.Key, t.Order)
		}
	}
	fmt.Fprintf(&b, "readable %v\n", c.Policy.Readable)
	if c.TemporaryTables != TemporaryRefuse {
		fmt.Fprintf(&b, "temporary tables: %v\n", c.TemporaryTables)
	}
	return b.String()
}

// levels shows a hierarchy with all that is set.
func levels(s hierarchy.Spec) string {
	text := s.Kind.String() + tree(s.Taxonomy)
	if len(s.Steps) > 0 {
		text += fmt.Sprintf(" steps %v from %v", s.Steps, s.Origin)
	}
	for _, unit := range s.Units {
		text += " " + unit.String()
	}
	if len(s.Keep) > 0 {
		text += fmt.Sprintf(" keep %v", s.Keep)
	}
	if len(s.Order) > 0 {
		text += fmt.Sprintf(" %q", s.Order)
	}
	return text
}

func tree(nodes []hierarchy.Node) string {
	if len(nodes) == 0 {
		return ""
	}
	var parts []string
	for _, n := range nodes {
		parts = append(parts, fmt.Sprintf("%q%s", n.Label, tree(n.Children)))
	}
	return "(" + strings.Join(parts, " ") + ")"
}

func TestManyMistakesAreCutShort(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "key%d: 1\n", i)
	}
	_, err := Parse("many.yaml", []byte(text.String()))
	var problems Errors
	if !errors.As(err, &problems) || len(problems) != maxProblems+1 {
		t.Fatalf("got %v", err)
	}
	// The 1000 unknown keys, and the three sections that are missing.
	if last, want := problems[maxProblems].What, "903 more mistakes from here on"; last != want {
		t.Errorf("got %q, want %q", last, want)
	}
}
