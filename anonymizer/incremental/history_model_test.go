package incremental_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// history drives all partitions of a table, one for each independent constraint subset,
// through the same operations, restarts and renewals, and knows on its own what must
// hold.
type history struct {
	t           testing.TB
	random      *rand.Rand
	source      *anonymizertest.Source
	constraints privacy.ConstraintSet // of the whole table
	method      anonymizer.Method
	parts       []*kept
	rows        map[incremental.RecordID]anonymizertest.Row
	roster      *anonymizertest.Roster[incremental.RecordID] // of rows
	next        incremental.RecordID
}

// kept is the partition of one independent subset.
type kept struct {
	component privacy.Component
	table     []anonymizer.Attribute
	partition *incremental.Partition
	shadow    *shadow
	renewal   *incremental.Renewal
}

func newHistory(t testing.TB, random *rand.Rand, source *anonymizertest.Source, constraints privacy.ConstraintSet, method anonymizer.Method) *history {
	h := &history{
		t: t, random: random, source: source, constraints: constraints, method: method,
		rows: map[incremental.RecordID]anonymizertest.Row{}, roster: anonymizertest.NewRoster[incremental.RecordID](),
	}
	components, _ := constraints.Components(len(source.Data.Attributes))
	for _, c := range components {
		part := &kept{component: c, shadow: newShadow()}
		for _, a := range c.Attributes {
			part.table = append(part.table, source.Data.Attributes[a])
		}
		part.partition = h.newPartition(part, 1)
		h.parts = append(h.parts, part)
	}
	return h
}

func (h *history) newPartition(part *kept, first incremental.ClassID) *incremental.Partition {
	o := incremental.Options{Seed: 5, FirstClass: first, Subjects: h.source.Persons > 0}
	return incremental.New(part.table, part.component.Constraints, h.method, o)
}

func (h *history) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatalf("%v with %d records: %v", h.constraints, len(h.rows), err)
	}
}

func (h *history) record(part *kept, id incremental.RecordID) incremental.Record {
	r := h.rows[id]
	record := incremental.Record{ID: id, Sensitive: r.Sensitive, Subject: r.Subject}
	for i, a := range part.component.Attributes {
		record.Cells = append(record.Cells, workload.Encode(part.table[i].Hierarchy, r.Raw[a]))
	}
	return record
}

// all does the same to every part.
func (h *history) all(operation func(part *kept) error) {
	h.t.Helper()
	for _, part := range h.parts {
		h.must(operation(part))
	}
}

func (h *history) insert(id incremental.RecordID, r anonymizertest.Row) {
	h.rows[id] = r
	h.roster.Add(id)
	h.all(func(part *kept) error { return part.partition.Insert(h.record(part, id)) })
}

func (h *history) remove(id incremental.RecordID) {
	delete(h.rows, id)
	h.roster.Remove(id)
	h.all(func(part *kept) error {
		part.shadow.forget(id) // a store deletes it at once
		return part.partition.Delete(id)
	})
}

func (h *history) modify(id incremental.RecordID, r anonymizertest.Row) {
	h.rows[id] = r
	h.all(func(part *kept) error { return part.partition.Modify(h.record(part, id)) })
}

func (h *history) truncate() {
	clear(h.rows)
	h.roster.Clear()
	h.all(func(part *kept) error {
		part.shadow.clear()
		part.partition.Truncate()
		return nil
	})
}

// step does one random operation.
func (h *history) step(growth int) {
	id, exists := h.roster.Any(h.random)
	switch choice := h.random.IntN(12 + growth); {
	case !exists || choice >= 12:
		h.next++
		h.insert(h.next, h.source.Row())
	case choice < 4:
		h.remove(id)
	case choice < 6: // the same record again, or another one of the same id
		r := h.rows[id]
		if choice == 5 {
			r = h.source.Row()
		}
		h.remove(id)
		h.insert(id, r)
	case choice < 7: // what is copied changed, which partitions do not know
		r := h.rows[id]
		r.Copied = []uint64{h.random.Uint64()}
		h.rows[id] = r
		h.all(func(part *kept) error { return part.partition.Touch(id) })
	default:
		r := h.source.Changed(h.rows[id])
		h.modify(id, r)
	}
}

// settle has every part settle and checks everything anew.
func (h *history) settle() {
	h.t.Helper()
	h.proceed()
	h.all(h.check)
}

// proceed has every part settle, and follows.
func (h *history) proceed() {
	h.t.Helper()
	h.all(func(part *kept) error {
		changes, err := part.partition.SettleContext(h.t.Context())
		if err != nil {
			return err
		}
		return h.follow(part, changes)
	})
}

func (h *history) follow(part *kept, c incremental.Changes) error {
	return part.shadow.apply(c, h.rows, part.partition.Generalize)
}

