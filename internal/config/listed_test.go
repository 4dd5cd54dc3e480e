package config

import (
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

// TestFunctionsHavePlaces: findings about a function tell its line, and built-in ones why
// they cannot be listed.
func TestFunctionsHavePlaces(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll(settings, "\ntables:", "\nfunctions:\n  - public.a\n  - public.t\n  - public.b\ntables:")
	c, err := Parse("k.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text, "\n")
	for _, name := range []string{"public.a", "public.b"} {
		at := c.Locate(catalog.ParseName(name), "")
		if at.Line < 1 || !strings.HasSuffix(lines[at.Line-1], "- "+name) {
			t.Errorf("%s stands on line %d", name, at.Line)
		}
	}
	_, err = Parse("k.yaml", []byte(strings.ReplaceAll(text, "public.a", "pg_catalog.lower")))
	if err == nil || !strings.Contains(err.Error(), "PostgreSQL's own, and cannot be opened this way") {
		t.Errorf("the error is %v", err)
	}
}
