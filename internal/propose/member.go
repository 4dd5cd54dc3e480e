package propose

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
)

// Bound is an alpha of a sensitive column of a kind's tables.
type Bound struct {
	Table  catalog.Name
	Column string
	// Alpha is 0 where none is proposed.
	Alpha float64
	Why   string
}

// draft drafts the tables of a kind.
func (f *families) draft(k *Kind) {
	root := f.table(k.Root)
	f.protect(k, root, k.Key, "one record a person", func(c Column, n counts) Choice { return f.choiceOfRoot(k, root, c, n) })
	for i := range k.Members {
		m := k.Members[i]
		t := f.table(m.Table)
		elsewhere := f.elsewhere(t, k.Root, m.keys())
		why := "records about the persons of " + k.Root.String()
		if len(m.Person) == 0 {
			why += ", through " + m.Through.String()
		}
		f.protect(k, t, m.keys(), why, func(c Column, n counts) Choice { return f.choiceOfMember(t, m.Order, elsewhere, c, n, k.K) })
	}
}

func (f *families) table(name catalog.Name) *Table {
	i := slices.IndexFunc(f.tables, func(t Table) bool { return t.Name == name })
	return &f.tables[i]
}

// protect makes the draft of one table, and proposes bounds of its sensitive columns.
func (f *families) protect(k *Kind, t *Table, keys []string, why string, choose func(Column, counts) Choice) {
	i := slices.IndexFunc(f.proposals, func(p Proposal) bool { return p.Table == t.Name })
	d := Draft{Table: t.Name, Kind: k.Name, Keys: keys, K: k.K, Settled: true, Total: t.Total, Why: why}
	for _, c := range t.Columns {
		d.Records = max(d.Records, len(c.Values))
		if slices.Contains(keys, c.Name) {
			continue
		}
		n := count(c.Values, nil)
		choice := choose(c, n)
		d.Choices = append(d.Choices, choice)
		if choice.Role == catalog.Sensitive && isBounded(c, n) {
			k.Bounds = append(k.Bounds, bound(t, c, n, k.Persons))
		}
	}
	f.proposals[i] = Proposal{Table: t.Name, Verdict: Protect, Why: why, Draft: d, About: k.Root}
}

// choiceOfRoot is what is proposed for a column of the root, as of any table of persons, but for
// what says the same as another column.
func (f *families) choiceOfRoot(k *Kind, t *Table, c Column, n counts) Choice {
	choice := choose(c, n, k.K)
	if choice.Role == 0 {
		return choice
	}
	if why, leads := f.elsewhere(t, k.Root, k.Key)[c.Name]; leads {
		return leftOut(c, why)
	}
	if same := repeats(t, c.Name); same != "" {
		return leftOut(c, "left out: "+same+" says the same, and less is lost of one")
	}
	switch {
	case choice.Role != catalog.QuasiIdentifying:
	case n.present == 0 && len(c.Values) > 0:
		return leftOut(c, "left out: no record has a value")
	case refersToOthers(c.Name):
		return leftOut(c, "left out: it says which of many others somebody belongs to, and would be lost")
	case choice.Unsure && kindOf(c.Type) == hierarchy.Numeric && !isWhole(c.Type) && isMeasured(c, n):
		return Choice{Column: c.Name, Role: catalog.Sensitive, Why: "measured: published as it is, and what others do not know", Note: c.Note, Unsure: true}
	}
	if choice.Spec.Kind == hierarchy.Prefix && isWhole(c.Type) {
		choice.Spec.Kind = hierarchy.Numeric // the classes of persons are large, and near numbers near places
		choice.Option = option(hierarchy.Numeric, n)
	}
	return choice
}

func leftOut(c Column, why string) Choice {
	return Choice{Column: c.Name, Role: catalog.Identifying, Why: why, Note: c.Note}
}

