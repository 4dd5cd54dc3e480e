package check

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

const (
	// followsShare is the share of what chance leaves, 0 to 1, by which records that are alike in a
	// quasi-identifier agree in a column that follows from it: some values may be mistaken.
	followsShare = 0.9
	// followsOthers is the number of other records that have a record's value of a
	// quasi-identifier, on average, from which on their agreement shows that a column follows from
	// the value. Fewer may all be about one person.
	followsOthers = 9
	// followsPairs is the number of pairs of records below which nothing is said.
	followsPairs = 10
	// followsErrors is the number of standard errors by which records agree more than by chance.
	followsErrors = 4
)

// narrowingAxis are the records that have a value of a quasi-identifier, by its place on the axis.
type narrowingAxis struct {
	hierarchy hierarchy.Hierarchy
	records   []int
	// finest numbers, for each of records, what it is published as at the least, in order.
	finest []int
	// parts are, for each of records, the parts of its value; see partsOf.
	parts [][]string
}

func (n *narrowing) axis(attribute int) narrowingAxis {
	x := narrowingAxis{hierarchy: n.attributes[attribute].Hierarchy}
	cells := n.cells[attribute]
	// Records are not left in the table's order, which may be that of a column.
	for _, i := range rand.New(rand.NewPCG(narrowingSeed, 0)).Perm(len(cells)) {
		if !hierarchy.IsOffScale(cells[i]) {
			x.records = append(x.records, i)
		}
	}
	slices.SortStableFunc(x.records, func(i, j int) int {
		return cmp.Or(cmp.Compare(x.hierarchy.Position(cells[i]), x.hierarchy.Position(cells[j])), cmp.Compare(cells[i], cells[j]))
	})
	numbers := make(map[hierarchy.Generalization]int)
	for at, i := range x.records {
		x.parts = append(x.parts, partsOf(n.texts[attribute][i]))
		if at > 0 && cells[i] == cells[x.records[at-1]] {
			x.finest = append(x.finest, x.finest[at-1])
			continue
		}
		as := x.hierarchy.Generalize([]hierarchy.Cell{cells[i]})
		if _, known := numbers[as]; !known {
			numbers[as] = len(numbers)
		}
		x.finest = append(x.finest, numbers[as])
	}
	return x
}

// narrowingPair are the records on an axis that have a value of a column, too.
type narrowingPair struct {
	hierarchy hierarchy.Hierarchy
	records   []narrowingRecord
}

type narrowingRecord struct {
	cell   hierarchy.Cell
	value  string
	finest int      // as in narrowingAxis
	parts  []string // likewise
}

func (n *narrowing) pair(attribute, column int, x narrowingAxis) narrowingPair {
	p := narrowingPair{hierarchy: x.hierarchy}
	for at, i := range x.records {
		if n.present[column][i] {
			p.records = append(p.records, narrowingRecord{n.cells[attribute][i], n.values[column][i], x.finest[at], x.parts[at]})
		}
	}
	return p
}

// presence are all records on an axis, with whether they have a value of a column.
func (n *narrowing) presence(attribute, column int, x narrowingAxis) narrowingPair {
	p := narrowingPair{hierarchy: x.hierarchy}
	for at, i := range x.records {
		p.records = append(p.records, narrowingRecord{n.cells[attribute][i], strconv.FormatBool(n.present[column][i]), x.finest[at], x.parts[at]})
	}
	return p
}

// told is how much more often records of the same value of the quasi-identifier, or of the same
// part of it, agree in the column than those with the same published value; 0 where the column does
// not follow from it.
func (p narrowingPair) told(share, width float64) float64 {
	agree, follows := p.follows(share)
	if !follows {
		agree, follows = p.followsPart()
	}
	if !follows {
		return 0
	}
	return agree - p.agreeing(width)
}

// ofValues are the records of each value of the quasi-identifier.
func (p narrowingPair) ofValues() (groups [][]narrowingRecord) {
	for i, r := range p.records {
		if i == 0 || r.cell != p.records[i-1].cell {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], r)
	}
	return groups
}

