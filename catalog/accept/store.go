package accept

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
)

// Kind says what an accepted name is the name of.
type Kind string

// The kinds of what is accepted.
const (
	KindTable Kind = "table" // a protected table
)

// Querier is a connection or a transaction of the owner.
type Querier interface {
	QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row
}

// Executor is likewise.
type Executor interface {
	Exec(ctx context.Context, sql string, arguments ...any) (pgconn.CommandTag, error)
}

// Load reads into identity, a pointer, what was accepted under a name; false where nothing
// was.
func Load(ctx context.Context, on Querier, kind Kind, name catalog.Name, identity any) (found bool, err error) {
	var text []byte
	err = on.QueryRow(ctx, "SELECT identity::text FROM kproxy_store.accepted WHERE kind = $1 AND accepted_schema = $2 AND accepted_name = $3",
		string(kind), name.Schema, name.Relation).Scan(&text)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, identity)
	}
	if err != nil {
		return false, fmt.Errorf("reading what was accepted as %s: %w", name, err)
	}
	return true, nil
}

// LoadAs reads what was accepted under some name of a relation that has the object
// identifier oid, as its identity's field "oid" says; false where nothing was.
func LoadAs(ctx context.Context, on Querier, kind Kind, oid catalog.OID, identity any) (name catalog.Name, found bool, err error) {
	var text []byte
	err = on.QueryRow(ctx, `SELECT accepted_schema, accepted_name, identity::text FROM kproxy_store.accepted
		WHERE kind = $1 AND (identity ->> 'oid')::bigint = $2 ORDER BY accepted_at DESC LIMIT 1`,
		string(kind), int64(oid)).Scan(&name.Schema, &name.Relation, &text)
	if errors.Is(err, pgx.ErrNoRows) {
		return name, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, identity)
	}
	if err != nil {
		return name, false, fmt.Errorf("reading what was accepted of a relation: %w", err)
	}
	return name, true, nil
}

// Save notes what is accepted under a name from now on. The relations that were accepted under it
// before, and partitions that it had, stay noted as "former": their rows stay protected.
func Save(ctx context.Context, on Executor, kind Kind, name catalog.Name, identity any) error {
	return save(ctx, on, kind, name, identity, "DO UPDATE SET identity = excluded.identity || "+former+", accepted_at = pg_catalog.now()")
}

// former are the relations that the identity before named, and the new one does not, as far as they
// are there. Identities of functions name none.
const former = `CASE WHEN a.kind <> 'table' THEN '{}' ELSE (
	SELECT CASE WHEN pg_catalog.count(*) = 0 THEN '{}' ELSE pg_catalog.jsonb_build_object('former', pg_catalog.jsonb_agg(held.oid)) END
	FROM (SELECT a.identity -> 'oid' UNION SELECT pg_catalog.jsonb_path_query(a.identity, '$.leaves[*].oid') UNION SELECT pg_catalog.jsonb_path_query(a.identity, '$.former[*]')
		EXCEPT (SELECT excluded.identity -> 'oid' UNION SELECT pg_catalog.jsonb_path_query(excluded.identity, '$.leaves[*].oid'))) AS held (oid)
	JOIN pg_catalog.pg_class c ON c.oid = held.oid::text::oid) END`

// SaveFirst notes likewise, unless something is accepted under the name already.
func SaveFirst(ctx context.Context, on Executor, kind Kind, name catalog.Name, identity any) error {
	return save(ctx, on, kind, name, identity, "DO NOTHING")
}

func save(ctx context.Context, on Executor, kind Kind, name catalog.Name, identity any, known string) error {
	text, err := json.Marshal(identity)
	if err == nil {
		_, err = on.Exec(ctx, `INSERT INTO kproxy_store.accepted AS a (kind, accepted_schema, accepted_name, identity) VALUES ($1, $2, $3, $4::text::jsonb)
			ON CONFLICT (kind, accepted_schema, accepted_name) `+known,
			string(kind), name.Schema, name.Relation, string(text))
	}
	if err != nil {
		return fmt.Errorf("noting what is accepted as %s: %w", name, err)
	}
	return nil
}
