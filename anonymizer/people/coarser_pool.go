package people

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// enterPool has the rows of an atom published without keys, where anything is.
func (s *coarsening) enterPool(a *atom) {
	t := &s.tables[a.table]
	if s.withheld || t.pool.has(a) {
		return
	}
	t.pool.add(a)
	t.added[a.id] = struct{}{}
}

func (s *coarsening) leavePool(a *atom) {
	t := &s.tables[a.table]
	t.pool.remove(a)
	t.retired = append(t.retired, a.id)
	delete(t.added, a.id)
}

// withholdRows has rows without keys vanish where no person is published, and come back.
func (s *coarsening) withholdRows() {
	before := s.withheld
	if s.withheld = s.groups.Classes() == 0; before == s.withheld {
		return
	}
	for i := range s.tables {
		t := &s.tables[i]
		if s.withheld {
			for _, class := range slices.Clone(t.pool.list) {
				s.leavePool(t.pool.byID[class])
			}
			continue
		}
		for a := range t.keyless {
			s.enterPool(a)
		}
	}
}

// settlePool publishes the rows without keys of a table, in groups of enough persons.
func (s *coarsening) settlePool(ctx context.Context, table int) error {
	t := &s.tables[table]
	if len(t.retired) == 0 && len(t.added) == 0 {
		return nil
	}
	changes, err := t.pool.settle(ctx, t.groups, t.retired, slices.Sorted(maps.Keys(t.added)), s.restoredOf(table))
	if err != nil {
		return fmt.Errorf("uniting rows without keys: %w", err)
	}
	t.retired = nil
	clear(t.added)
	for _, group := range slices.Concat(changes.Retired, changes.Rewrite) {
		for _, id := range t.rows[group] {
			if s.shown[table+1][id].group == group {
				s.hide(table, id)
			}
		}
		delete(t.rows, group)
	}
	for _, group := range changes.Rewrite {
		cell := PublishedCell{ID: s.nextCell(table), Pooled: true, Values: t.pool.shows(t.groups.Generalize(group))}
		for _, class := range t.groups.Members(group) {
			for _, id := range t.pool.byID[class].sorted() {
				s.show(table, id, shownAt{group: group})
				cell.Rows = append(cell.Rows, PublishedRow{ID: id})
				t.rows[group] = append(t.rows[group], id)
			}
		}
		s.changes.Tables[table].Cells = append(s.changes.Tables[table].Cells, cell)
	}
	return nil
}
