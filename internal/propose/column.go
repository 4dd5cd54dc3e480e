// Package propose drafts a policy for a database: which tables have personal data, and for each
// column, from its name, type and values, whether it is identifying, quasi-identifying or
// sensitive, and which hierarchy generalizes it. Somebody who knows the data has to review
// a draft: it errs on the side of protection and never calls a column insensitive.
package propose

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/propose/pattern"
)

// Column describes a column of a table.
type Column struct {
	Name string
	// Type is the SQL type without modifiers: text, integer, numeric, date, ...
	Type string
	// Key says that the column belongs to the table's key.
	Key bool
	// Enum says that the type is an enumeration, Generated that the column is made from
	// others.
	Enum, Generated bool
	// References is the table that the column's values come from, if the database or the
	// column's name says so; the zero Name for none. ToPersons says that this is a table
	// with data of persons.
	References catalog.Name
	ToPersons  bool
	// Values are the column's texts, "" for a missing value; all of them or a
	// sample.
	Values []string
	// Note is a further remark on the column, "" for none.
	Note string
}

// Choice is what is proposed for a column.
type Choice struct {
	Column string
	// Role is 0 for a column that a policy must not name.
	Role catalog.Role
	// Spec generalizes a quasi-identifying column; its Domain is not set.
	Spec hierarchy.Spec
	// Labels are the frequent values of a categorical column without a taxonomy, most
	// frequent first: material for one. Rare values are left out, since a policy is shown
	// around.
	Labels []string
	// Option is another hierarchy that the operator may want instead, as YAML; empty for
	// none.
	Option string
	// Why gives the operator the reason, and Note a further remark.
	Why, Note string
	// Unsure says that the choice is a guess that the operator should review first.
	Unsure bool
}

func choose(c Column, n counts, k int) Choice {
	choice := Choice{Column: c.Name, Note: c.Note}
	if role, why, unsure := roleOf(c, n); role != catalog.QuasiIdentifying {
		choice.Role, choice.Why, choice.Unsure = role, why, unsure
		return choice
	}
	choice.Role = catalog.QuasiIdentifying
	choice.Why, choice.Unsure = "not recognized: others may know it of a person", true
	if concept := conceptOf(c.about()); concept != nil && concept.meaning == known {
		choice.Why, choice.Unsure = "by its name, "+concept.name+": others know it of a person", false
	}
	choice.generalize(c, n, k)
	return choice
}

// roleOf returns the role of a column, the reason, and whether it is a guess. It gives no reason
// for quasi-identifying columns, which are those that remain.
func roleOf(c Column, n counts) (role catalog.Role, why string, unsure bool) {
	concept := conceptOf(c.about())
	meaning := meaningOf(c.about())
	textual := c.Enum || isText(c.Type)
	switch {
	case !writable(c.Name):
		return 0, "its name has a control character: no policy can name it", false
	case c.Generated:
		return 0, "a generated column, which logical replication leaves out: name the columns that it is made from", false
	case c.Key:
		return catalog.Identifying, "the key: not published", false
	case c.ToPersons:
		return catalog.Identifying, "says whom the record is about: it refers to " + c.References.String(), false
	case isNever(c.Type) && !c.Enum:
		return catalog.Identifying, fmt.Sprintf("values of type %s cannot be generalized: not published", c.Type), false
	}
	if textual || isWhole(c.Type) || c.Type == "numeric" {
		if p, found := pattern.Of(n.values()); found && (!isWhole(c.Type) || c.References == catalog.Name{}) {
			return catalog.Identifying, "its values are " + p.Name, false
		}
	}
	switch {
	case meaning == direct && namesThing(c, concept, n):
		return catalog.Identifying, "by its name, " + concept.name, false
	case textual && !c.Enum && isProse(n):
		return catalog.Identifying, "long texts: they can say anything", false
	case textual && 50*pattern.Within(n.values()) >= max(1, n.distinct):
		return catalog.Identifying, "some of its texts have e-mail addresses or phone numbers in them", false
	case textual && n.distinct >= 5 && (concept == nil && 4*namesAmong(n.values()) >= 1 || 2*namesAmong(n.values()) >= 1):
		return catalog.Identifying, "many of its texts have a given name in them", true
	case meaning == secret && textual && n.mostlyUnique():
		return catalog.Identifying, "nearly every text is different: published as they are, they would tell persons apart", true
	case meaning == secret:
		return catalog.Sensitive, "by its name, " + concept.name + ": what must not become known of a person", false
	case meaning == known:
		return catalog.QuasiIdentifying, "", false
	}
	return roleOfUnknown(c, n, textual)
}