// choiceOfMember is what is proposed for a column of a table of persons' rows: what others know
// is when something happened, and what happened is sensitive.
func (f *families) choiceOfMember(t *Table, order string, elsewhere map[string]string, c Column, n counts, k int) Choice {
	choice := choose(c, n, k)
	sensitive := func(why string) Choice {
		return Choice{Column: c.Name, Role: catalog.Sensitive, Why: why, Note: c.Note}
	}
	why, leads := elsewhere[c.Name]
	concept := conceptOf(c.about())
	same := repeats(t, c.Name)
	switch {
	case choice.Role == 0 || c.Key:
		return choice
	case leads:
		return leftOut(c, why)
	case same != "" && !isTextOf(c.Name, n):
		return leftOut(c, "left out: "+same+" says the same, and less is lost of one")
	case isDate(c.Type) && isTechnical(c.Name) && c.Name != order:
		return leftOut(c, "left out: it says when a program wrote the record, and "+order+" when something happened")
	case isDate(c.Type) && n.present == 0 && len(c.Values) > 0 && c.Name != order:
		return leftOut(c, "left out: no record has a value")
	case isDate(c.Type):
		choice = Choice{Column: c.Name, Role: catalog.QuasiIdentifying, Note: c.Note, Why: "when it happened: others may know it of a person"}
		choice.generalize(c, n, k)
		return choice
	case same != "":
		return sensitive("the text of " + same + ", and published as it is")
	case isCodeOfDoing(c.Name) && (isWhole(c.Type) || isText(c.Type) && c.Type != "uuid" && !isProse(n)):
		return sensitive("a code of what was done or found: published as it is, and what others do not know")
	case refersToOthers(c.Name) && choice.Role != catalog.Identifying:
		return leftOut(c, "left out: it says where or by whom, which others know, and would be lost")
	case isMeasured(c, n):
		return sensitive("measured or counted: published as it is, and what others do not know")
	case choice.Role != catalog.QuasiIdentifying:
		return choice
	case concept != nil && concept.meaning == known && concept.name != aDay:
		return choice
	case c.References != catalog.Name{} && f.readable(c.References):
		return sensitive("refers to " + c.References.String() + ", which is readable: published as it is, and what others do not know")
	case isNumberOfOthers(c):
		return leftOut(c, "left out: the number of something else, which would be lost")
	}
	return sensitive("not recognized, and so taken for what was done or found: published as it is. Write quasi-identifying where others know it of a person")
}

func (f *families) readable(name catalog.Name) bool {
	return slices.ContainsFunc(f.proposals, func(p Proposal) bool { return p.Table == name && p.Verdict == Readable })
}

// isCodeOfDoing says that a column holds codes of what was done, by its name.
func isCodeOfDoing(column string) bool {
	words := split(column)
	if len(words) == 0 || isCode(column) {
		return false
	}
	last := words[len(words)-1]
	if last == "id" && len(words) > 1 {
		last = words[len(words)-2]
	}
	return isOf(last, []string{"concept", "code", "sku", "product*", "produkt*", "article*", "artikel*", "item", "drug*", "procedure*", "diagnos*", "atc", "icd*", "loinc", "snomed", "ndc", "cpt", "*code"})
}

// refersToOthers says that a column holds numbers of those who acted, or of where they did.
func refersToOthers(column string) bool {
	words := split(column)
	if len(words) > 1 && isOf(words[len(words)-1], identifiers) {
		words = words[:len(words)-1]
	} else if len(words) > 1 {
		return false
	}
	return len(words) > 0 && isOf(words[len(words)-1], slices.Concat(staff, places))
}

// places are words for where something is done, and for who pays or answers for it.
//
//nolint:misspell // words of other languages
var places = []string{
	"organization*", "organisation*", "payer*", "location*", "site", "sites", "clinic*", "hospital*", "store", "stores", "shop", "warehouse*", "supplier*", "vendor*", "branch*", "device*", "cashier*",
	"filiale*", "klinik*", "krankenhaus*", "lieferant*",
}

