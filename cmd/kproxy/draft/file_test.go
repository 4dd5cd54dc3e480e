package draft_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/cmd/kproxy/draft"
	"github.com/kproxy/kproxy/internal/config"
)

// drafted writes a file and drafts its policy.
func drafted(t *testing.T, delimiter, text string) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "my.people.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return draft.FromFile(draft.FileOptions{Data: path, Delimiter: delimiter})
}

func TestDelimitersAreRecognized(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"age;cost\n1;2,50\n": `--delimiter ";"`,
		"age\tsex\n1\tf\n":   `--delimiter tab`,
		"age|sex\n1|f\n":     `--delimiter "|"`,
	} {
		if _, err := drafted(t, ",", text); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %s", text, err, want)
		}
	}
	for delimiter, text := range map[string]string{";": "age;cost\n1;2,50\n", "tab": "age\tcost\n1\t2,50\n", "|": "age|cost\r\n1|2\r\n"} {
		yaml, err := drafted(t, delimiter, text)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := config.ParsePolicy("policy.yaml", []byte(yaml)); err != nil || len(p.Table.Columns) != 2 {
			t.Errorf("%v\n%s", err, yaml)
		}
	}
}

// TestFieldsThatMakeAText are told of by their line, not quoted.
func TestFieldsThatMakeAText(t *testing.T) {
	t.Parallel()
	yaml, err := drafted(t, ",", "age,sex\n"+strings.Repeat("31,f\n", 20)+"secretly old,m\n")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(yaml, "# a text because of line 22 alone, else bigint: correct that field, or pass --missing\n") || strings.Contains(yaml, "secretly") {
		t.Errorf("the draft is\n%s", yaml)
	}
}
