package propose_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/propose"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// golden compares a text with a file of folder testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
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
		t.Errorf("%s is not as it was (go test -rewrite writes it anew):\n%s", name, got)
	}
}

// tally counts how often a role was proposed, was right, and would have been.
type tally struct{ proposed, right, wanted int }

func (c tally) String() string {
	share := func(n, of int) string {
		if of == 0 {
			return "    -"
		}
		return fmt.Sprintf("%5.1f", 100*float64(n)/float64(of))
	}
	return fmt.Sprintf("%3d  %s %%  %s %%", c.wanted, share(c.right, c.proposed), share(c.right, c.wanted))
}

var letters = map[catalog.Role]string{catalog.Identifying: "i", catalog.QuasiIdentifying: "q", catalog.Sensitive: "s"}

// TestRolesOfDatabases measures the proposals on databases that people know: what is wrong
// stands in the golden file. What identifies is never published, whatever else is wrong.
func TestRolesOfDatabases(t *testing.T) {
	t.Parallel()
	golden(t, "roles.golden", measured(t, databases))
}

// TestRolesOfPublishedDatabases measures them on databases of others.
func TestRolesOfPublishedDatabases(t *testing.T) {
	t.Parallel()
	golden(t, "published.golden", measured(t, append(published, furtherPublished...)))
}

// measured is how often roles are right in some databases, and what is wrong.
func measured(t *testing.T, of []schema) string {
	t.Helper()
	var report, wrong strings.Builder
	fmt.Fprintf(&report, "%-12s %-18s %s\n", "database", "role", "columns  precision  recall")
	all := map[catalog.Role]*tally{}
	for _, s := range of {
		own := map[catalog.Role]*tally{}
		for role := range letters {
			own[role] = &tally{}
			if all[role] == nil {
				all[role] = &tally{}
			}
		}
		for i, p := range propose.Database(s.tables()) {
			made := s.relations[i]
			if p.Verdict != made.verdict {
				fmt.Fprintf(&wrong, "%s.%s is %v, and should be %v: %s\n", s.name, made.name, p.Verdict, made.verdict, p.Why)
			}
			judge(t, &wrong, s.name, made, p, own)
		}
		for _, role := range []catalog.Role{catalog.Identifying, catalog.QuasiIdentifying, catalog.Sensitive} {
			fmt.Fprintf(&report, "%-12s %-18v     %v\n", s.name, role, own[role])
			all[role].proposed += own[role].proposed
			all[role].right += own[role].right
			all[role].wanted += own[role].wanted
		}
	}
	for _, role := range []catalog.Role{catalog.Identifying, catalog.QuasiIdentifying, catalog.Sensitive} {
		fmt.Fprintf(&report, "%-12s %-18v     %v\n", "all", role, all[role])
	}
	return report.String() + "\nWrong:\n" + wrong.String()
}

// judge compares what is proposed for one table with what is so.
func judge(t *testing.T, wrong *strings.Builder, name string, made relation, p propose.Proposal, own map[catalog.Role]*tally) {
	t.Helper()
	if p.Verdict == propose.Readable && made.verdict != propose.Readable {
		t.Errorf("%s.%s would be readable", name, made.name)
	}
	if p.Verdict != propose.Protect || made.verdict != propose.Protect {
		return
	}
	for j, f := range made.fields {
		choice := p.Draft.Choices[j]
		got := letters[choice.Role]
		if f.truth == "i" && got != "i" {
			t.Errorf("%s.%s.%s identifies, and is proposed as %v: %s", name, made.name, f.name, choice.Role, choice.Why)
		}
		right := got != "" && strings.Contains(f.truth, got)
		if !right {
			fmt.Fprintf(wrong, "%s.%s.%s is %v, and should be %s: %s\n", name, made.name, f.name, choice.Role, f.truth, choice.Why)
		}
		for role, letter := range letters {
			if letter == got {
				own[role].proposed++
			}
			if right && letter == got {
				own[role].right++
				own[role].wanted++
			} else if !right && strings.HasPrefix(f.truth, letter) {
				own[role].wanted++
			}
		}
	}
}

// TestConfigurationsOfDatabases: what is written of whole databases, to be read.
func TestConfigurationsOfDatabases(t *testing.T) {
	t.Parallel()
	for _, s := range []schema{hospitalEnglish, shop} {
		var drafts []propose.Draft
		var rest strings.Builder
		for _, p := range propose.Database(s.tables()) {
			if p.Verdict == propose.Protect {
				drafts = append(drafts, p.Draft)
			} else {
				fmt.Fprintf(&rest, "# %v: %v: %s\n", p.Verdict, p.Table, p.Why)
			}
		}
		golden(t, s.name+".golden", propose.Section(drafts)+rest.String())
	}
}
