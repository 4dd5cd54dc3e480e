package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

func TestKnowledgeIsReadAsWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Knowledge{
		"all":      {All: true},
		"1":        {Rows: 1, Crowd: 8},
		"1/1y":     {Rows: 1, Per: 12, Crowd: 8},
		"1/6mo:16": {Rows: 1, Per: 6, Crowd: 16},
		"1:4":      {Rows: 1, Crowd: 4},
		"1/3y":     {Rows: 1, Per: 36, Crowd: 8},
	} {
		got, err := ParseKnowledge(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s is %+v, written %s: %v", text, got, got, err)
		}
	}
	for text, want := range map[string]string{
		"": "does not say", "everything": "does not say", "2": "only one known row", "0/1y": "only one known row", "1/5mo": "on the calendar", "1/0y": "on the calendar",
		"1/101y": "on the calendar", "1/7mo": "on the calendar", "1:0": "crowd", "1:1001": "crowd", "1/1y:": "does not say", "1/18mo": "on the calendar", "1/1w": "on the calendar",
	} {
		if _, err := ParseKnowledge(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}

func TestWindowsLieOnTheCalendar(t *testing.T) {
	t.Parallel()
	for period, months := range map[Period]int{1: 1, 3: 3, 6: 6, 12: 12, 24: 24} {
		if period.Window(2020, 1) == period.Window(2019, 12) {
			t.Errorf("%v: the turn of the year 2020 lies within a window", period)
		}
		starts := 0
		for month := -48; month < 48; month++ {
			if period.Window(0, month+1) != period.Window(0, month) {
				starts++
			}
		}
		if starts != 96/months {
			t.Errorf("%v: %d windows in eight years", period, starts)
		}
	}
}

func TestKnowledgeExplainsItself(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"all":   {"all other rows of a patient", "at least 7 persons", "whatever is joined"},
		"1":     {"one other row of a patient", "at least 7 persons", "two known rows"},
		"1/1y":  {"in each calendar year", "at least 7 persons", "within one calendar year"},
		"1/6mo": {"in each window of 6 calendar months"},
		"1/2y":  {"window of 2 calendar years"},
	} {
		knows, err := ParseKnowledge(text)
		if err != nil {
			t.Fatal(err)
		}
		said := knows.Explain("patient", 7)
		for _, words := range want {
			if !strings.Contains(said, words) {
				t.Errorf("%s: %q does not say %q", text, said, words)
			}
		}
	}
}

func TestPublishPeople(t *testing.T) {
	t.Parallel()
	root, visits := Name{"public", "patients"}, Name{"public", "visits"}
	date := &hierarchy.Spec{Kind: hierarchy.Date}
	policies := map[Name]TablePolicy{
		root:   {Table: root, Method: "rounded-partition", Columns: []ColumnPolicy{{Name: "born", Role: QuasiIdentifying, Hierarchy: date}, {Name: "blood", Role: Sensitive}}},
		visits: {Table: visits, Method: "rounded-partition", Columns: []ColumnPolicy{{Name: "ward", Role: Sensitive}}},
	}
	column := func(name, base string) Column {
		return Column{Name: name, Type: base, BaseType: base, BaseFormat: base, Deterministic: true}
	}
	relations := map[Name]Relation{
		root:   {Name: root, Kind: KindTable, ReplicaIdentity: 'd', Key: []string{"id"}, Columns: []Column{column("id", "int4"), column("born", "date"), column("blood", "text")}},
		visits: {Name: visits, Kind: KindTable, ReplicaIdentity: 'd', Key: []string{"id"}, Columns: []Column{column("id", "int4"), column("patient", "int4"), column("ward", "text")}},
	}
	p := People{
		Kind: "patient", Root: root, Key: []string{"id"}, Knows: Knowledge{All: true}, Tables: []PeopleTable{{Table: visits, Person: []string{"patient"}, Key: []string{"id"}}},
		Constraints: []privacy.Spec{{Model: privacy.K, K: 3}, {Model: privacy.DistinctL, L: 2, Of: "public.visits.ward"}},
	}
	publication, problems := PublishPeople(p, policies, relations)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if len(publication.Root.Sensitive) != 0 || len(publication.Tables[0].Sensitive) != 1 || publication.Tables[0].Sensitive[0].Column != "ward" {
		t.Errorf("sensitive columns are %v and %v", publication.Root.Sensitive, publication.Tables[0].Sensitive)
	}
	m, columns := publication.Tables[0].Membership, publication.Tables[0].Columns
	if m == nil || !slices.Equal(m.Own, []PseudonymForm{{Bits: 31}}) || !slices.Equal(m.Of, m.Own) || len(columns) != 3 || columns[0].Part != Pseudonym || columns[1].Part != Pseudonym || !m.IsOwn(columns[0]) || m.IsOwn(columns[1]) {
		t.Errorf("the membership is %+v, and columns are %v", m, columns)
	}
	if got := publication.Tables[0].Describe().K; got != 3 {
		t.Errorf("a table without quasi-identifiers is described with k = %d", got)
	}
	if got := len(publication.Tables[0].StoredColumns()); got != 3 {
		t.Errorf("%d columns are stored, want the keys and the ward", got)
	}
	rootSchema, _ := publication.Root.NewSchema()
	visitsSchema, _ := publication.Tables[0].NewSchema()
	set, err := publication.ConstraintSet(publication.Schema(rootSchema, []privacy.Schema{visitsSchema}))
	if err != nil || fmt.Sprint(set) != "3-anonymity and distinct 2-diversity of public.visits.ward" {
		t.Errorf("constraints are %v, %v", set, err)
	}

	relations[visits] = Relation{Name: visits, Kind: KindTable, ReplicaIdentity: 'd', Key: []string{"id"}, Columns: []Column{column("id", "json"), column("ward", "text")}}
	_, problems = PublishPeople(p, policies, relations)
	for _, words := range []string{"public.visits.patient: is a key in people, but the table has no such column", "public.visits.id: rows are found by it, but equal values of type json"} {
		if !strings.Contains(fmt.Sprint(problems), words) {
			t.Errorf("problems %v, want one with %q", problems, words)
		}
	}
}
