package integration

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// planGolden is what plans look like in one version of PostgreSQL, by statement.
type planGolden struct {
	path     string
	want     map[string]string
	got      []string // sections in the order of the corpus
	major    int      // the version of the server
	compares bool
}

const planSection = "== "

func readPlans(t *testing.T, major int) *planGolden {
	t.Helper()
	g := &planGolden{path: "testdata/reading/plans15.golden", want: make(map[string]string), major: major, compares: major == goldenMajor}
	text, err := os.ReadFile(g.path)
	if err != nil && !*update {
		t.Fatal(err)
	}
	for section := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n"+planSection) {
		sql, rows, _ := strings.Cut(strings.TrimPrefix(section, planSection), "\n")
		g.want[sql] = rows
	}
	t.Cleanup(func() {
		if *update && g.compares {
			if err := os.WriteFile(g.path, []byte(strings.Join(g.got, "\n")+"\n"), 0o644); err != nil {
				t.Error(err)
			}
		}
	})
	return g
}

// ownNames are names that no plan may show, but for the two columns that guarded tables
// publish.
var ownNames = regexp.MustCompile(`kproxy_|\b(release|records|packed|stored|copied)_[0-9]`)

// tableNumbers are those that the server gave to readable tables.
var tableNumbers = regexp.MustCompile(`tableoid = '[0-9]+'`)

func (g *planGolden) compare(t *testing.T, r reading, sql string, got shown) {
	t.Helper()
	rows := make([]string, len(got.rows))
	for i, row := range got.rows {
		rows[i] = strings.TrimSuffix(row, "|")
	}
	plan := tableNumbers.ReplaceAllString(strings.Join(rows, "\n"), "tableoid = 'N'")
	// The literals are the client's own.
	bare := regexp.MustCompile(`'[^']*'`).ReplaceAllString(plan, "''")
	bare = strings.NewReplacer("kproxy_class", "", "kproxy_weight", "").Replace(bare)
	if name := ownNames.FindString(bare); name != "" || got.failure != "" || len(rows) == 0 {
		t.Errorf("%s: %s\nshows %q: %s%s", r.where, sql, name, got.failure, plan)
	}
	if *update {
		if _, again := g.want["\x00"+sql]; !again {
			g.want["\x00"+sql] = plan
			g.got = append(g.got, planSection+sql+"\n"+plan)
		}
		return
	}
	if g.compares && plan != g.want[sql] {
		t.Errorf("%s: %s\nshows\n%s\ninstead of\n%s", r.where, sql, plan, g.want[sql])
	}
}
