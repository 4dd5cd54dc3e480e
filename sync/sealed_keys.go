package sync

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/seal"
)

// What the store knows of the keys that it is sealed with is in kproxy_store.seal: of each generation
// its data key, sealed, and the name of the operator's key that opens it. kproxy makes the table when
// it seals for the first time, so that nobody else needs it.

// SealedWith are the names of the operator's keys that the store is sealed with, sorted. The
// connection is the owner's.
func SealedWith(ctx context.Context, on querier) (ids []string, err error) {
	var known bool
	if err = on.QueryRow(ctx, "SELECT pg_catalog.to_regclass('kproxy_store.seal') IS NOT NULL").Scan(&known); err == nil && known {
		err = on.QueryRow(ctx, "SELECT coalesce(array_agg(DISTINCT key ORDER BY key), '{}') FROM kproxy_store.seal").Scan(&ids)
	}
	if err != nil {
		return nil, fmt.Errorf("reading what the store is sealed with: %w", err)
	}
	return ids, nil
}

// checkSeal refuses a store that is sealed with a key which this process was not given, before
// anything is changed.
func (s *session) checkSeal(ctx context.Context) error {
	ring := s.syncer.config.Seal
	for _, t := range s.policy {
		if t.layout.isSealed() && ring == nil {
			return &StopError{What: "the policy has the private store sealed, and this process was started without a key", Fix: "restart kproxy"}
		}
	}
	ids, err := SealedWith(ctx, s.store.conn)
	if err != nil {
		return err
	}
	if ring == nil {
		s.store.sealed = len(ids) > 0 // the keys go with the generations that they seal
		return nil
	}
	if i := slices.IndexFunc(ids, func(id string) bool { return !ring.Has(id) }); i >= 0 {
		return errOtherKey(ids[i])
	}
	s.store.sealed = true
	return nil
}

// takeKeys has all data keys sealed with the first of the operator's keys: whoever has replaced that
// one can forget the one before, as soon as this is done.
func (s *session) takeKeys(ctx context.Context) error {
	ring := s.syncer.config.Seal
	if ring == nil {
		return nil
	}
	var renewed int
	err := pgx.BeginFunc(ctx, s.store.conn, func(tx pgx.Tx) error {
		if err := s.store.claimEpoch(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS kproxy_store.seal (generation bigint PRIMARY KEY, key text NOT NULL, wrapped bytea NOT NULL)"); err != nil {
			return err
		}
		wrapped, err := formerKeys(ctx, tx, ring.First())
		if err != nil {
			return err
		}
		for generation, w := range wrapped {
			if err := s.renewKey(ctx, tx, generation, w); err != nil {
				return err
			}
		}
		renewed = len(wrapped)
		return nil
	})
	if err != nil {
		return fmt.Errorf("sealing the keys of the private store: %w", err)
	}
	if renewed > 0 {
		s.syncer.config.Logger.Info("the private store is sealed with another key than before", "key", ring.First(), "generations", renewed)
	}
	return nil
}

// storedKey is a data key of the store, with the table whose generation it is for; none where the
// generation is not recorded.
type storedKey struct {
	seal.WrappedKey
	of catalog.Name
}

// formerKeys are the data keys that are sealed with others than the first key, by their generations.
// What is bound to a table can be sealed anew for it alone: those of generations that are not recorded
// go with these.
func formerKeys(ctx context.Context, tx pgx.Tx, first string) (map[int64]storedKey, error) {
	rows, _ := tx.Query(ctx, `SELECT s.generation, s.key, s.wrapped, coalesce(g.table_schema, ''), coalesce(g.table_name, '') FROM kproxy_store.seal s
		LEFT JOIN kproxy_store.generation g ON s.generation IN (g.generation, g.previous) WHERE s.key <> $1 FOR UPDATE OF s`, first) // the rows carry its error
	all := make(map[int64]storedKey)
	var generation int64
	var k storedKey
	_, err := pgx.ForEachRow(rows, []any{&generation, &k.ID, &k.Sealed, &k.of.Schema, &k.of.Relation}, func() error {
		all[generation] = storedKey{seal.WrappedKey{ID: k.ID, Sealed: slices.Clone(k.Sealed)}, k.of}
		return nil
	})
	return all, err
}

// renewKey has a data key sealed with the first key.
func (s *session) renewKey(ctx context.Context, tx pgx.Tx, generation int64, w storedKey) error {
	if w.of.Relation == "" {
		_, err := tx.Exec(ctx, "DELETE FROM kproxy_store.seal WHERE generation = $1", generation)
		return err
	}
	place := sealingPlace(w.of, generation)
	key, err := s.syncer.config.Seal.Unwrap(w.WrappedKey, place)
	if err != nil {
		s.syncer.config.Logger.Warn("a key of the private store cannot be opened", "relation", w.of, "error", err)
		return nil // the table is halted when it is loaded
	}
	again := s.syncer.config.Seal.Wrap(key, place)
	_, err = tx.Exec(ctx, "UPDATE kproxy_store.seal SET key = $2, wrapped = $3 WHERE generation = $1", generation, again.ID, again.Sealed)
	return err
}

// claimEpoch makes sure until the transaction ends that no other process has taken over.
func (s *store) claimEpoch(ctx context.Context, tx pgx.Tx) error {
	tag, err := tx.Exec(ctx, "SELECT FROM kproxy_store.position WHERE slot = $1 AND epoch = $2 FOR SHARE", s.slot, s.epoch)
	if err == nil && tag.RowsAffected() != 1 {
		return errFenced
	}
	return err
}

// sealingPlace names a generation of a table, for what its data key is bound to.
func sealingPlace(of catalog.Name, generation int64) string {
	return fmt.Sprintf("%s %d", of, generation)
}

// forgetKeys forgets the data keys of generations that are neither recorded nor made.
func forgetKeys(ctx context.Context, tx pgx.Tx, making []int64) error {
	_, err := tx.Exec(ctx, strings.TrimSpace(`
		DELETE FROM kproxy_store.seal WHERE generation <> ALL ($1::bigint[]) AND generation NOT IN (
			SELECT generation FROM kproxy_store.generation UNION ALL
			SELECT previous FROM kproxy_store.generation WHERE previous IS NOT NULL)`), making)
	if err != nil {
		return fmt.Errorf("forgetting the keys of earlier generations: %w", err)
	}
	return nil
}
