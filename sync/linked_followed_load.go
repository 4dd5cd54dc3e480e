package sync

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/people"
)

// followers takes over what the store has of the releases for audiences, each after that before it.
func (r *groupLoading) followers(ctx context.Context) error {
	for i, follower := range r.group.followers {
		var stored []people.StoredCoarser
		name := ""
		for _, number := range r.group.numbers() {
			s, err := r.stored(number)
			if err != nil {
				return err
			}
			of, err := r.followed(ctx, s, s.audiences[i])
			if err != nil {
				return err
			}
			stored, name = append(stored, of), s.audiences[i].audience.name
		}
		if err := follower.Load(stored); err != nil {
			return internal(fmt.Errorf("for audience %s: %w", name, err))
		}
	}
	return nil
}

// followed is what the store has of a table for an audience.
func (r *groupLoading) followed(ctx context.Context, s *linkedGuarded, a *linkedRelease) (of people.StoredCoarser, err error) {
	columns := r.rowColumns(s)
	err = copyOut(ctx, r.from.first, len(columns), func(values []value) error {
		row, err := markedRow(values)
		if err != nil {
			return err
		}
		row.Sensitive = s.codes(values[len(s.marks()):])
		of.Rows = append(of.Rows, row)
		return nil
	}, fmt.Sprintf("SELECT %s FROM %s", strings.Join(columns, ", "), a.table()))
	if err != nil {
		return of, err
	}
	err = readWeights(ctx, r.from.first, a.audience.weightTable(s.t.release.generation), s.part.column, func(cell int64, share float64, ghosts, persons int) {
		of.Weights = append(of.Weights, people.Weight{Cells: []int64{cell}, Share: share, Ghosts: ghosts, Persons: persons})
	})
	if err != nil {
		return of, err
	}
	err = copyOut(ctx, r.from.first, 2, func(values []value) error {
		cell, err := storedID(values[0])
		if err != nil {
			return err
		}
		waiting := people.WaitingCell{Cell: cell, Withheld: values[1].text == withheldLabels}
		if err := json.Unmarshal([]byte(values[1].text), &waiting.Values); err != nil {
			return errCopyText
		}
		of.Waiting = append(of.Waiting, waiting)
		return nil
	}, fmt.Sprintf("SELECT class, labels FROM %s", a.waitingTable()))
	return of, err
}
