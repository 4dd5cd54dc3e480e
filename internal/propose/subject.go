package propose

import "fmt"

// Subject is a column that may tell which person a record is about.
type Subject struct {
	Column string
	// Why gives the operator the reason.
	Why string
}

// tellsPersonsApart says that a column may say which of several persons, some of
// whom have several records, a record is about.
func tellsPersonsApart(c Column, n counts) bool {
	identifier, _ := isIdentifier(c.Name)
	if !identifier || !isText(c.Type) && !isWhole(c.Type) {
		return false
	}
	return n.distinct > 1 && n.distinct < n.present && n.distinct*visits >= n.present
}

// proposeSubject picks the column of identifiers whose values repeat: one of
// persons by its name before others, then the one with the most values. Nil where
// there is none.
func proposeSubject(columns []Column) *Subject {
	var best *Subject
	bestOfPersons, bestDistinct := false, 0
	for _, c := range columns {
		n := count(c.Values, nil)
		if !tellsPersonsApart(c, n) {
			continue
		}
		_, ofPersons := isIdentifier(c.Name)
		if best != nil && (bestOfPersons && !ofPersons || bestOfPersons == ofPersons && n.distinct <= bestDistinct) {
			continue
		}
		best = &Subject{c.Name, fmt.Sprintf("%d values in %d records: if each is a person, let constraints count persons", n.distinct, n.present)}
		bestOfPersons, bestDistinct = ofPersons, n.distinct
	}
	return best
}
