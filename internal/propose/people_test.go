package propose_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/propose"
)

// containedIn compares the values of tables that are there in full.
func containedIn(tables []propose.Table) propose.Contained {
	rows := func(name catalog.Name, columns []string) (keys []string) {
		i := slices.IndexFunc(tables, func(t propose.Table) bool { return t.Name == name })
		for row := range int(tables[i].Total) {
			var key []string
			for _, column := range columns {
				at := slices.IndexFunc(tables[i].Columns, func(c propose.Column) bool { return c.Name == column })
				key = append(key, tables[i].Columns[at].Values[row])
			}
			if !slices.Contains(key, "") {
				keys = append(keys, strings.Join(key, "\x00"))
			}
		}
		return keys
	}
	return func(table catalog.Name, columns []string, parent catalog.Name, key []string) float64 {
		known := make(map[string]bool)
		for _, k := range rows(parent, key) {
			known[k] = true
		}
		held, found := rows(table, columns), 0
		for _, k := range held {
			if known[k] {
				found++
			}
		}
		if len(held) == 0 {
			return 1
		}
		return float64(found) / float64(len(held))
	}
}

// undeclared are the tables as a database without foreign keys has them.
func undeclared(tables []propose.Table) []propose.Table {
	for i := range tables {
		tables[i].Foreign = nil
		for j := range tables[i].Columns {
			tables[i].Columns[j].References = catalog.Name{}
		}
	}
	return tables
}

// drafted are the kinds that are found in tables, and the proposals.
func drafted(tables []propose.Table) ([]propose.Kind, []propose.Proposal) {
	proposals := propose.Database(tables)
	return propose.People(tables, proposals, containedIn(tables)), proposals
}

// section is what is written of proposals and kinds, with what is left out as comments.
func section(kinds []propose.Kind, proposals []propose.Proposal) (text, rest string) {
	var drafts []propose.Draft
	var b strings.Builder
	for _, p := range proposals {
		if p.Verdict == propose.Protect {
			drafts = append(drafts, p.Draft)
		} else {
			fmt.Fprintf(&b, "# %v: %v: %s\n", p.Verdict, p.Table, p.Why)
		}
	}
	return propose.Section(drafts, kinds...), b.String()
}

// TestPeopleOfDatabases: what is written of tables about the same persons, to be read, and read by
// kproxy. What identifies is published as a pseudonym or not at all.
func TestPeopleOfDatabases(t *testing.T) {
	t.Parallel()
	for _, s := range peopleSchemas {
		kinds, proposals := drafted(s.tables())
		text, rest := section(kinds, proposals)
		golden(t, s.name+".golden", text+rest)
		if len(kinds) != 1 {
			t.Errorf("%s has %d kinds of persons", s.name, len(kinds))
			continue
		}
		var members []propose.Draft
		for i, p := range proposals {
			if p.Draft.Kind == "" {
				continue
			}
			members = append(members, p.Draft)
			judgeMember(t, s.relations[i], p.Draft)
		}
		read, err := config.ParsePolicy("draft.yaml", []byte(propose.Section(members, kinds...)))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if got := read.People[0].Knows.String(); got != "1/1y" {
			t.Errorf("%s: knows %s", s.name, got)
		}
	}
}

// judgeMember compares what is proposed for a table's columns with what is so.
func judgeMember(t *testing.T, made relation, d propose.Draft) {
	t.Helper()
	for _, f := range made.fields {
		i := slices.IndexFunc(d.Choices, func(c propose.Choice) bool { return c.Column == f.name })
		switch {
		case i >= 0 && f.truth != letters[d.Choices[i].Role]:
			t.Errorf("%s.%s is %v, and should be %s: %s", made.name, f.name, d.Choices[i].Role, f.truth, d.Choices[i].Why)
		case i < 0 && (f.truth != "i" || !slices.Contains(d.Keys, f.name)):
			t.Errorf("%s.%s is proposed as %v, with the keys %q", made.name, f.name, f.truth, d.Keys)
		}
	}
}

