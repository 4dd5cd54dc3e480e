package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestProtocolIsTested looks for every test that docs/protocol.md names.
func TestProtocolIsTested(t *testing.T) {
	t.Parallel()
	var code []byte
	for _, folder := range []string{"proxy", "integration"} {
		files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			code = append(code, text...)
		}
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`).FindAllString(string(page), -1)
	if len(named) < 50 {
		t.Fatalf("the page names %d tests", len(named))
	}
	for _, name := range named {
		if !regexp.MustCompile(`(?m)^func ` + name + `\(`).Match(code) {
			t.Errorf("there is no test %s", name)
		}
	}
}
