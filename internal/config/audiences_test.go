package config

import (
	"os"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

// TestMirroredTablesAreShownToAudiences: all audiences see mirrored tables, each by its first role.
func TestMirroredTablesAreShownToAudiences(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/good/mirrored.yaml")
	if err != nil {
		t.Fatal(err)
	}
	written := strings.Replace(string(text), "    bi: {user: kproxy_bi}\n", "    bi: {user: kproxy_bi}\n    late: {user: kproxy_late}\n    press: {user: kproxy_press}\n", 1) +
		"\naudiences:\n  partners:\n    readers: [late, bi]\n    tables: {patients: {constraints: [{k: 5}]}}\n  press:\n    readers: press\n    tables: {patients: {constraints: [{k: 10}]}}\n"
	c, err := Parse("mirrored.yaml", []byte(written))
	if err != nil {
		t.Fatal(err)
	}
	roles, mirrored := map[string]string{"partners": "kproxy_late", "press": "kproxy_press"}, 0
	for _, table := range c.Policy.Tables {
		of := table.Viewers
		if table.IsMirrored() {
			mirrored++
		} else {
			of = table.Audiences
		}
		if len(of) != len(roles) || table.IsMirrored() && len(table.Audiences) > 0 {
			t.Errorf("%s is shown to %+v and %+v", table.Table, of, table.Audiences)
		}
		for _, a := range of {
			if a.Role != roles[a.Audience] {
				t.Errorf("%s is shown to %s by role %q", table.Table, a.Audience, a.Role)
			}
		}
	}
	if want := (catalog.Name{Schema: "public", Relation: "wards"}); mirrored != 2 || c.Policy.Mirrored()[0] != want {
		t.Errorf("%d tables are mirrored", mirrored)
	}
}