// TestPeopleWithoutForeignKeys: names and values tell what a database does not declare.
func TestPeopleWithoutForeignKeys(t *testing.T) {
	t.Parallel()
	for _, s := range peopleSchemas {
		declared, undeclaredText := "", ""
		for i, tables := range [][]propose.Table{s.tables(), undeclared(s.tables())} {
			text, _ := section(drafted(tables))
			_, people, found := strings.Cut(text, "\npeople:\n")
			if !found {
				t.Fatalf("%s has no people:\n%s", s.name, text)
			}
			tables, _, _ := strings.Cut(people, "constraints:")
			if i == 0 {
				declared = tables
			} else {
				undeclaredText = tables
			}
		}
		if declared != undeclaredText {
			t.Errorf("%s: declared\n%s\nby names and values\n%s", s.name, declared, undeclaredText)
		}
	}
}

// clinic is a table of persons with two about them, in whose columns the values are given.
func clinic(patientOf generator, visits []field) schema {
	return schema{"clinic", []relation{
		{"patients", protect, 300, []field{
			{"hospital_id", "integer", "i", number(1, 4), true, ""},
			{"patient_no", "integer", "i", serial(1), true, ""},
			{"first_name", "text", "i", first, false, ""},
			{"birth_date", "date", "q", day(1930, 2020), false, ""},
		}},
		{"persons", protect, 300, []field{
			{"id", "bigint", "i", serial(1), true, ""},
			{"last_name", "text", "i", last, false, ""},
			{"birth_date", "date", "q", day(1930, 2020), false, ""},
		}},
		{"transfers", leftOut, 900, append(visits,
			field{"from_person_id", "bigint", "i", patientOf, false, ""},
			field{"amount", "numeric", "s", number(1, 100), false, ""},
		)},
	}}
}

