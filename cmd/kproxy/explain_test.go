package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/cmd/kproxy/explain"
)

// numbers are the places in the example configuration, which change with it.
var numbers = regexp.MustCompile(`config.example.yaml:[0-9]+`)

var exampleConfig = filepath.Join("..", "..", "config.example.yaml")

func TestExplainOffline(t *testing.T) {
	t.Parallel()
	out, p := command(t, "", "explain", "--offline", "-c", exampleConfig,
		"SELECT count(*) FROM patients p JOIN icd10 ON code = diagnosis WHERE cost > 5; BEGIN",
		"SELECT\n\tquery_to_xml('x', true, true, '')\nFROM patients", "CREATE TABLE a (b int)", "SELECT * FROM secret")
	if p == nil || p.Code != codeRefused || !strings.HasPrefix(p.Message, "3 of 5") {
		t.Errorf("the error is %+v", p)
	}
	path := filepath.Join("testdata", "explain.golden")
	out = strings.NewReplacer(exampleConfig+":", "config.example.yaml:").Replace(out)
	out = numbers.ReplaceAllString(out, "config.example.yaml:LINE")
	if *update {
		if err := os.WriteFile(path, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || out != string(want) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestExplainReadsSQL(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "x.sql")
	if err := os.WriteFile(file, []byte("SELECT 1;\nSELECT 2;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, arguments := range [][]string{{"--file", file}, {"SELECT 1", "SELECT 2"}, {"--file", "-"}} {
		out, p := command(t, "SELECT 1; SELECT 2", append([]string{"explain", "--offline", "--json", "-c", exampleConfig}, arguments...)...)
		var got struct{ Statements []explain.Result }
		if err := json.Unmarshal([]byte(out), &got); err != nil || p != nil {
			t.Fatalf("%v, %v", err, p)
		}
		if len(got.Statements) != 2 || !got.Statements[0].Allowed || got.Statements[1].Sent != "SELECT 2" || !got.Statements[0].Cached {
			t.Errorf("%q: %+v", arguments, got)
		}
	}
	for _, arguments := range [][]string{{"--file", file, "SELECT 1"}, {"--plan", "SELECT 1"}, {" ; "}} {
		if _, p := command(t, "", append([]string{"explain", "--offline", "-c", exampleConfig}, arguments...)...); p == nil || p.Code != codeUsage {
			t.Errorf("%q: %+v", arguments, p)
		}
	}
}

// The mark stands under the character, whatever is before it.
func TestMarked(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text        string
		position    int
		line, caret string
	}{
		{"SELECT x", 8, "SELECT x", "       ^"},
		{"SELECT\n\té, x\nFROM y", 12, "\té, x", "\t   ^"},
		{"a\r\nb", 1, "a", "^"},
		{"a", 99, "a", " ^"},
	} {
		if line, caret := marked(test.text, test.position); line != test.line || caret != test.caret {
			t.Errorf("%q at %d: %q, %q", test.text, test.position, line, caret)
		}
	}
}
