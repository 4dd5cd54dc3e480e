package linked

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
)

// world is the data with the questions that are asked of them, and the true answers. It
// is read-only once made.
type world struct {
	kind   catalog.People
	data   *people.Data
	person [][]int32 // table, row: the person, or people.Nobody
	dated  []dates   // of each table
	events []event
	// bands divide the persons by the root's attribute; -1, and one band of all, where the
	// root has no numbers or dates.
	attribute int
	bands     []band
	questions []question
}

// dates are when the rows of a table happened: by their own order, or by that of the
// rows that they belong to.
type dates struct {
	table int     // that has them; -1 for none
	rows  []int32 // of that table, for each row
}

// event is a value in a table, or any row of it: a set of rows.
type event struct {
	name   string
	table  int // people.Root for root records
	rows   []int32
	during *band // of time, on the axis of the table's dates; nil for ever
}

// The times that questions are about.
const (
	Ever = "ever"
	Year = "in one calendar year"
)

// question has a true answer of so many persons.
type question struct {
	family, time, name string
	truth              float64
	ask                func(p published) (plain, weighted float64)
}

// The bounds of what is asked. Relative errors of rarer things say nothing.
const (
	valuesOfColumn = 5  // the most frequent ones
	bandsOfRoot    = 5  // with as many persons each
	cohortEvents   = 8  // of which pairs are asked, the most frequent ones
	fewestTrue     = 20 // persons
)

func newWorld(e Evaluation, d *people.Data) *world {
	w := &world{kind: e.Records.Publication().People, data: d, attribute: -1}
	for i := range d.Tables {
		w.person = append(w.person, personsOf(d, i))
		w.dated = append(w.dated, w.datesOf(i))
	}
	if e.Values == nil {
		return w
	}
	publication := e.Records.Publication()
	w.addEvents(people.Root, publication.Root, e)
	for i, t := range publication.Tables {
		w.addEvents(i, t, e)
		w.events = append(w.events, event{name: "any " + t.Policy.Table.Relation, table: i, rows: all(d.Tables[i].Rows.Len())})
	}
	w.divide()
	w.ask(w.events, Ever)
	w.ask(w.inOneYear(), Year)
	return w
}

// ask asks about events of some time.
func (w *world) ask(events []event, time string) {
	w.askBands(events, time)
	w.askCohorts(events, time)
	w.askRows(events, time)
}

// inOneYear are the events that have dates, within the calendar year of the median date.
func (w *world) inOneYear() []event {
	var events []event
	year := 0
	for _, e := range w.events {
		if !w.isDated(e) {
			continue
		}
		h := w.dateHierarchy(e.table)
		day := dayOf(h)
		if year == 0 {
			year = w.medianYear(e, day)
		}
		at := func(year int) float64 { return daysUntil(year) * day }
		e.name += fmt.Sprintf(" in %d", year)
		e.during = &band{at(year), at(year + 1)}
		events = append(events, e)
	}
	return events
}

func (w *world) isDated(e event) bool { return e.table != people.Root && w.dated[e.table].table >= 0 }

// dateHierarchy is that of the dates of a table's rows.
func (w *world) dateHierarchy(table int) hierarchy.Hierarchy {
	t := w.data.Tables[w.dated[table].table]
	return t.Rows.Attributes()[t.Order].Hierarchy
}

func (w *world) medianYear(e event, day float64) int {
	var days []float64
	for _, row := range e.rows {
		if at, known := w.trueDate(e.table, row); known {
			days = append(days, at/day)
		}
	}
	if len(days) == 0 {
		return epoch.Year()
	}
	return epoch.AddDate(0, 0, int(median(days))).Year()
}

// epoch is day 0 of hierarchies of dates.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// daysUntil is the number of days from the epoch to the beginning of a year.
func daysUntil(year int) float64 {
	return float64(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Unix()-epoch.Unix()) / (24 * 60 * 60)
}

// personsOf gives each row of a table its person, or people.Nobody.
func personsOf(d *people.Data, table int) []int32 {
	t := d.Tables[table]
	if t.Parent == people.Root {
		return t.Of
	}
	above := personsOf(d, t.Parent)
	of := make([]int32, len(t.Of))
	for row, parent := range t.Of {
		if of[row] = people.Nobody; parent != people.Nobody {
			of[row] = above[parent]
		}
	}
	return of
}

func all(n int) []int32 {
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}

func (w *world) datesOf(table int) dates {
	rows := all(w.data.Tables[table].Rows.Len())
	for at := table; ; at = w.data.Tables[at].Parent {
		if at == people.Root {
			return dates{table: -1}
		}
		t := w.data.Tables[at]
		if t.Order >= 0 && t.Rows.Attributes()[t.Order].Hierarchy.Kind() == hierarchy.Date {
			return dates{at, rows}
		}
		for i, row := range rows {
			if row != people.Nobody {
				rows[i] = t.Of[row]
			}
		}
	}
}

// addEvents adds the most frequent values of the table's sensitive columns.
func (w *world) addEvents(table int, p catalog.Publication, e Evaluation) {
	for _, column := range p.Policy.ByRole(catalog.Sensitive) {
		rows := make(map[string][]int32)
		for row, value := range e.Values(p.Policy.Table, column.Name) {
			if value != "" {
				rows[value] = append(rows[value], int32(row))
			}
		}
		values := slices.SortedFunc(maps.Keys(rows), func(a, b string) int {
			return cmp.Or(cmp.Compare(len(rows[b]), len(rows[a])), cmp.Compare(a, b))
		})
		for _, value := range values[:min(len(values), valuesOfColumn)] {
			w.events = append(w.events, event{name: p.Policy.Table.Relation + "." + column.Name + " = " + value, table: table, rows: rows[value]})
		}
	}
}

// personOf is the person of a row of an event.
func (w *world) personOf(e event, row int32) int32 {
	if e.table == people.Root {
		return row
	}
	return w.person[e.table][row]
}

// divide makes bands of the first root attribute that has an order, by its quantiles.
func (w *world) divide() {
	w.bands = []band{{math.Inf(-1), math.Inf(1)}}
	for a, attribute := range w.data.Root.Attributes() {
		if kind := attribute.Hierarchy.Kind(); kind != hierarchy.Date && kind != hierarchy.Numeric {
			continue
		}
		var positions []float64
		for _, c := range w.data.Root.Cells(a) {
			if !hierarchy.IsOffScale(c) {
				positions = append(positions, attribute.Hierarchy.Position(c))
			}
		}
		if len(positions) == 0 {
			continue
		}
		slices.Sort(positions)
		w.attribute, w.bands = a, nil
		from := math.Inf(-1)
		for i := 1; i <= bandsOfRoot; i++ {
			to := math.Inf(1)
			if i < bandsOfRoot {
				to = positions[i*len(positions)/bandsOfRoot]
			}
			w.bands = append(w.bands, band{from, to})
			from = to
		}
		return
	}
}

// owners lists the rows of an event by the person that somebody attributes them to.
func owners[T any](n int, e event, of func(row int32) (owner int32, what T, ok bool)) [][]T {
	lists := make([][]T, n)
	for _, row := range e.rows {
		if owner, what, ok := of(row); ok {
			lists[owner] = append(lists[owner], what)
		}
	}
	return lists
}
