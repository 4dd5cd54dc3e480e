package rewrite

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

// summedTexts are the texts of the golden file that are answered from classes.
func summedTexts(t *testing.T) []string {
	t.Helper()
	r := clinicRewriter()
	var texts []string
	for _, b := range readBlocks(t, "testdata/classes.sql") {
		if done, err := r.Rewrite(b.sql, nil); err == nil && done.FromClasses {
			texts = append(texts, b.sql)
		}
	}
	if len(texts) < 20 {
		t.Fatalf("only %d texts are answered from classes", len(texts))
	}
	return texts
}

// TestClassesShowNoRecords puts a column that classes do not show, and what is different for each record, in
// the place of each column of each text in turn: none is answered from classes then.
func TestClassesShowNoRecords(t *testing.T) {
	t.Parallel()
	r := clinicRewriter()
	column := regexp.MustCompile(`\b(age|region|born|height|weight)\b`)
	twice := regexp.MustCompile(`SELECT.*SELECT|JOIN stays|patients|, stays`)
	tried := 0
	for _, text := range summedTexts(t) {
		if twice.MatchString(text) {
			continue // another of its queries may be, or have a column of another table's records
		}
		for _, at := range column.FindAllStringIndex(text, -1) {
			for _, other := range []string{"diagnosis", "cost", "nope", "random()", "stays", "kproxy_count", "(SELECT 1)", "nextval('x')"} {
				sql := text[:at[0]] + other + text[at[1]:]
				if done, err := r.Rewrite(sql, nil); err == nil && done.FromClasses {
					t.Errorf("it is answered from classes: %s", sql)
				}
				tried++
			}
		}
	}
	if tried < 300 {
		t.Errorf("only %d texts were tried", tried)
	}
}

// TestClassesAreKept: whether answers are kept, what was read and what stays in the session is the same either
// way, and texts that differ in constants share a rewriting.
func TestClassesAreKept(t *testing.T) {
	t.Parallel()
	r, without := clinicRewriter(), New(Options{Database: "clinic", WithoutClasses: true})
	without.SetSnapshot(clinic())
	for _, text := range summedTexts(t) {
		got, err := r.Rewrite(text, nil)
		want, failed := without.Rewrite(text, nil)
		if err != nil || failed != nil {
			t.Fatal(err, failed)
		}
		if want.FromClasses || strings.Contains(want.SQL, catalog.ClassesPrefix) {
			t.Errorf("it is answered from classes all the same: %s", text)
		}
		if got.Look != want.Look || got.Traceless != want.Traceless || got.Plans != want.Plans || strings.Join(got.ReadNames, " ") != strings.Join(want.ReadNames, " ") || got.Shape != want.Shape {
			t.Errorf("%s\ngot  %+v\nwant %+v", text, got, want)
		}
	}
	for _, age := range []string{"1", "22", "333"} {
		sql := "SELECT region, sum(age) FROM stays WHERE age > " + age + " GROUP BY region"
		again := clinicRewriter()
		got, err := r.Rewrite(sql, nil)
		want, failed := again.Rewrite(sql, nil)
		if err != nil || failed != nil || got.SQL != want.SQL || !got.FromClasses {
			t.Errorf("%v, %v: %s, not %s", err, failed, got.SQL, want.SQL)
		}
	}
}

// TestClassesMeanWhatTheyDid: where a database has something of its own under a name that would be put into
// queries, they stay as they are.
func TestClassesMeanWhatTheyDid(t *testing.T) {
	t.Parallel()
	for _, added := range []catalog.Added{
		{},
		{Implicit: "a cast"},
		{Functions: map[string]bool{"sum": true}},
		{Operators: map[string]bool{"*": true}},
		{Operators: map[string]bool{"/": true}},
		{Types: map[string]bool{"int8": true}},
		{Types: map[string]bool{"numeric": true}},
	} {
		names := clinicNames
		names.Added = added
		r := New(Options{Database: "clinic"})
		r.SetSnapshot(clinic().WithNames(names))
		done, err := r.Rewrite("TABLE stays; SELECT count(*) FROM stays", nil)
		if added.Implicit == "" && err != nil || err == nil && done.FromClasses != added.Same(catalog.Added{}) {
			t.Errorf("%+v: %v, %+v", added, err, done)
		}
	}
}

