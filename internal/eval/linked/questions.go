package linked

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/people"
)

// The families of questions.
const (
	Bands   = "persons with a value, by band of the root"
	Cohorts = "persons with A, then B within days"
	Rows    = "persons with so many rows"
)

var families = []string{Bands, Cohorts, Rows}

// Answer is what a release answers to one question about how many persons there are.
type Answer struct {
	Family   string  `json:"family"`
	Time     string  `json:"time"`
	Question string  `json:"question"`
	Truth    float64 `json:"truth"`
	// Plain answers as the question is typed for the source, where one value stands for a
	// range; Weighted by how likely it is within the ranges.
	Plain    float64 `json:"plain"`
	Weighted float64 `json:"weighted"`
}

// Summary is how far the answers of a family are off. Errors are relative to the truth.
type Summary struct {
	Family         string  `json:"family"`
	Time           string  `json:"time"`
	Questions      int     `json:"questions"`
	PlainMedian    float64 `json:"plain_median"`
	PlainWorst     float64 `json:"plain_worst"`
	WeightedMedian float64 `json:"weighted_median"`
	WeightedWorst  float64 `json:"weighted_worst"`
}

// answers asks all questions of a release.
func (w *world) answers(r *people.Release) []Answer {
	p := w.publish(r)
	answers := []Answer{}
	for _, q := range w.questions {
		a := Answer{Family: q.family, Time: q.time, Question: q.name, Truth: q.truth}
		a.Plain, a.Weighted = q.ask(p)
		answers = append(answers, a)
	}
	return answers
}

func summarize(answers []Answer) []Summary {
	summaries := []Summary{}
	for _, time := range []string{Ever, Year} {
		for _, family := range families {
			of := slices.DeleteFunc(slices.Clone(answers), func(a Answer) bool { return a.Family != family || a.Time != time })
			if len(of) > 0 {
				summaries = append(summaries, summaryOf(of))
			}
		}
	}
	return summaries
}

func summaryOf(answers []Answer) Summary {
	var plain, weighted []float64
	for _, a := range answers {
		plain = append(plain, math.Abs(a.Plain-a.Truth)/a.Truth)
		weighted = append(weighted, math.Abs(a.Weighted-a.Truth)/a.Truth)
	}
	return Summary{
		Family: answers[0].Family, Time: answers[0].Time, Questions: len(answers),
		PlainMedian: median(plain), PlainWorst: slices.Max(plain), WeightedMedian: median(weighted), WeightedWorst: slices.Max(weighted),
	}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// askIf adds a question that enough persons are about.
func (w *world) askIf(family, time, name string, truth float64, ask func(published) (plain, weighted float64)) {
	if truth >= fewestTrue {
		w.questions = append(w.questions, question{family, time, name, truth, ask})
	}
}

// askBands asks how many persons of each band have an event.
func (w *world) askBands(events []event, time string) {
	if w.attribute < 0 {
		return
	}
	attribute := w.data.Root.Attributes()[w.attribute]
	for _, e := range events {
		for i, b := range w.bands {
			truth := 0.0
			for person, rows := range w.truly(e) {
				if len(rows) > 0 && b.holds(attribute.Hierarchy.Position(w.data.Root.Cells(w.attribute)[person])) {
					truth++
				}
			}
			unit := unitOf(attribute.Hierarchy)
			w.askIf(Bands, time, fmt.Sprintf("%s, %s in fifth %d", e.name, attribute.Name, i+1), truth, func(p published) (plain, weighted float64) {
				for owner, rows := range p.holders(e) {
					at, known := p.root[owner], p.rooted[owner]
					if len(rows) == 0 || !known {
						continue
					}
					if b.holds(at.middle) {
						plain++
					}
					weighted += b.share(at, unit)
				}
				return plain, weighted
			})
		}
	}
}

// truly lists the rows of an event by persons.
func (w *world) truly(e event) [][]int32 {
	return owners(w.data.Root.Len(), e, func(row int32) (int32, int32, bool) {
		person := w.personOf(e, row)
		return person, row, person != people.Nobody && w.trulyDuring(e, row)
	})
}

func (w *world) trulyDuring(e event, row int32) bool {
	if e.during == nil {
		return true
	}
	at, known := w.trueDate(e.table, row)
	return known && e.during.holds(at)
}

// askCohorts asks how many persons have one event, and another one some days later.
func (w *world) askCohorts(events []event, time string) {
	events = slices.DeleteFunc(slices.Clone(events), func(e event) bool { return !w.isDated(e) })
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(len(b.rows), len(a.rows)) })
	events = events[:min(len(events), cohortEvents)]
	for _, a := range events {
		for _, b := range events {
			for _, days := range []float64{30, 90} {
				w.askCohort(a, b, days, time)
			}
		}
	}
}

