package lineage_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
)

// shownRow is a published row with what it showed when it was new.
type shownRow struct {
	id     lineage.RowID
	class  incremental.ClassID
	person uint32
	record incremental.RecordID
	member *member // whose it is, or was
	values anonymizertest.Row

	sealed bool
	since  int       // the version that has it first
	until  int       // the version without it; 0 while it is published
	next   *shownRow // the one that took its place in that version, if any
	how    string    // which columns of its record had changed until then
}

// shownClass is a published class.
type shownClass struct {
	box    []hierarchy.Generalization
	weight lineage.Weight
	ever   []*shownRow // of all versions
	rows   int         // of the present one
}

// journal is a store that knows what is published by Changes alone. Classes that are
// gone stay, as a reader remembers them.
type journal struct {
	version int
	rows    map[lineage.RowID]*shownRow // of the present version
	classes map[incremental.ClassID]*shownClass
	places  map[incremental.RecordID]lineage.Place
	last    incremental.ClassID                    // the greatest class id so far
	weights int                                    // that were published
	told    map[incremental.ClassID]lineage.Weight // of groups, and of the table
}

func newJournal() *journal {
	return &journal{
		rows:    map[lineage.RowID]*shownRow{},
		classes: map[incremental.ClassID]*shownClass{},
		places:  map[incremental.RecordID]lineage.Place{},
		told:    map[incremental.ClassID]lineage.Weight{0: {Share: 1}},
	}
}

// apply makes the next version of the present one. Members tells whose the records
// are, and what they are now.
func (j *journal) apply(c lineage.Changes, members map[incremental.RecordID]*member) error {
	j.version++
	if !slices.IsSorted(c.Gone) {
		return errors.New("rows that are gone are not in order")
	}
	for i, id := range c.Gone {
		r, shown := j.rows[id]
		if !shown {
			return fmt.Errorf("row %d is gone and was not there", id)
		}
		if len(c.GoneFrom) != len(c.Gone) || c.GoneFrom[i] != r.class {
			return fmt.Errorf("row %d is gone from another class than its own", id)
		}
		r.until = j.version
		j.classes[r.class].rows--
		delete(j.rows, id)
	}
	for _, id := range slices.Sorted(maps.Keys(c.Classes)) {
		if id <= j.last {
			return fmt.Errorf("class %d is new after class %d", id, j.last)
		}
		j.last = id
		j.classes[id] = &shownClass{box: c.Classes[id], weight: lineage.Weight{Share: 1}}
	}
	for _, n := range c.Rows {
		if err := j.show(n, c, members[n.Record]); err != nil {
			return fmt.Errorf("row %d: %w", n.ID, err)
		}
	}
	for id := range c.Classes {
		if j.classes[id].rows == 0 {
			return fmt.Errorf("new class %d has no rows", id)
		}
	}
	for id, weight := range c.Weights {
		if id <= 0 {
			if weight == j.told[id] || id == 0 && (weight.Share <= 0 || weight.Share > 2) {
				return fmt.Errorf("weight %v of group %d after %v", weight, id, j.told[id])
			}
			if j.told[id] = weight; id < 0 && weight == (lineage.Weight{}) {
				delete(j.told, id)
			}
			continue
		}
		class, known := j.classes[id]
		if !known || class.rows == 0 {
			return fmt.Errorf("class %d has a weight and is not there", id)
		}
		if weight.Share <= 0 || weight.Share > 1 || weight == class.weight {
			return fmt.Errorf("class %d has weight %v after %v", id, weight, class.weight)
		}
		class.weight = weight
		j.weights++
	}
	for id, place := range c.Places() {
		if members[id] == nil {
			return fmt.Errorf("record %d has a place and does not exist", id)
		}
		j.places[id] = place
	}
	return nil
}

func (j *journal) show(n lineage.NewRow, c lineage.Changes, m *member) error {
	if _, created := c.Classes[n.Class]; !created {
		return fmt.Errorf("it is new in class %d, which is not", n.Class)
	}
	if _, twice := j.rows[n.ID]; twice || n.ID < 1 {
		return errors.New("its id is in use")
	}
	if m == nil {
		return fmt.Errorf("record %d does not exist", n.Record)
	}
	r := &shownRow{id: n.ID, class: n.Class, person: n.Person, record: n.Record, member: m, values: m.values, sealed: n.Sealed, since: j.version}
	if m.row != nil {
		if m.row.until != j.version {
			return fmt.Errorf("record %d has one already", n.Record)
		}
		m.row.next, m.row.how = r, m.parted
	}
	m.row = r
	j.rows[n.ID] = m.row
	class := j.classes[n.Class]
	class.ever = append(class.ever, m.row)
	class.rows++
	return nil
}

// present are the rows of a class in the present version.
func (c *shownClass) present() []*shownRow {
	var rows []*shownRow
	for _, r := range c.ever {
		if r.until == 0 {
			rows = append(rows, r)
		}
	}
	return rows
}

// course tells what becomes of a row and of those that take its place.
func (r *shownRow) course() string {
	course := strconv.Itoa(r.until)
	if r.next != nil {
		course += fmt.Sprintf(" %q changed, class %d: %s", r.how, r.next.class, r.next.course())
	}
	return course
}

// stored is what a lineage is loaded from.
func (j *journal) stored(members map[incremental.RecordID]*member, record func(*member) lineage.Record) (
	rows []lineage.StoredRow, weights map[incremental.ClassID]lineage.Weight, records []lineage.StoredRecord,
) {
	weights = map[incremental.ClassID]lineage.Weight{}
	asStored := func(id incremental.ClassID, w lineage.Weight) {
		w.Share = float64(float32(w.Share)) // as PostgreSQL's real keeps it
		weights[id] = w
	}
	for id, w := range j.told {
		asStored(id, w)
	}
	for _, id := range slices.Sorted(maps.Keys(j.rows)) {
		r := j.rows[id]
		rows = append(rows, lineage.StoredRow{ID: id, Class: r.class, Person: r.person, Sensitive: r.values.Sensitive, Sealed: r.sealed})
		if w := j.classes[r.class].weight; w.Share != 1 {
			asStored(r.class, w)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(members)) {
		records = append(records, lineage.StoredRecord{Record: record(members[id]), Place: j.places[id]})
	}
	return rows, weights, records
}

// weighed adds up the weights of all rows, as readers see them.
func (j *journal) weighed() (sum float64) {
	table := 1.0
	if w, told := j.told[0]; told {
		table = w.Share
	}
	for _, r := range j.rows {
		sum += lineage.Rated(j.classes[r.class].weight.Share, table)
	}
	return sum
}