// TestClassesHaveTheirTablesName: messages of the server name the table.
func TestClassesHaveTheirTablesName(t *testing.T) {
	t.Parallel()
	r := clinicRewriter()
	stays := catalog.Name{Schema: "public", Relation: "stays"}
	summary, research := catalog.Classes(stays), catalog.ClassesFor("research", stays)
	for said, want := range map[string]string{
		"permission denied for view " + summary.Relation:                            "permission denied for view stays",
		`relation "` + summary.Schema + "." + summary.Relation + `" does not exist`: `relation "public.stays" does not exist`,
		"permission denied for view " + research.Relation:                           "permission denied for view stays",
		`relation "` + research.String() + `" does not exist`:                       `relation "public.stays" does not exist`,
		"classes_0123456789abcdef":                                                  "classes_0123456789abcdef",
	} {
		if got := r.ScrubMessage(said); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// TestAudiencesAreAnsweredFromTheirOwnClasses: a text is answered from the summary of the audience's release, with the columns
// that this has, and from no other audience's.
func TestAudiencesAreAnsweredFromTheirOwnClasses(t *testing.T) {
	t.Parallel()
	stays := catalog.Name{Schema: "public", Relation: "stays"}
	shown := map[string][]catalog.ColumnName{
		"":         {{Name: "age", Type: "integer"}, {Name: "region", Type: "text"}},
		"research": {{Name: "age", Type: "integer"}},
		"press":    {{Name: "region", Type: "text"}},
	}
	policy := catalog.Policy{Tables: []catalog.TablePolicy{{Table: stays}}}
	for _, name := range []string{"research", "press"} {
		policy.Audiences = append(policy.Audiences, catalog.Audience{Name: name})
		policy.Tables[0].Audiences = append(policy.Tables[0].Audiences, catalog.AudiencePolicy{Audience: name})
	}
	for _, without := range []string{"nobody", "", "research", "press"} {
		names := catalog.ServerNames{Callable: map[string]bool{}, Columns: map[catalog.Name][]catalog.ColumnName{}}
		for audience, columns := range shown {
			names.Columns[catalog.PublishedFor(audience, stays)] = append([]catalog.ColumnName{{Name: "cost", Type: "integer"}}, columns...)
			if audience != without {
				names.Columns[catalog.ClassesFor(audience, stays)] = append([]catalog.ColumnName{{Name: catalog.CountColumn, Type: "integer"}}, columns...)
			}
		}
		for audience, columns := range shown {
			seen, _ := policy.For(audience)
			r := New(Options{Database: "clinic"})
			r.SetSnapshot(catalog.NewSnapshot(seen, []catalog.Relation{{OID: 1, Name: stays}}, nil).WithNames(names))
			for _, column := range []string{"age", "region", "cost"} {
				done, err := r.Rewrite("SELECT "+column+", count(*) FROM stays GROUP BY "+column, nil)
				if err != nil {
					t.Fatal(err)
				}
				want := audience != without && slices.ContainsFunc(columns, func(c catalog.ColumnName) bool { return c.Name == column })
				from := catalog.PublishedFor(audience, stays)
				if want {
					from = catalog.ClassesFor(audience, stays)
				}
				if done.FromClasses != want || !strings.Contains(done.SQL, " "+from.String()+" ") {
					t.Errorf("for %q, where %q has no summary, %s becomes %s", audience, without, column, done.SQL)
				}
			}
		}
	}
}

// TestBareNamesAreOfClassesFirst: a bare name of the published relation or of the summary never means a column of a relation that is
// joined.
func TestBareNamesAreOfClassesFirst(t *testing.T) {
	t.Parallel()
	q := summarized{
		summary: catalog.Summary{Published: map[string]bool{"cost": true}},
		others:  map[string]map[string]bool{"w": {"cost": true, "kproxy_count": true, "beds": true}},
	}
	for name, want := range map[string]bool{"beds": true, "cost": false, "kproxy_count": false, "nope": false} {
		if got := q.isOther(name); got != want {
			t.Errorf("that %s is another relation's is %t", name, got)
		}
	}
}
