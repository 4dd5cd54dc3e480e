package verify

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// linked is a publication with the links of its lineage as audiences. Links that nobody sees any more are among them, since
// the classes of those behind them are unions of theirs. Where the links do not show what the publication says, it stays
// as it is.
func (s session) linked(p catalog.Publication) (catalog.Publication, error) {
	of, err := s.lineageOf(p)
	if err != nil || of == nil || !p.ShownBy(*of) { // what is shown is compared with the policy then
		return p, err
	}
	return p.Linked(*of), nil
}

// lineageOf is the lineage that the store keeps for a table; nil if there is none, or an unknown form of it.
func (s session) lineageOf(p catalog.Publication) (*catalog.Lineage, error) {
	if p.Policy.Updates.Mode != catalog.Guarded {
		return nil, nil
	}
	var text string // stores of earlier versions have no such column
	err := s.tx.QueryRow(s.ctx, "SELECT coalesce(to_jsonb(g) ->> 'lineage', '') FROM kproxy_store.generation AS g WHERE table_schema = $1 AND table_name = $2 AND shows IS NULL",
		p.Policy.Table.Schema, p.Policy.Table.Relation).Scan(&text)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && text == "" {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the lineage of %s: %w", p.Policy.Table, err)
	}
	var of catalog.Lineage
	if json.Unmarshal([]byte(text), &of) != nil {
		return nil, nil
	}
	return &of, nil
}

// storedAs is the name that the store's tables for this audience of the table carry.
func (t *table) storedAs() (string, error) {
	p := t.relations.publication
	if t.relations.store != "" || p.Policy.Audience == "" {
		return t.relations.store, nil
	}
	of, err := session{ctx: t.ctx, tx: t.tx, tell: t.tell}.lineageOf(p)
	if err != nil || of == nil {
		return p.Policy.Audience, err
	}
	for _, l := range of.Links {
		if l.Audience == p.Policy.Audience {
			return l.Store, nil
		}
	}
	return p.Policy.Audience, nil
}

// verifyRemoved compares what is kept for an audience that no longer sees the table with the release before it.
func (t *table) verifyRemoved(finer *relations) error {
	found, err := t.locate()
	if err != nil || !found {
		return err
	}
	if err := t.violations("classes are unions of the finer ones", t.dividedQuery(finer)); err != nil {
		return err
	}
	return t.violations("it is known of every class of the finer release whether it is shown", t.unknownQuery(finer))
}
