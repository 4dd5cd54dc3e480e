package sync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
)

// linked shows every commit of the source at once, of several tables about the same persons:
// what is published of a class of persons and a window is written anew where one of their
// rows has changed. The release is that of the group.
type linked struct {
	linkedRelease
	group     *linkedGroup
	audiences []*linkedRelease // coarser ones, in the order of the group's
	buffer    coded            // for one record after the other, where there are many
}

func linkedOf(t *table) *linked {
	s := &linked{linkedRelease: linkedRelease{t: t, part: t.parts[0], number: t.layout.number()}, group: t.group, buffer: t.layout.newCoded()}
	for i := range t.layout.audiences {
		a := &t.layout.audiences[i]
		s.audiences = append(s.audiences, &linkedRelease{t: t, part: newPart(0, s.part.attributes, a.constraints, a.kept), number: s.number, audience: a})
	}
	return s
}

func newLinked(t *table) (*linked, error) {
	if t.group == nil {
		return nil, internal(errors.New("a linked table has no group"))
	}
	s := linkedOf(t)
	return s, s.group.change(func(m *people.Maintained) error { return m.Truncate(s.number) })
}

func (s *linked) code(row []value) *coded {
	s.t.encodeInto(&s.buffer, row, nil)
	return &s.buffer
}

func (s *linked) personRow(id incremental.RecordID, row coded) people.Row {
	return people.Row{ID: id, Key: row.kin.own, Of: row.kin.of, Window: row.kin.window, Cells: row.cells, Sensitive: row.sensitive}
}

func (s *linked) insert(id incremental.RecordID, _ []byte, row coded, _ time.Time) (returned bool, err error) {
	return false, s.group.change(func(m *people.Maintained) error { return m.Insert(s.number, s.personRow(id, row)) })
}

func (s *linked) modify(id incremental.RecordID, row coded, _ time.Time) error {
	return s.group.change(func(m *people.Maintained) error { return m.Modify(s.number, s.personRow(id, row)) })
}

func (s *linked) hash([]byte) keyHash { return keyHash{} }

func (s *linked) remove(id incremental.RecordID, _ keyHash) error {
	return s.group.change(func(m *people.Maintained) error { return m.Delete(s.number, id) })
}

func (s *linked) truncate() {
	_ = s.group.change(func(m *people.Maintained) error { return m.Truncate(s.number) }) // the rows are there
}

func (s *linked) row(id incremental.RecordID) (row coded) {
	_ = s.group.change(func(m *people.Maintained) error {
		r, _ := m.Row(s.number, id)
		row = codedPerson(r)
		return nil
	})
	return row
}

// codedPerson is a row of the group's, until it changes.
func codedPerson(r people.Row) coded {
	return coded{cells: slices.Clone(r.Cells), sensitive: slices.Clone(r.Sensitive), kin: kin{own: r.Key, of: r.Of, window: r.Window}}
}

func (s *linked) settle(ctx context.Context, now time.Time) error {
	shares, err := s.group.settle(ctx, s.number, now)
	if err != nil || shares == nil {
		s.share = nil
		return err
	}
	s.take(shares.own, s.group.whole)
	for i, a := range s.audiences {
		a.followed = shares.audiences[i]
		a.take(&a.followed.GuardedTable, s.group.whole)
	}
	return nil
}

// places: a person's class in the partition and a row's in the pool outlast a restart; so do their groups.
func (s *linked) places() []storeColumn {
	places := []storeColumn{{s.part.column, "bigint"}}
	for _, a := range s.audiences {
		places = append(places, storeColumn{a.audience.groupColumn(0), "bigint"})
	}
	return places
}

func (s *linked) place(ids []incremental.RecordID) []any {
	places := make([]any, 1+len(s.audiences))
	_ = s.group.change(func(m *people.Maintained) error {
		for at := range places {
			of := m.Class
			if at > 0 {
				of = s.group.coarser[at-1].Group
			}
			classes := make([]*int64, len(ids))
			for i, id := range ids {
				classes[i] = storedNumber(int64(of(s.number, id)))
			}
			places[at] = classes
		}
		return nil
	})
	return places
}