// isNumberOfOthers says that a column holds numbers of rows elsewhere.
func isNumberOfOthers(c Column) bool {
	words := split(c.Name)
	return refersByNumber(c) || len(words) > 1 && isOf(words[len(words)-1], []string{"id", "uuid", "guid", "key", "fk"})
}

// isMeasured says that a column holds numbers, or texts that nearly all are, with no other meaning.
func isMeasured(c Column, n counts) bool {
	concept := conceptOf(c.about())
	if concept != nil && concept.meaning != secret && concept.name != aTitle || isNumberOfOthers(c) || isCode(c.Name) {
		return false
	}
	if kindOf(c.Type) == hierarchy.Numeric {
		return !isWhole(c.Type) || !n.nearlyUnique()
	}
	if !isText(c.Type) || c.Type == "uuid" || n.present == 0 || n.longest > longText {
		return false
	}
	numbers := 0
	values := n.values()
	for _, v := range values {
		if _, err := strconv.ParseFloat(v, 64); err == nil {
			numbers++
		}
	}
	return split(c.Name)[0] == "value" && float64(numbers) >= nearlyUnique*float64(len(values))
}

// repetitions are endings of names of columns that say what those with the other ending do.
var repetitions = [][2]string{
	{"_datetime", "_date"},
	{"_time", "_date"},
	{"_source_value", "_concept_id"},
	{"_source_concept_id", "_concept_id"},
	{"description", "code"},
	{"month_of_birth", "year_of_birth"},
	{"day_of_birth", "year_of_birth"},
	{"birth_datetime", "year_of_birth"},
}

// repeats is the column of a table that says what another one does; empty where there is none.
func repeats(t *Table, column string) string {
	for _, ends := range repetitions {
		stem, has := strings.CutSuffix(strings.ToLower(column), ends[0])
		if !has {
			continue
		}
		i := slices.IndexFunc(t.Columns, func(c Column) bool { return strings.EqualFold(c.Name, stem+ends[1]) })
		if i >= 0 {
			return t.Columns[i].Name
		}
	}
	return ""
}

// IsBasic says that a column is kept even where most of it is lost: an age or a sex is what
// persons are compared by.
func IsBasic(column string) bool {
	concept := conceptOf(Column{Name: column}.about())
	return concept != nil && slices.Contains([]string{aBirth, aSex}, concept.name)
}

// isTextOf says that a column holds the texts of codes, which are as few as those.
func isTextOf(column string, n counts) bool {
	return strings.HasSuffix(strings.ToLower(column), "description") && !n.mostlyUnique()
}

// isBounded says that the values of a sensitive column can be counted, and are of a list.
func isBounded(c Column, n counts) bool {
	return !isMeasured(c, n) && (c.Enum || slices.Contains(countable, c.Type)) && (c.Enum || isText(c.Type) || isWhole(c.Type) && isCodeOfDoing(c.Name)) && n.present > 0
}

// bound proposes an alpha by how many persons have the most frequent value, as far as the number
// of rows of a person tells: classes of persons have it about as often.
func bound(t *Table, c Column, n counts, persons int64) Bound {
	rows := float64(t.Total) / float64(max(1, persons))
	held := 1 - math.Pow(1-n.highest(), max(1, rows))
	b := Bound{Table: t.Name, Column: c.Name}
	if n.distinct == 1 {
		b.Why = "all have the same value: who is known to have a row is known to have it"
		return b
	}
	for _, step := range []struct{ held, alpha float64 }{{0.25, 0.5}, {0.5, 0.75}, {0.7, 0.9}} {
		if held <= step.held {
			b.Alpha, b.Why = step.alpha, fmt.Sprintf("about %.0f %% of the persons have the most frequent value", 100*held)
			return b
		}
	}
	b.Why = fmt.Sprintf("about %.0f %% of the persons have the most frequent value, so that no class would do", 100*held)
	return b
}
