package views

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
)

// Unaccepted is a readable relation, or a listed view, that is not what was accepted
// under its name.
type Unaccepted struct {
	Relation catalog.Name
	Changes  []string // in words

	was, now catalog.Identity
}

// FindUnaccepted are those among the listed relations given, ordered by name. What is
// not there cannot be accepted, nor what shows rows of protected tables as they are; the check
// tells of those.
func FindUnaccepted(ctx context.Context, on upstream.Databases, c *config.Config, names []catalog.Name) ([]Unaccepted, error) {
	p, views, err := newPlanner(ctx, on, c, rewritings{}, new(definitions))
	if err != nil {
		return nil, err
	}
	var found []Unaccepted
	for _, name := range names {
		s, known := p.stored[name]
		if !known || s.accepted == nil {
			continue // it is accepted when it is served first
		}
		now, there := catalog.Identity{OverProtected: true}, true
		if !slices.ContainsFunc(views, func(v catalog.View) bool { return v.Name == name }) {
			r, exists := p.readables[name]
			if blocker := p.unread(r); blocker != "" {
				return nil, fmt.Errorf("the definition of %s cannot be read: %s; try again when that is over", name, blocker)
			}
			now, there = catalog.IdentityOf(r, p.readables).Knowing(*s.accepted, p.isGone), exists && !r.Raw
		}
		if !there {
			continue
		}
		changes := s.accepted.Changes(now)
		if !s.accepted.OverProtected { // of those no columns are kept
			for _, column := range s.accepted.Added(now) {
				changes = append(changes, "column "+column+" was added, and is not served")
			}
			changes = append(changes, s.accepted.AddedUnder(now)...)
		}
		if len(changes) > 0 {
			found = append(found, Unaccepted{Relation: name, Changes: changes, was: *s.accepted, now: now})
		}
	}
	slices.SortFunc(found, func(a, b Unaccepted) int { return a.Relation.Compare(b.Relation) })
	return found, nil
}

// ErrMeanwhile says that a relation, or what is known of it, changed after it was shown to the
// operator. A look does so, too, when it begins to doubt what a materialized view holds.
var ErrMeanwhile = errors.New("changed meanwhile: nothing was accepted")

// Accept notes that the operator accepts the relations as they were shown. The next
// look serves them so. It returns ErrMeanwhile if one is to be shown again.
func Accept(ctx context.Context, tx pgx.Tx, relations []Unaccepted) error {
	for _, r := range relations {
		done, err := tx.Exec(ctx, `UPDATE kproxy_store.view SET accepted = $4, digest = ''
			WHERE view_schema = $1 AND view_name = $2 AND accepted = $3`, r.Relation.Schema, r.Relation.Relation, r.was.String(), r.now.String())
		if err != nil {
			return fmt.Errorf("noting what is accepted as %s: %w", r.Relation, err)
		}
		if done.RowsAffected() == 0 {
			return fmt.Errorf("relation %s %w", r.Relation, ErrMeanwhile)
		}
	}
	return nil
}
