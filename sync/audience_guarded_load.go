package sync

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/catalog"
)

// loadAudiences takes over what the store has of the releases for audiences, each after that before it.
func (s *guarded) loadAudiences(ctx context.Context, from *storeView) error {
	for _, a := range s.audiences {
		if err := a.load(ctx, s, from); err != nil {
			return fmt.Errorf("for audience %s: %w", a.audience.name, err)
		}
		s.overdue = s.overdue || a.release.Overdue()
	}
	return nil
}

func (a *coarserRelease) load(ctx context.Context, s *guarded, from *storeView) error {
	of := a.audience.coarserTables(s.t.release.generation)
	rows, err := s.loadCoarserRows(ctx, from, of[0])
	if err != nil {
		return err
	}
	weights := make(map[incremental.ClassID]lineage.Weight)
	err = readWeights(ctx, from.first, of[1], s.part.column, func(class int64, share float64, ghosts, persons int) {
		weights[incremental.ClassID(class)] = lineage.Weight{Share: share, Ghosts: ghosts, Persons: persons}
	})
	if err != nil {
		return err
	}
	units, err := loadUnits(ctx, from, of[2])
	if err != nil {
		return err
	}
	parted := make(map[lineage.RowID]lineage.RowID)
	err = copyOut(ctx, from.first, 2, func(values []value) error {
		var ids [2]int64
		if err := numbersIn(ids[:], values); err != nil {
			return err
		}
		parted[lineage.RowID(ids[0])] = lineage.RowID(ids[1])
		return nil
	}, fmt.Sprintf("SELECT %s, now FROM %s", catalog.RowColumn, of[3]))
	if err != nil {
		return err
	}
	if err := a.loadNextClass(ctx, s, from); err != nil {
		return err
	}
	if err := a.release.Load(rows, parted, units, weights); err != nil {
		return internal(err)
	}
	return nil
}

// loadNextClass reads the number of the next class. Where the store has none, it is behind those of the rows.
func (a *coarserRelease) loadNextClass(ctx context.Context, s *guarded, from *storeView) error {
	return copyOut(ctx, from.first, 1, func(values []value) error {
		next, err := storedID(values[0])
		if err == nil && next > 0 {
			a.release.StartAt(incremental.ClassID(next))
		}
		return err
	}, fmt.Sprintf("SELECT coalesce(audiences::jsonb -> %s ->> 'NextClass', '0') FROM kproxy_store.generation WHERE generation = %d", catalog.QuoteLiteral(a.audience.name), s.t.release.generation))
}

// loadCoarserRows reads rows with what they show of the sensitive attributes.
func (s *guarded) loadCoarserRows(ctx context.Context, from *storeView, table string) (rows []lineage.StoredRow, err error) {
	t := s.t
	columns := columnNames(s.marks())
	marks := len(columns)
	for _, i := range t.layout.sensitive {
		columns = append(columns, catalog.QuoteIdentifier(t.layout.columns[i].Name))
	}
	err = copyOut(ctx, from.first, len(columns), func(values []value) error {
		var ids [3]int64
		if err := numbersIn(ids[:], values[:3]); err != nil {
			return err
		}
		r := lineage.StoredRow{Class: incremental.ClassID(ids[0]), ID: lineage.RowID(ids[1]), Person: uint32(ids[2]), Sealed: values[3].text == "t", Sensitive: make([]uint32, len(t.layout.sensitive))}
		for a, column := range t.layout.sensitive {
			r.Sensitive[a] = number(t.values[a], t.layout.columns[column], values[marks+a])
		}
		rows = append(rows, r)
		return nil
	}, fmt.Sprintf("SELECT %s FROM %s", strings.Join(columns, ", "), table))
	return rows, err
}

// loadUnits reads the classes that the audience does not see as they are.
func loadUnits(ctx context.Context, from *storeView, table string) (units []lineage.CoarserUnit, err error) {
	err = copyOut(ctx, from.first, 5, func(values []value) error {
		var ids [2]int64
		if err := numbersIn(ids[:], values[:2]); err != nil {
			return err
		}
		u := lineage.CoarserUnit{Class: incremental.ClassID(ids[0]), Group: incremental.ClassID(ids[1]), Changed: values[2].text, Withheld: values[3].text == "t"}
		if err := json.Unmarshal([]byte(values[4].text), &u.Labels); err != nil {
			return errCopyText
		}
		units = append(units, u)
		return nil
	}, fmt.Sprintf("SELECT class, coalesce(shown_in, 0), coalesce(changed, ''), withheld, labels FROM %s", table))
	return units, err
}
