package config

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRecipesAreUnderstood reads each piece of YAML in the pages for operators, with the keys
// that it leaves out.
func TestRecipesAreUnderstood(t *testing.T) {
	t.Parallel()
	var pages string
	for _, name := range []string{"operations.md", "access.md", "standbys.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		pages += string(text)
	}
	rest := map[string]string{
		"users":    "users: [{name: analyst, verifier: 'SCRAM-SHA-256$4096:ZXhhbXBsZSBzYWx0IDE2Yg==$Tm8gcGFzc3dvcmQgZml0cyB0aGlzIHZlcmlmaWVyLiA=:TWFrZSBvbmUgd2l0aDoga3Byb3h5IHBhc3N3b3JkLiA='}]",
		"upstream": "upstream: {owner: {host: db, database: hospital, user: kproxy_owner}, reader: {user: kproxy_reader}}",
		"tables":   "tables: {patients: {updates: immediate, constraints: [{k: 5}], columns: {age: {role: quasi-identifying, hierarchy: numeric}}}}",
	}
	recipes := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(pages, -1)
	if len(recipes) < 5 {
		t.Fatalf("found %d recipes", len(recipes))
	}
	for _, recipe := range recipes {
		whole := recipe[1]
		for key, without := range rest {
			if !strings.HasPrefix(whole, key+":") && !strings.Contains(whole, "\n"+key+":") {
				whole += without + "\n"
			}
		}
		if _, err := Parse("recipe.yaml", []byte(whole)); err != nil {
			t.Errorf("%v\n%s", err, numbered(whole))
		}
	}
}

func numbered(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		fmt.Fprintf(&b, "%d %s\n", i+1, line)
	}
	return b.String()
}
