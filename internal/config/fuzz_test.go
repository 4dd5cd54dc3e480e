package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// FuzzParse holds that no text brings the reader down, that each mistake comes
// with its fix, and that what is accepted is a policy that can be asked for.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*/*.yaml", "../../config.example.yaml", "../../integration/testdata/*.yaml"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			f.Fatalf("no seeds in %s: %v", pattern, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if c, err := Parse("fuzz.yaml", text); err != nil {
			checkProblems(t, err)
		} else {
			checkAccepted(t, c.Policy, c.Locate)
			if len(c.Users) == 0 && c.AuthQuery.Query == "" || c.Upstream.Owner.User == c.Upstream.Reader.User {
				t.Errorf("accepted users %v, upstream %+v", c.Users, c.Upstream)
			}
		}
		if p, err := ParsePolicy("fuzz.yaml", text); err != nil {
			checkProblems(t, err)
		} else {
			checkAccepted(t, p.Policy(), p.Locate)
		}
	})
}

func checkProblems(t *testing.T, err error) {
	t.Helper()
	var problems Errors
	if !errors.As(err, &problems) || len(problems) == 0 || len(problems) > maxProblems+1 {
		t.Fatalf("error is %v", err)
	}
	for i, p := range problems {
		if p.What == "" || p.Fix == "" || strings.ContainsAny(p.Error(), "\n\x00") {
			t.Errorf("incomplete: %q", p.Error())
		}
		if i > 0 && p.Line < problems[i-1].Line {
			t.Errorf("out of order: %v", problems)
		}
	}
}

func checkAccepted(t *testing.T, policy catalog.Policy, locate func(catalog.Name, string) Position) {
	t.Helper()
	if len(policy.Tables) == 0 {
		t.Error("accepted without tables")
	}
	kinds := make(map[catalog.Name]string)
	for _, p := range policy.People {
		checkAcceptedPeople(t, p, policy, kinds)
	}
	for _, table := range policy.Tables {
		if table.IsMirrored() && (len(table.Columns) != len(table.ByRole(catalog.Insensitive)) || len(table.Columns) == 0) {
			t.Errorf("accepted mirrored %+v", table)
		}
	}
	for _, table := range policy.Protecting().Tables {
		hasK := false
		for _, c := range table.Constraints {
			hasK = hasK || c.K >= 2
			of, _ := table.Column(c.Of)
			if err := c.Validate(); err != nil || c.Model != privacy.K && of.Role != catalog.Sensitive {
				t.Errorf("accepted constraint %+v: %v", c, err)
			}
		}
		if apart := kinds[table.Table] == ""; apart && (!hasK || len(table.ByRole(catalog.QuasiIdentifying)) == 0 || table.Method == "") || !apart && len(table.Constraints) > 0 && !hasK {
			t.Errorf("accepted %+v", table)
		}
		for _, column := range table.Columns {
			if column.Role == 0 || (column.Role == catalog.QuasiIdentifying) && column.Hierarchy == nil || locate(table.Table, column.Name).Line == 0 {
				t.Errorf("accepted column %+v", column)
			}
			if column.Hierarchy != nil {
				spec := *column.Hierarchy
				spec.Domain = domainOf[spec.Kind]
				if err := spec.Validate(); err != nil {
					t.Errorf("accepted hierarchy of %s: %v", column.Name, err)
				}
			}
		}
	}
}

// checkAcceptedPeople holds a kind of person to what its type says, and takes its tables.
func checkAcceptedPeople(t *testing.T, p catalog.People, policy catalog.Policy, kinds map[catalog.Name]string) {
	t.Helper()
	if p.K() < 2 || len(p.Key) == 0 || len(p.Tables) == 0 || !p.Knows.All && p.Knows.Rows != 1 {
		t.Errorf("accepted people %+v", p)
	}
	keys := map[catalog.Name][]string{p.Root: p.Key}
	for i, name := range p.Names() {
		if !slices.ContainsFunc(policy.Tables, func(t catalog.TablePolicy) bool { return t.Table == name }) || kinds[name] != "" {
			t.Errorf("accepted table %s of people %s and %s", name, kinds[name], p.Kind)
		}
		if kinds[name] = p.Kind; i == 0 {
			continue
		}
		table := p.Tables[i-1]
		parent := p.Root
		if !table.Direct() {
			parent = table.Through
		}
		if len(table.Link()) == 0 || len(table.Link()) != len(keys[parent]) {
			t.Errorf("accepted %+v, whose parent's key is %v", table, keys[parent])
		}
		keys[name] = table.Key
	}
}