func (s *linked) moved() []incremental.RecordID {
	if s.share == nil {
		return nil
	}
	moved := s.share.Moved
	for _, a := range s.audiences {
		if len(a.share.Moved) > 0 {
			moved = slices.Concat(moved, a.share.Moved)
		}
	}
	if len(moved) > len(s.share.Moved) {
		slices.Sort(moved)
		moved = slices.Compact(moved)
	}
	return moved
}

func (s *linked) written() {
	s.share = nil
	for _, a := range s.audiences {
		a.share, a.followed = nil, nil
	}
}

// indexed: rows of the root are found by their numbers. Those of other tables, by far the most, are found
// by what they belong to, whose index readers need anyway: a second one costs as much as the rows.
func (s *linked) indexed() []string { return s.t.linkedIndexed() }

func (t *table) linkedIndexed() []string {
	if t.layout.number() == people.Root {
		return []string{catalog.RowColumn}
	}
	return nil
}

// due is at once where the first release of all tables waits.
func (s *linked) due() time.Time {
	if s.group.ready && !s.group.settled {
		return time.UnixMicro(1)
	}
	return time.Time{}
}

// nextClass: the partition goes on from the classes that it is given.
func (s *linked) nextClass() incremental.ClassID { return 1 }

func (s *linked) status() (status TableStatus) {
	_ = s.group.change(func(m *people.Maintained) error {
		status.Records, status.Classes = m.Len(s.number), m.Classes()
		status.Withheld = status.Records - s.published
		if why := m.Feasible(); why != nil && s.group.settled {
			status.Reason = why.Error()
		}
		status.Audiences = s.audienceStatus(status.Reason)
		return nil
	})
	return status
}

// audienceStatus is empty where there are no audiences. Why says why the table's own readers see nothing.
func (s *linked) audienceStatus(why string) map[string]AudienceStatus {
	if len(s.audiences) == 0 {
		return nil
	}
	all := make(map[string]AudienceStatus, len(s.audiences))
	for i, a := range s.audiences {
		of := s.group.coarser[i]
		if infeasible := of.Feasible(); why == "" && s.group.settled && infeasible != nil {
			why = infeasible.Error() // of those behind, too
		}
		if !a.audience.unseen {
			all[a.audience.name] = AudienceStatus{Classes: of.Classes(), Reason: why}
		}
	}
	return all
}

// publish: what the snapshot has is published with the other tables.
func (s *linked) publish(context.Context, *publisher, *snapshot) error { return nil }

func (s *linked) assignments() func() ([]any, error) { return nothing }

func (s *linked) classes(int) func() ([]any, error) { return nothing }

func nothing() ([]any, error) { return nil, nil }

// load takes the records over, with their classes. What is published of them is made anew.
func (s *linked) load(ctx context.Context, from *storeView, progress func(done int)) error {
	indexes, row := s.t.layout.codedColumns(), make([]value, len(s.t.layout.columns))
	read, numbered := 0, 2+len(s.audiences)
	stored := make([]int64, numbered) // the record, its class, and the group for each audience
	return copyOut(ctx, from.first, numbered+len(indexes), func(values []value) (err error) {
		for i := range stored {
			if stored[i], err = storedID(values[i]); err != nil {
				return err
			}
		}
		id := incremental.RecordID(stored[0])
		spread(row, indexes, values[numbered:])
		if !s.t.keys.add(s.t.keyOf(row), id) {
			return internal(errors.New("two records have the same key"))
		}
		r := s.personRow(id, *s.code(row))
		if err := s.group.restoreRow(s.number, r, stored[1:]); err != nil {
			return internal(err)
		}
		if read++; read%progressRows == 0 {
			progress(read)
		}
		return nil
	}, fmt.Sprintf("SELECT %s, %s, %s FROM %s ORDER BY 1", recordColumn, listed(s.places(), ""), s.t.layout.columns.listOf(indexes), s.t.recordsTable()))
}

// writeRelease writes what has changed for the table's own readers and for audiences.
func (s *linked) writeRelease(to *visibleStatements) {
	if s.share == nil {
		return
	}
	s.write(to)
	for _, a := range s.audiences {
		a.write(to)
	}
}