// TestPeopleByValues: a name alone is no link, and neither are values.
func TestPeopleByValues(t *testing.T) {
	t.Parallel()
	dated := []field{{"on_day", "date", "q", day(2020, 2024), false, ""}}
	for _, row := range []struct {
		name    string
		from    generator
		further field
		want    string
	}{
		{"all are persons", of(300), field{"x", "integer", "s", number(1, 3), false, ""}, "person root persons key [id]: transfers person [from_person_id] order on_day"},
		{"nearly all are", of(310), field{"x", "integer", "s", number(1, 3), false, ""}, "person root persons key [id]: transfers person [from_person_id] order on_day"},
		{"few are", of(3000), field{"x", "integer", "s", number(1, 3), false, ""}, ""},
		{"the first that is called after persons alone", of(300), field{"person_id", "bigint", "i", of(300), false, ""}, "person root persons key [id]: transfers person [person_id] order on_day"},
		{"another type", of(3000), field{"person_id", "text", "i", of(300), false, ""}, ""},
	} {
		s := clinic(row.from, append(slices.Clone(dated), row.further))
		s.relations = s.relations[1:]
		kinds, _ := drafted(s.tables())
		if got := described(kinds); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

// described are kinds in a line.
func described(kinds []propose.Kind) string {
	var parts []string
	for _, k := range kinds {
		text := fmt.Sprintf("%s root %s key %v:", k.Name, k.Root.Relation, k.Key)
		for _, m := range k.Members {
			text += " " + m.Table.Relation
			if len(m.Person) > 0 {
				text += fmt.Sprintf(" person %v", m.Person)
			} else {
				text += fmt.Sprintf(" through %s by %v", m.Through.Relation, m.By)
			}
			if len(m.Key) > 0 {
				text += fmt.Sprintf(" key %v", m.Key)
			}
			if m.Order != "" {
				text += " order " + m.Order
			}
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// TestPeopleWithCompositeKeys, declared or not. A column shows one pseudonym, so that what would
// be through a table whose key has a column of its persons' is not; without a date it is left out.
func TestPeopleWithCompositeKeys(t *testing.T) {
	t.Parallel()
	for _, declared := range []bool{true, false} {
		tables := compositeKeys(declared)
		kinds, proposals := drafted(tables)
		want := "patient root patients key [hospital_id patient_no]: visits person [hospital_id patient_no] key [visit_id] order admitted " +
			"stays person [hospital_id patient_no] order came drugs through visits by [visit_id]"
		if got := described(kinds); got != want {
			t.Errorf("declared %v: %s, want %s", declared, got, want)
		}
		if i := slices.IndexFunc(proposals, func(p propose.Proposal) bool { return p.Table.Relation == "meals" }); proposals[i].Verdict != leftOut || !strings.Contains(proposals[i].Why, "has no date") {
			t.Errorf("declared %v: meals are %v: %s", declared, proposals[i].Verdict, proposals[i].Why)
		}
	}
}

// compositeKeys are tables in which patients have numbers in their hospital.
func compositeKeys(declared bool) []propose.Table {
	made := schema{"composite", []relation{
		{"patients", protect, 300, []field{
			{"hospital_id", "integer", "i", func(_ *rand.Rand, i int) string { return fmt.Sprint(i % 3) }, true, ""},
			{"patient_no", "integer", "i", func(_ *rand.Rand, i int) string { return fmt.Sprint(i / 3) }, true, ""},
			{"first_name", "text", "i", first, false, ""},
			{"birth_date", "date", "q", day(1930, 2020), false, ""},
		}},
		{"visits", protect, 900, []field{
			{"visit_id", "bigint", "i", serial(1), true, ""},
			{"hospital_id", "integer", "i", number(0, 3), false, ""},
			{"patient_no", "integer", "i", number(0, 100), false, ""},
			{"admitted", "date", "q", day(2020, 2024), false, ""},
		}},
		{"stays", protect, 900, []field{
			{"hospital_id", "integer", "i", number(0, 3), true, ""},
			{"patient_no", "integer", "i", number(0, 100), true, ""},
			{"stay_no", "integer", "i", serial(1), true, ""},
			{"came", "date", "q", day(2020, 2024), false, ""},
		}},
		{"drugs", leftOut, 900, []field{
			{"visit_id", "bigint", "i", of(900), false, ""},
			{"atc", "text", "s", one("C09", "M01"), false, ""},
		}},
		{"meals", leftOut, 900, []field{
			{"hospital_id", "integer", "i", number(0, 3), false, ""},
			{"patient_no", "integer", "i", number(0, 100), false, ""},
			{"stay_no", "integer", "i", of(900), false, ""},
			{"dish", "text", "s", one("soup", "bread"), false, ""},
		}},
	}}
	tables := made.tables()
	if declared {
		patients := catalog.ParseName("patients")
		for _, i := range []int{1, 2} {
			tables[i].Foreign = []propose.ForeignKey{{Columns: []string{"patient_no", "hospital_id"}, To: patients, Of: []string{"patient_no", "hospital_id"}}}
			for _, name := range []string{"hospital_id", "patient_no"} {
				at := slices.IndexFunc(tables[i].Columns, func(c propose.Column) bool { return c.Name == name })
				tables[i].Columns[at].References = patients
			}
		}
	}
	return tables
}

// TestSecondPersonsAreLeftOut with the reason, and so are rows of the same table.
func TestSecondPersonsAreLeftOut(t *testing.T) {
	t.Parallel()
	_, proposals := drafted(smallHospital.tables())
	for column, why := range map[string]string{
		"patients.doctor_id":       "a second person, in public.doctors",
		"prescriptions.doctor_id":  "a second person, in public.doctors",
		"visits.previous_visit_id": "another row of the same table",
		"visits.created_at":        "when a program wrote the record",
		"labs.visit_id":            "the same person through public.visits",
	} {
		table, name, _ := strings.Cut(column, ".")
		at := slices.IndexFunc(proposals, func(p propose.Proposal) bool { return p.Table.Relation == table })
		choices := proposals[at].Draft.Choices
		i := slices.IndexFunc(choices, func(c propose.Choice) bool { return c.Column == name })
		if i < 0 || choices[i].Role != catalog.Identifying || !strings.Contains(choices[i].Why, why) {
			t.Errorf("%s: %+v", column, choices)
		}
	}
	// Of two persons of one kind the first counts.
	s := clinic(of(300), []field{{"to_person_id", "bigint", "i", of(300), false, ""}, {"on_day", "date", "q", day(2020, 2024), false, ""}})
	s.relations = s.relations[1:]
	kinds, proposals := drafted(s.tables())
	text, _ := section(kinds, proposals)
	if got := described(kinds); got != "person root persons key [id]: transfers person [to_person_id] order on_day" || !strings.Contains(text, "it refers to a second person, and a row") {
		t.Errorf("%s\n%s", got, text)
	}
}

// TestPeopleWithoutDates have no windows.
func TestPeopleWithoutDates(t *testing.T) {
	t.Parallel()
	s := clinic(of(300), []field{{"reason", "text", "s", one("gift", "rent"), false, ""}})
	s.relations = s.relations[1:]
	kinds, proposals := drafted(s.tables())
	text, _ := section(kinds, proposals)
	if len(kinds) != 1 || kinds[0].Yearly || !strings.Contains(text, "    knows: {rows: 1}\n") {
		t.Errorf("%s\n%s", described(kinds), text)
	}
}
