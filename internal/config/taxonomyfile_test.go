package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

const filed = `
tables:
  public.patients:
    constraints: [{k: 5}]
    columns:
      job: {role: quasi-identifying, hierarchy: {kind: categorical, file: trees/job.csv}}
      trade: {role: quasi-identifying, hierarchy: {kind: categorical, file: trees/job.csv}}
`

func TestTaxonomiesAreReadBesideTheFile(t *testing.T) {
	t.Parallel()
	around := world(nil, map[string]string{"/etc/kproxy/trees/job.csv": "nurse;care;*\nphysician;care;*\r\nfarmer;manual;*\n"})
	p, err := parsePolicy("/etc/kproxy/policy.yaml", []byte(filed), around)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Table.Columns {
		if got, want := tree(c.Hierarchy.Taxonomy), `("care"("nurse" "physician") "manual"("farmer"))`; got != want {
			t.Errorf("%s: got %s, want %s", c.Name, got, want)
		}
	}
	unread, err := ParsePolicy("/etc/kproxy/policy.yaml", []byte(filed))
	if err != nil || unread.Table.Columns[0].Hierarchy.Kind != hierarchy.Categorical || len(unread.Table.Columns[0].Hierarchy.Taxonomy) > 0 {
		t.Errorf("%+v, %v", unread, err)
	}
}

func TestMistakesInTaxonomiesAreTheirFiles(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files map[string]string
		want  []string // how each line begins
	}{
		"none": {nil, []string{
			"policy.yaml:6: file cannot be read: file does not exist; ", "policy.yaml:7: file cannot be read: file does not exist; ",
		}},
		"empty": {map[string]string{"trees/job.csv": ""}, []string{"trees/job.csv: no values; "}},
		"lines": {map[string]string{"trees/job.csv": "nurse;care;*\nfarmer;*\nnurse;help;*\n;care;*\n"}, []string{
			"trees/job.csv:2: ", "trees/job.csv:3: ", "trees/job.csv:4: ",
		}},
		"quotes": {map[string]string{"trees/job.csv": "nurse;care;*\nfar\"mer;manual;*\n"}, []string{"trees/job.csv:2: a quote is not in its place: "}},
		"huge":   {map[string]string{"trees/job.csv": strings.Repeat(";", maxFileBytes+1)}, []string{"policy.yaml:6: file is larger ", "policy.yaml:7: file is larger "}},
	} {
		_, err := parsePolicy("policy.yaml", []byte(filed), world(nil, test.files))
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		if len(lines) != len(test.want) {
			t.Errorf("%s: got\n%s", name, err)
			continue
		}
		for i, want := range test.want {
			if !strings.HasPrefix(lines[i], want) {
				t.Errorf("%s: got %s, want %s", name, lines[i], want)
			}
		}
	}
}

// The mistakes of the configuration come before those of the files it names.
func TestMistakesOfSeveralFilesAreInOrder(t *testing.T) {
	t.Parallel()
	text := strings.Replace(filed, "columns:", "colums: {}\n    columns:", 1)
	_, err := parsePolicy("policy.yaml", []byte(text), world(nil, map[string]string{"trees/job.csv": "*"}))
	if err == nil || !strings.HasPrefix(err.Error(), "policy.yaml:5: ") || !strings.Contains(err.Error(), "\ntrees/job.csv:") {
		t.Errorf("got %v", err)
	}
}

func TestLoadPolicyReadsTaxonomies(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{"policy.yaml": strings.ReplaceAll(filed, "trees/", ""), "job.csv": "nurse;care;*\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := LoadPolicy(filepath.Join(folder, "policy.yaml"))
	if err != nil || tree(p.Table.Columns[1].Hierarchy.Taxonomy) != `("care"("nurse"))` {
		t.Errorf("%+v, %v", p, err)
	}
}