// writable says that a configuration can have the name.
func writable(name string) bool { return !strings.ContainsFunc(name, unicode.IsControl) }

// roleOfUnknown is the role of a column whose name has no known meaning.
func roleOfUnknown(c Column, n counts, textual bool) (role catalog.Role, why string, unsure bool) {
	switch {
	case tellsPersonsApart(c, n):
		return catalog.Identifying, "it seems to tell persons apart", true
	case textual && isOfPersons(c.Name):
		return catalog.Identifying, "by its name, it says whom a record is about", false
	case n.nearlyUnique() && (textual || isWhole(c.Type)):
		return catalog.Identifying, fmt.Sprintf("nearly every value is different (%d of %d): it can work like a key", n.distinct, n.present), true
	case textual && isDiagnoses(n):
		return catalog.Sensitive, "its values look like diagnoses (ICD-10): what must not become known of a person", true
	case textual && n.distinct > fewValues && textKind(n) != hierarchy.Prefix:
		return catalog.Identifying, fmt.Sprintf("%d different texts are too many for categories, and some may name somebody", n.distinct), true
	}
	return catalog.QuasiIdentifying, "", false
}

// about is the name of the column; of one that refers to a table without data of persons,
// what it refers to: the department of department_id, and the gender of gender_concept_id.
func (c Column) about() string {
	if of, found := strings.CutSuffix(strings.ToLower(c.Name), "_concept_id"); found {
		return of
	}
	if c.References == (catalog.Name{}) || c.ToPersons {
		return c.Name
	}
	words := split(c.Name)
	if last := len(words) - 1; last > 0 && slices.Contains([]string{"id", "key", "fk", "no", "nr", "code", "uuid"}, words[last]) {
		return strings.Join(words[:last], "_")
	}
	return c.Name
}

// namesThing says that a column whose name is that of something that identifies holds it,
// not a kind or a state of it, as few values do: Private and Medicare are no insurance
// numbers. Of names, few values are those of few people.
func namesThing(c Column, concept *concept, n counts) bool {
	if isTemporal(c.Type) || c.Type == "boolean" {
		return false
	}
	few := n.present >= rare && n.distinct <= 20 && rare*n.distinct <= n.present
	return !few || !isQualified(c.Name) && !slices.Contains([]string{aNumber, anAccount}, concept.name)
}

// isProse says that texts are long, or that most are different and of several words.
func isProse(n counts) bool {
	if n.present == 0 {
		return false
	}
	if n.meanLength() >= longText {
		return true
	}
	spaces := 0
	values := n.values()
	for _, v := range values {
		spaces += strings.Count(v, " ")
	}
	return n.nearlyUnique() && spaces >= 3*len(values)
}

func isDiagnoses(n counts) bool {
	codes := 0
	values := n.values()
	for _, v := range values {
		if len(v) >= 3 && v[0] >= 'A' && v[0] <= 'Z' && isDigits(v[1:3]) && (len(v) == 3 || v[3] == '.' || len(v) <= 7 && isDigits(v[3:4])) {
			codes++
		}
	}
	return n.distinct >= 10 && 10*codes >= 9*len(values)
}

func isDigits(text string) bool { return strings.Trim(text, "0123456789") == "" }

func isText(sqlType string) bool {
	return slices.Contains([]string{"text", "varchar", "character varying", "bpchar", "character", "name", "uuid", "citext", "public.citext"}, sqlType)
}

func isWhole(sqlType string) bool {
	return slices.Contains([]string{"smallint", "integer", "bigint"}, sqlType)
}

func isTemporal(sqlType string) bool {
	return sqlType == "date" || strings.HasPrefix(sqlType, "time") || sqlType == "interval"
}

// isNever reports whether values of a type have no hierarchy and can contain anything.
func isNever(sqlType string) bool {
	return sqlType == "uuid" || !isText(sqlType) && kindOf(sqlType) == hierarchy.Suppression
}

// kindOf is the hierarchy for a type that is not text; Suppression for one that
// has no better.
func kindOf(sqlType string) hierarchy.Kind {
	switch {
	case isWhole(sqlType) || slices.Contains([]string{"numeric", "real", "double precision"}, sqlType):
		return hierarchy.Numeric
	case sqlType == "date" || strings.HasPrefix(sqlType, "timestamp"):
		return hierarchy.Date
	case sqlType == "boolean":
		return hierarchy.Categorical
	default:
		return hierarchy.Suppression
	}
}
