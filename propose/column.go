// Package propose drafts a policy for a table from its columns' names, types
// and values: which of them identify, which are quasi-identifying or sensitive,
// and by which hierarchy they can be generalized. A draft is to be read by
// somebody who knows the data: it errs on the side of protection and never calls
// a column insensitive.
package propose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
)

// Column is a column as it was found.
type Column struct {
	Name string
	// Type is the SQL type without modifiers: text, integer, numeric, date, ...
	Type string
	// Key says that the column belongs to the table's key.
	Key bool
	// Values are the column's texts, "" for a missing value; all of them or a
	// sample.
	Values []string
	// Note is what else is to be said of the column, "" for nothing.
	Note string
}

// Choice is what is proposed for a column.
type Choice struct {
	Column string
	Role   catalog.Role
	// Kind is the hierarchy of a quasi-identifying column.
	Kind hierarchy.Kind
	// Labels are the frequent values of a categorical column, most frequent first:
	// material for a taxonomy. Rare values are left out, since a policy is shown
	// around.
	Labels []string
	// Why says it to the operator, and Note what else there is to say.
	Why, Note string
}

// counts is what the decision is made from.
type counts struct {
	present, distinct, length int
	frequency                 map[string]int
}

func count(values []string) counts {
	c := counts{frequency: map[string]int{}}
	for _, v := range values {
		if v == "" {
			continue
		}
		c.present++
		c.length += len(v)
		c.frequency[v]++
	}
	c.distinct = len(c.frequency)
	return c
}

const (
	// nearlyUnique is the share of distinct values from which a column picks out
	// single records.
	nearlyUnique = 0.9
	// fewValues is how many distinct values a list of categories has at most.
	fewValues = 100
	// longText is the mean length in bytes from which a text is taken for prose.
	longText = 40
	// rare is the number of records below which a value is not repeated in a policy.
	rare = 10
	// visits is how many records a person has on average, at most, in a column
	// that is taken for one of persons.
	visits = 20
)

// Choose proposes a role for a column.
func Choose(c Column) Choice {
	n := count(c.Values)
	choice := Choice{Column: c.Name, Note: c.Note}
	identifies := func(why string) Choice {
		choice.Role, choice.Why = catalog.Identifying, why
		return choice
	}
	meaning := meaningOf(c.Name)
	textual := isText(c.Type)
	switch {
	case c.Key:
		return identifies("the key: not published")
	case meaning == direct:
		return identifies("by its name, it says who somebody is")
	case !textual && kindOf(c.Type) == hierarchy.Suppression:
		return identifies(fmt.Sprintf("values of type %s cannot be generalized: not published", c.Type))
	case textual && n.present > 0 && n.length/n.present >= longText:
		return identifies("long texts: they can say anything")
	case meaning == secret && textual && n.nearlyUnique():
		return identifies("nearly every text is different: published as they are, they would tell persons apart")
	case meaning == secret:
		choice.Role, choice.Why = catalog.Sensitive, "by its name, what must not become known of a person"
		return choice
	case meaning == unknown && tellsPersonsApart(c, n):
		return identifies("it seems to tell persons apart")
	case meaning == unknown && textual && isOfPersons(c.Name):
		return identifies("by its name, it says whom a record is about")
	case meaning == unknown && n.nearlyUnique() && (textual || isWhole(c.Type)):
		return identifies(fmt.Sprintf("nearly every value is different (%d of %d): it can work like a key", n.distinct, n.present))
	}
	choice.Role = catalog.QuasiIdentifying
	choice.Why = "not recognized: others may know it of a person"
	if meaning == known {
		choice.Why = "by its name, others know it of a person"
	}
	choice.Kind = kindOf(c.Type)
	switch {
	case textual:
		choice.Kind = textKind(n)
	case isWhole(c.Type) && isCode(c.Name):
		choice.Kind = hierarchy.Prefix
	}
	if choice.Kind == hierarchy.Categorical {
		choice.Labels = n.frequent()
	}
	return choice
}

// nearlyUnique says that nearly every value is another one.
func (n counts) nearlyUnique() bool {
	return n.present >= rare && float64(n.distinct) >= nearlyUnique*float64(n.present)
}

func isText(sqlType string) bool {
	return slices.Contains([]string{"text", "varchar", "character varying", "bpchar", "character", "name", "uuid", "citext"}, sqlType)
}

func isWhole(sqlType string) bool {
	return slices.Contains([]string{"smallint", "integer", "bigint"}, sqlType)
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

// textKind takes many codes of one length with a digit each, such as postcodes,
// for prefixes, all else for categories.
func textKind(n counts) hierarchy.Kind {
	length := -1
	for v := range n.frequency {
		if !strings.ContainsAny(v, "0123456789") || length >= 0 && len(v) != length {
			return hierarchy.Categorical
		}
		length = len(v)
	}
	if n.distinct > 1 && length > 2 {
		return hierarchy.Prefix
	}
	return hierarchy.Categorical
}

// frequent are the values that are not rare, most frequent first, none where
// there are too many to arrange.
func (n counts) frequent() []string {
	if n.distinct > fewValues {
		return nil
	}
	var labels []string
	for v, count := range n.frequency {
		if count >= rare {
			labels = append(labels, v)
		}
	}
	slices.SortFunc(labels, func(a, b string) int {
		if d := n.frequency[b] - n.frequency[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return labels
}
