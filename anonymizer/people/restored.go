package people

import (
	"context"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// restored are the classes of rows that were restored, until the next Settle: a person's
// values depend on rows that may be restored later, and so does whose a row is.
type restored map[int]map[incremental.RecordID]incremental.ClassID

func (r *restored) add(table int, id incremental.RecordID, class incremental.ClassID) {
	if *r == nil {
		*r = make(restored)
	}
	if (*r)[table] == nil {
		(*r)[table] = make(map[incremental.RecordID]incremental.ClassID)
	}
	(*r)[table][id] = class
}

// class is that of a restored row, or 0.
func (r restored) class(table int, id incremental.RecordID) incremental.ClassID {
	return r[table][id]
}

// take forgets a restored row and returns its class, or 0.
func (r restored) take(table int, id incremental.RecordID) incremental.ClassID {
	class := r[table][id]
	delete(r[table], id)
	return class
}

// Restore is Insert of a row that had a class before a restart, as returned by Class; it is meant
// for the start. Versions before and after then divide persons in the same way; otherwise two
// divisions together could single somebody out. What is published of restored rows is made anew,
// with other pseudonyms.
func (m *Maintained) Restore(table int, r Row, class incremental.ClassID) error {
	return m.insert(table, r, class)
}

// Class is the class of a person in the partition or, of another table, of a row in the
// pool; 0 without one.
func (m *Maintained) Class(table int, id incremental.RecordID) incremental.ClassID {
	if class := m.restored.class(table, id); class != 0 {
		return class
	}
	if table == Root {
		return m.partition.ClassOf(id)
	}
	if slot := m.tables[table].find(id); slot != none && m.tables[table].state[slot].pooled() {
		return m.pools[table].ClassOf(id)
	}
	return 0
}

// Row is a row as it was inserted; false if there is none. Its Key is zero where no table is
// below. The row is not to be changed, and holds until the next change.
func (m *source) Row(table int, id incremental.RecordID) (Row, bool) {
	t := m.relation(table)
	slot := t.find(id)
	if slot == none {
		return Row{}, false
	}
	r := Row{ID: id, Window: t.window[slot], Cells: t.cells.Row(slot), Sensitive: t.sensitive.Row(slot), Key: t.keys.of(slot)}
	if table != Root {
		r.Of = m.ofKey(table, slot)
	}
	return r, true
}

// restorePersons puts restored persons into their classes, all of which are published anew.
func (s *settling) restorePersons() error {
	for _, id := range sortedKeys(s.restored[Root]) {
		class := s.restored.take(Root, id)
		r := incremental.Record{ID: id, Cells: s.personCells(s.root.find(id))}
		if err := s.partition.Load(class, []incremental.Record{r}); err != nil {
			return err
		}
	}
	touchAll(s.partition)
	return nil
}

// touchAll has all classes written anew.
func touchAll(p *incremental.Partition) {
	for i := range p.Classes() {
		p.TouchClass(p.ClassAt(i))
	}
}

// pool settles a table's pool, of which all is published anew after a restart.
func (s *settling) pool(ctx context.Context, table int) (incremental.Changes, error) {
	if s.restored != nil {
		touchAll(s.pools[table])
	}
	return s.pools[table].SettleContext(ctx)
}