// follows reports whether the column is nearly a function of the quasi-identifier: records of the
// same value agree in it, or it changes in few places of the quasi-identifier's order. How often
// they agree is from 0 to 1. Share is that of the table's records that were read.
func (p narrowingPair) follows(share float64) (agree float64, follows bool) {
	groups := p.ofValues()
	var whole, within agreement
	var steps agreement // of one record of each value with that of the next value
	var first []narrowingRecord
	whole.add(p.records)
	others := 0.0
	for _, group := range groups {
		within.add(group)
		others += float64(len(group)*(len(group)-1)) / share
		first = append(first, group[0])
	}
	if others >= followsOthers*float64(len(p.records)) && within.beyond(whole.share()) {
		return within.share(), true
	}
	if kind := p.hierarchy.Kind(); kind == hierarchy.Categorical || kind == hierarchy.Suppression {
		return 0, false // its order says nothing
	}
	for i := 1; i < len(first); i++ {
		steps.add(first[i-1 : i+1])
	}
	var chance agreement
	chance.add(first)
	return steps.share(), steps.beyond(chance.share())
}

// followsPart reports whether the column is nearly a function of a part of the quasi-identifier,
// as the weekday of a date is, and how often records with the same part agree, 0 to 1.
func (p narrowingPair) followsPart() (agree float64, follows bool) {
	var whole agreement
	whole.add(p.records)
	for part := range partsOfDate {
		groups := make(map[string][]narrowingRecord)
		for _, r := range p.records {
			if part < len(r.parts) {
				groups[r.parts[part]] = append(groups[r.parts[part]], r)
			}
		}
		var within agreement
		for _, group := range groups {
			within.add(group)
		}
		if len(p.records) > followsOthers*len(groups) && within.beyond(whole.share()) {
			return within.share(), true
		}
	}
	return 0, false
}

// partsOfDate is the number of parts that a date has, which is the most.
const partsOfDate = 4

// partsOf are the parts of a value that are not near each other in its order: the weekday, month,
// day and day of the year of a date, and the last characters of anything else.
func partsOf(text string) []string {
	if len(text) >= len(time.DateOnly) {
		if day, err := time.Parse(time.DateOnly, text[:len(time.DateOnly)]); err == nil {
			return []string{day.Weekday().String(), day.Month().String(), day.Format("02"), day.Format("01-02")}
		}
	}
	if len(text) < 2 {
		return nil
	}
	return []string{text[len(text)-1:], text[len(text)-2:]}
}

// agreeing is the share, 0 to 1, of pairs of records with the same published value of the
// quasi-identifier that agree in the column. Classes are estimated: those of a share of the
// table's records that follow each other on the axis.
func (p narrowingPair) agreeing(width float64) float64 {
	// Classes do not tell apart what is always published alike.
	records := slices.Clone(p.records)
	random := rand.New(rand.NewPCG(narrowingSeed, 1))
	random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	slices.SortStableFunc(records, func(a, b narrowingRecord) int { return cmp.Compare(a.finest, b.finest) })
	published := make(map[hierarchy.Generalization][]narrowingRecord)
	for class := range slices.Chunk(records, max(1, int(width*float64(len(records))))) {
		cells := make([]hierarchy.Cell, len(class))
		for i, r := range class {
			cells[i] = r.cell
		}
		as := p.hierarchy.Generalize(cells)
		published[as] = append(published[as], class...)
	}
	var alike agreement
	for _, group := range published {
		alike.add(group)
	}
	return alike.share()
}

// agreement is how often two records of the same group agree in a column.
type agreement struct {
	records, agreeing float64
	// pairs is the number of comparisons of two records that do not follow from each other.
	pairs float64
}

func (a *agreement) add(group []narrowingRecord) {
	if len(group) < 2 {
		return
	}
	counts := make(map[string]int)
	for _, r := range group {
		counts[r.value]++
	}
	others := float64(len(group) - 1)
	for _, n := range counts {
		a.agreeing += float64(n) * float64(n-1) / others
	}
	a.records += float64(len(group))
	a.pairs += others
}

// share is 1 where no two records can be compared.
func (a *agreement) share() float64 {
	if a.records == 0 {
		return 1
	}
	return a.agreeing / a.records
}

// beyond reports whether records agree by followsShare of what chance leaves, and whether they are
// enough to say so. The share is tau of Goodman and Kruskal (Measures of association for cross
// classifications, 1954).
func (a *agreement) beyond(chance float64) bool {
	found := a.share() - chance
	return chance < 1 && a.pairs >= followsPairs && found >= followsShare*(1-chance) &&
		found >= followsErrors*math.Sqrt(chance*(1-chance)/a.pairs)
}
