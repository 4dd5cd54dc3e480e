package rewrite

import (
	"regexp"
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
	tried := 0
	for _, text := range summedTexts(t) {
		if strings.Count(text, "SELECT") > 1 {
			continue // another of its queries may be
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
	summary := catalog.Classes(catalog.Name{Schema: "public", Relation: "stays"})
	for said, want := range map[string]string{
		"permission denied for view " + summary.Relation:                            "permission denied for view stays",
		`relation "` + summary.Schema + "." + summary.Relation + `" does not exist`: `relation "public.stays" does not exist`,
		"classes_0123456789abcdef":                                                  "classes_0123456789abcdef",
	} {
		if got := r.ScrubMessage(said); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
