package rewrite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

// siteTables are the protected and the readable tables of the site that the attacks and the
// legitimate statements are written for; secrets and all that has another name are neither.
var siteTables = struct{ protected, readable []string }{
	protected: []string{"public.people", "public.patients", "hospital.visits", "public.claims", "public.Lab Results", "public.chart", "public.admitted"},
	readable:  []string{"public.codes", "public.wards", "public.regions", "public.towns", "public.items", "public.orders", "public.icd", "public.tree"},
}

// site is its snapshot. What is known of columns is what statements with (x).y need.
func site() *catalog.Snapshot {
	var policy catalog.Policy
	names := catalog.ServerNames{Callable: map[string]bool{"reveal": true, "score": true}, Columns: map[catalog.Name][]catalog.ColumnName{}}
	relations := []catalog.Relation{{Name: catalog.Name{Schema: "public", Relation: "secrets"}}}
	for _, text := range siteTables.protected {
		name := catalog.ParseName(text)
		policy.Tables = append(policy.Tables, catalog.TablePolicy{Table: name})
		relations = append(relations, catalog.Relation{Name: name})
		names.Columns[catalog.Published(name)] = []catalog.ColumnName{{Name: "age"}, {Name: "town"}, {Name: "diagnosis"}}
	}
	for _, text := range siteTables.readable {
		name := catalog.ParseName(text)
		policy.Readable = append(policy.Readable, name)
		relations = append(relations, catalog.Relation{Name: name, PrimaryKey: []string{"code"}, HasChildren: name.Relation == "tree"})
		names.Columns[catalog.Published(name)] = []catalog.ColumnName{{Name: "code"}, {Name: "label"}}
	}
	return catalog.NewSnapshot(policy, relations, nil).WithNames(names)
}

// attackHead are the lines that tell the other tests what to expect.
var attackHead = regexp.MustCompile(`(?m)^-- (?:allowed|harmless|refused|ordered|volatile|columns|one text|parameters|types|shown as|straight|fails|plan|only)\b.*\n?`)

// attempts are the texts of a file of attacks or legitimate statements, session by session.
func attempts(t testing.TB, path string) (sessions [][]string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for paragraph := range strings.SplitSeq(string(content), "\n\n") {
		if text := strings.Trim(attackHead.ReplaceAllString(paragraph, ""), "\n"); text != "" && !onlyComments(text) {
			sessions = append(sessions, strings.Split(text, "\n-- then\n"))
		}
	}
	return sessions
}

func onlyComments(text string) bool {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "--") {
			return false
		}
	}
	return true
}

// outcomeInFull is all that comes of a text, a line for each thing that is not as usual.
func outcomeInFull(s *Statement, err error) string {
	if err != nil {
		var refusal *Refusal
		text := render("", err)
		if errors.As(err, &refusal) && refusal.Shape() != "" {
			text += "\n--! shape: " + refusal.Shape()
		}
		return text
	}
	text := render(s.SQL, nil)
	note := func(what string, value any, is bool) {
		if is {
			text += fmt.Sprintf("\n--> %s: %v", what, value)
		}
	}
	note("shape", s.Shape, true)
	note("reads", strings.Join(s.ReadNames, ", "), len(s.Reads) > 0 || len(s.ReadNames) > 0)
	note("effects", fmt.Sprintf("%T%+v", s.Effects, s.Effects), s.Effects != nil)
	note("plans", s.Plans, s.Plans)
	note("uses", fmt.Sprintf("%q", s.Uses), len(s.Uses) > 0)
	note("makes", fmt.Sprintf("%q", s.Makes), len(s.Makes) > 0)
	note("leaves traces", !s.Traceless, !s.Traceless)
	return text
}

// outcomeUnits are the sessions whose outcomes are kept, by the file that keeps them.
func outcomeUnits(t testing.TB) (units []outcomeUnit) {
	t.Helper()
	plain, temporary := Options{Database: "clinic"}, Options{Database: "clinic", TemporaryTables: true}
	add := func(golden string, o Options, snapshot *catalog.Snapshot, sessions [][]string) {
		units = append(units, outcomeUnit{golden, o, snapshot, sessions})
	}
	for _, folder := range []string{"attacks", "legitimate", "attacks/temporary"} {
		paths, err := filepath.Glob("testdata/" + folder + "/*.sql")
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v", folder, err)
		}
		for _, path := range paths {
			o := plain
			if strings.HasSuffix(folder, "temporary") {
				o = temporary
			}
			golden := strings.ReplaceAll(folder, "/", "_") + "_" + strings.TrimSuffix(filepath.Base(path), ".sql")
			add("testdata/outcomes/"+golden+".golden", o, site(), attempts(t, path))
		}
	}
	return units
}

type outcomeUnit struct {
	golden   string
	options  Options
	snapshot *catalog.Snapshot
	sessions [][]string
}

// run sends the sessions and returns what comes of each.
func (u outcomeUnit) run(sessions [][]string) (found []string) {
	r := New(u.options)
	r.SetSnapshot(u.snapshot)
	for _, texts := range sessions {
		c := conversation{r: r}
		var lines []string
		for _, sql := range texts {
			statement, err := r.Rewrite(sql, c.s)
			lines = append(lines, sql, outcomeInFull(statement, err))
			_, _ = c.send(sql)
		}
		found = append(found, strings.Join(lines, "\n"))
	}
	return found
}

// TestOutcomes compares all that comes of the attacks and the legitimate statements with
// what came of them before: why each attack is refused, and where, and what is told of it.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	for _, u := range outcomeUnits(t) {
		got := strings.Join(u.run(u.sessions), "\n\n") + "\n"
		if *update {
			if err := os.WriteFile(u.golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		content, err := os.ReadFile(u.golden)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n\n")
		for i, part := range strings.Split(strings.TrimSuffix(got, "\n"), "\n\n") {
			if i >= len(want) || part != want[i] {
				t.Errorf("%s: got\n%s\nwant\n%s", u.golden, part, slices.Concat(want, []string{""})[min(i, len(want))])
			}
		}
	}
}