func (w *world) askCohort(a, b event, days float64, time string) {
	axis := w.dateHierarchy(a.table)
	day, unit := dayOf(axis), unitOf(axis)
	if dayOf(w.dateHierarchy(b.table)) != day {
		return // dates and points in time: questions about both need a cast
	}
	truth := 0.0
	first, second := w.trueDates(a), w.trueDates(b)
	for person := range first {
		if plain, _ := follows(first[person], second[person], days*day, unit); plain {
			truth++
		}
	}
	name := fmt.Sprintf("%s, then %s within %g days", a.name, b.name, days)
	w.askIf(Cohorts, time, name, truth, func(p published) (plain, weighted float64) {
		first, second := p.dates(a), p.dates(b)
		for owner := range first {
			is, chance := follows(first[owner], second[owner], days*day, unit)
			if is {
				plain++
			}
			weighted += chance
		}
		return plain, weighted
	})
}

// dated is when a row happened.
type dated struct {
	moment
	row, of row // of is the row that has the date: the row itself, or one that it belongs to
}

// row is a row of one of the tables.
type row struct {
	table int
	row   int32
}

// trueDates are the dates of an event by persons.
func (w *world) trueDates(e event) [][]dated {
	return owners(w.data.Root.Len(), e, func(row int32) (int32, dated, bool) {
		at, known := w.trueDate(e.table, row)
		person := w.personOf(e, row)
		return person, w.datedBy(e, row, moment{at, at, at}), known && person != people.Nobody && w.trulyDuring(e, row)
	})
}

func (w *world) datedBy(e event, r int32, at moment) dated {
	from := w.dated[e.table]
	return dated{at, row{e.table, r}, row{from.table, from.rows[r]}}
}

func (w *world) trueDate(table int, row int32) (at float64, known bool) {
	dates := w.dated[table]
	if of := dates.rows[row]; of != people.Nobody {
		t := w.data.Tables[dates.table]
		at = t.Rows.Attributes()[t.Order].Hierarchy.Position(t.Rows.Cells(t.Order)[of])
		return at, !math.IsNaN(at)
	}
	return 0, false
}

// follows reports whether a row of the second list is at most some distance after one of
// the first, by the values that stand for ranges, and how likely it is by the ranges.
func follows(first, second []dated, distance, unit float64) (plain bool, chance float64) {
	none := 1.0
	for i, a := range first {
		for j, b := range second {
			if a.row == b.row {
				continue
			}
			both := i < len(second) && j < len(first) && second[i].row == a.row && first[j].row == b.row
			if a.of == b.of { // one visit's rows, say, which its key shows
				return true, 1
			}
			if after := b.middle - a.middle; after >= 0 && after <= distance {
				plain = true
			}
			likely := within(a.moment, b.moment, distance, unit)
			switch {
			case both && i > j:
				continue // looked at the other way round, of which one excludes the other
			case both:
				likely += within(b.moment, a.moment, distance, unit)
			}
			none *= 1 - min(1, max(0, likely))
		}
	}
	return plain, 1 - none
}

// askRows asks how many persons have so many rows of a table.
func (w *world) askRows(events []event, time string) {
	for _, e := range events {
		if e.table == people.Root {
			continue
		}
		for _, least := range []int{1, 2, 3, 5, 10, 30} {
			count := func(lists [][]int32) float64 {
				n := 0.0
				for _, rows := range lists {
					if len(rows) >= least {
						n++
					}
				}
				return n
			}
			w.askIf(Rows, time, fmt.Sprintf("%s, %d times or more", e.name, least), count(w.truly(e)), func(p published) (plain, weighted float64) {
				n := count(p.holders(e))
				return n, n
			})
		}
	}
}