// idle settles again although nothing happened.
func (h *history) idle() {
	h.t.Helper()
	h.all(func(part *kept) error {
		if c := part.partition.Settle(); len(c.Moved)+len(c.Rewrite)+len(c.Retired) > 0 {
			return fmt.Errorf("nothing happened and %+v changed", c)
		}
		return nil
	})
}

// restart builds new partitions of what a store knows. Nothing changes by that.
func (h *history) restart() {
	h.t.Helper()
	h.all(func(part *kept) error {
		loaded := h.newPartition(part, part.partition.NextClass())
		for class, ids := range part.shadow.sorted() {
			for chunk := range slices.Chunk(ids, 1+h.random.IntN(len(ids))) {
				records := make([]incremental.Record, len(chunk))
				for i, id := range chunk {
					records[i] = h.record(part, id)
				}
				if err := loaded.Load(class, records); err != nil {
					return err
				}
			}
		}
		part.partition, part.renewal = loaded, nil
		return nil
	})
	h.idle()
}

// renew begins to make classes afresh, or has the partitions take over those begun
// before.
func (h *history) renew() {
	h.t.Helper()
	h.all(func(part *kept) error {
		if part.renewal == nil {
			part.renewal = part.partition.BeginRenewal()
			return part.renewal.Run(h.t.Context(), nil)
		}
		r := part.renewal
		part.renewal = nil
		return part.partition.FinishRenewal(r)
	})
}

// withhold hides everything for a reason that lies elsewhere.
func (h *history) withhold() {
	h.t.Helper()
	h.all(func(part *kept) error {
		if err := h.follow(part, part.partition.Withhold()); err != nil {
			return err
		}
		if part.partition.Withheld() != len(h.rows) || part.partition.Classes() > 0 {
			return fmt.Errorf("%d of %d records are withheld", part.partition.Withheld(), len(h.rows))
		}
		return part.shadow.check(part.partition, h.rows)
	})
}

// check has the brute force look at every class, from the texts of its records.
func (h *history) check(part *kept) error {
	if err := part.shadow.check(part.partition, h.rows); err != nil {
		return err
	}
	whole := h.group(slices.Collect(maps.Keys(h.rows))).Counted()
	members := part.shadow.sorted()
	if withheld := members[0]; len(withheld) > 0 {
		feasible := anonymizertest.CheckConstraints(whole, whole, part.component.Constraints) == nil
		if feasible || len(members) > 1 {
			return fmt.Errorf("%d records are withheld beside %d classes, feasible: %v", len(withheld), len(members)-1, feasible)
		}
		return nil
	}
	looks := map[string][]incremental.RecordID{} // classes that look alike are one to readers
	for class, ids := range members {
		if h.passesOver(class) {
			continue
		}
		look := fmt.Sprintf("%#v", part.shadow.written[class].box)
		looks[look] = append(looks[look], ids...)
		group := h.group(ids)
		if err := anonymizertest.CheckConstraints(group, whole, part.component.Constraints); err != nil {
			return fmt.Errorf("class %d: %w", class, err)
		}
		if err := anonymizertest.CheckConstraints(group, whole, h.counted(part)); err != nil {
			return fmt.Errorf("class %d: %w", class, err)
		}
		if err := h.checkCovers(part, class, ids); err != nil {
			return fmt.Errorf("class %d: %w", class, err)
		}
	}
	for look, ids := range looks {
		if err := anonymizertest.CheckConstraints(h.group(ids), whole, part.component.Constraints); err != nil {
			return fmt.Errorf("all classes that look like %s: %w", look, err)
		}
	}
	return nil
}

// passesOver leaves one class in 499 where the brute force would count a large table
// once more for each.
func (h *history) passesOver(class incremental.ClassID) bool {
	return h.constraints.Relative() && len(h.rows) > 10_000 && class%499 != 0
}

// counted are the whole table's constraints <QI, K> that speak of the part's attributes.
func (h *history) counted(part *kept) privacy.ConstraintSet {
	var counted privacy.ConstraintSet
	for _, c := range h.constraints {
		k, counts := c.(privacy.KAnonymity)
		within := func(a int) bool { return slices.Contains(part.component.Attributes, a) }
		if counts && (k.Over == nil || slices.ContainsFunc(k.Over, within)) {
			counted = append(counted, k)
		}
	}
	return counted
}

func (h *history) group(ids []incremental.RecordID) anonymizertest.Group {
	rows := make([]anonymizertest.Row, len(ids))
	for i, id := range ids {
		rows[i] = h.rows[id]
	}
	return h.source.Group(rows)
}

func (h *history) checkCovers(part *kept, class incremental.ClassID, ids []incremental.RecordID) error {
	box := part.shadow.written[class].box
	for i, a := range part.component.Attributes {
		texts := make([]string, len(ids))
		for n, id := range ids {
			texts[n] = h.rows[id].Raw[a]
		}
		if err := anonymizertest.CheckGeneralization(h.source.Data.Specs[a], texts, box[i]); err != nil {
			return fmt.Errorf("attribute %d: %w", a, err)
		}
	}
	return nil
}
