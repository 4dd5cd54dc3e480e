package sync

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// The stream carries rows, not definitions: it does not tell that a partition was
// attached, that a rewrite changed values in place, or that a label of an enumeration
// was renamed. So what a table is gets digested, from the catalogs as the transaction
// sees them; another digest means that the table has to be compared with its source.
// What keeps the policy from fitting halts the table.

// definitionQuery gives for a relation its present name, the relations that hold its rows
// and their states, the digest of all else that values and their way into the stream
// depend on, whether it is published, and its columns. Partitions, at any depth, belong to it.
const definitionQuery = `
WITH RECURSIVE tree(oid) AS (
	SELECT $1::oid
	UNION ALL
	SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN tree t ON i.inhparent = t.oid
	JOIN pg_catalog.pg_class c ON c.oid = i.inhparent AND c.relkind = 'p'
), types(oid) AS (
	SELECT a.atttypid FROM pg_catalog.pg_attribute a WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped AND a.attname::text = ANY ($2::text[])
	UNION
	SELECT u.oid FROM types y JOIN pg_catalog.pg_type t ON t.oid = y.oid CROSS JOIN LATERAL (VALUES (t.typbasetype), (t.typelem)) AS u(oid) WHERE u.oid <> 0
)
SELECT n.nspname::text, c.relname::text,
	coalesce((SELECT pg_catalog.array_agg(l.oid ORDER BY l.oid) FROM tree t JOIN pg_catalog.pg_class l ON l.oid = t.oid WHERE l.relkind = 'r'), '{}'),
	coalesce((SELECT pg_catalog.array_agg(pg_catalog.concat_ws(' ', l.relfilenode, l.relreplident) ORDER BY l.oid)
		FROM tree t JOIN pg_catalog.pg_class l ON l.oid = t.oid WHERE l.relkind = 'r'), '{}'),
	coalesce((SELECT pg_catalog.array_agg(l.xmin::text::bigint ORDER BY l.oid) FROM tree t JOIN pg_catalog.pg_class l ON l.oid = t.oid WHERE l.relkind = 'r'), '{}'),
	coalesce((SELECT pg_catalog.array_agg(CASE l.relreplident WHEN 'f' THEN '"*"' ELSE coalesce((
			SELECT pg_catalog.to_jsonb(pg_catalog.array_agg(a.attname::text))::text
			FROM pg_catalog.pg_index i CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::smallint[]) WITH ORDINALITY AS k(attnum, position)
			JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
			WHERE i.indrelid = l.oid AND i.indisvalid AND k.position <= i.indnkeyatts
			AND CASE l.relreplident WHEN 'i' THEN i.indisreplident WHEN 'd' THEN i.indisprimary AND i.indimmediate ELSE false END), '[]') END ORDER BY l.oid)
		FROM tree t JOIN pg_catalog.pg_class l ON l.oid = t.oid WHERE l.relkind = 'r'), '{}'),
	pg_catalog.md5(
		coalesce((SELECT pg_catalog.string_agg(pg_catalog.concat_ws(' ', e.oid, e.enumlabel), ',' ORDER BY e.oid)
			FROM types y JOIN pg_catalog.pg_enum e ON e.enumtypid = y.oid), '') || '/' ||
		coalesce((SELECT pg_catalog.concat_ws(' ', p.oid, p.pubinsert, p.pubupdate, p.pubdelete, p.pubtruncate, p.pubviaroot,
				(SELECT pg_catalog.string_agg(pg_catalog.to_jsonb(r)::text, ',' ORDER BY r.oid) FROM pg_catalog.pg_publication_rel r
					WHERE r.prpubid = p.oid AND r.prrelid IN (SELECT oid FROM tree)))
			FROM pg_catalog.pg_publication p WHERE p.pubname = $3), '')),
	NOT EXISTS (SELECT FROM tree t JOIN pg_catalog.pg_class l ON l.oid = t.oid JOIN pg_catalog.pg_namespace s ON s.oid = l.relnamespace
		WHERE l.relkind = 'r' AND NOT EXISTS (SELECT FROM pg_catalog.pg_publication_tables p WHERE p.pubname = $3
			AND (p.schemaname, p.tablename) IN ((s.nspname, l.relname), (n.nspname, c.relname)))),
	coalesce((SELECT pg_catalog.array_agg(a.attname::text ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
		WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '{}'),
	coalesce((SELECT pg_catalog.array_agg(a.atttypid ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
		WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '{}'),
	coalesce((SELECT pg_catalog.array_agg(a.atttypmod ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
		WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '{}')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1`

// definition is what a table is, beside its rows.
type definition struct {
	leaves []uint32 // the relations that hold its rows, ascending: itself, or its partitions
	states []string // of the leaves: their files and replica identities
	by     []int64  // the transactions that gave them these; not part of the digest
	rest   string   // digest of all else
}

// digest stands for all of it.
func (d definition) digest() string {
	text := d.rest
	for i, leaf := range d.leaves {
		text += fmt.Sprintf(" %d %s", leaf, d.states[i])
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// grown are the leaves that came to those of an earlier definition; false where
// something else has changed.
func (d definition) grown(before definition) ([]uint32, bool) {
	if d.rest != before.rest {
		return nil, false
	}
	var more []uint32
	known := 0
	for i, leaf := range d.leaves {
		at := slices.Index(before.leaves, leaf)
		switch {
		case at < 0:
			more = append(more, leaf)
		case before.states[at] != d.states[i]:
			return nil, false
		default:
			known++
		}
	}
	return more, known == len(before.leaves)
}

// truncatedBy tells whether the only difference to an earlier definition is what a
// transaction did that truncated the table itself. The stream has told of that.
func (d definition) truncatedBy(transaction uint32, before definition) bool {
	return transaction != 0 && d.rest == before.rest && len(d.leaves) == 1 && slices.Equal(d.leaves, before.leaves) && d.by[0] == int64(transaction)
}

// readDefinition reads what the table is. The error is a *TableError where it is not
// what the policy was made for.
func (t *table) readDefinition(ctx context.Context, on querier, publication string) (d definition, err error) {
	stored := make([]string, len(t.columns))
	for i, c := range t.columns {
		stored[i] = c.Name
	}
	var named catalog.Name
	var published bool
	var identities []string
	var names []string
	var types []uint32
	var modifiers []int32
	err = on.QueryRow(ctx, definitionQuery, uint32(t.publication.Relation.OID), stored, publication).
		Scan(&named.Schema, &named.Relation, &d.leaves, &d.states, &d.by, &identities, &d.rest, &published, &names, &types, &modifiers)
	if errors.Is(err, pgx.ErrNoRows) {
		return d, &TableError{Table: t.name(), What: "it was dropped, or replaced by another of its name", Fix: fixReload}
	}
	if err != nil {
		return d, fmt.Errorf("reading the definition of %s: %w", t.name(), err)
	}
	if named != t.name() {
		return d, t.errRenamed(named)
	}
	if !published {
		if published, err = t.stillPublished(ctx, on, publication); err != nil {
			return d, err
		}
	}
	if !published {
		return d, &TableError{
			Table: t.name(), What: fmt.Sprintf("publication %s does not hold it any more, or not all of it", publication),
			Fix: "run 'kproxy setup', which adds it, and 'kproxy reload'",
		}
	}
	for _, c := range t.columns {
		i := slices.Index(names, c.Name)
		switch {
		case i < 0:
			return d, t.errColumnGone(c.Name)
		case catalog.OID(types[i]) != c.TypeOID || modifiers[i] != c.Modifier:
			return d, t.errRetyped(c.Name)
		}
	}
	for _, identity := range identities {
		if !t.identifiedBy(identity) {
			return d, &TableError{Table: t.name(), What: "its rows are identified by other columns than before (REPLICA IDENTITY)", Fix: fixReload}
		}
	}
	return d, nil
}

// stillPublished looks again for what a publication holds: its view knows of partitions
// that come and go before the transaction's snapshot does.
func (t *table) stillPublished(ctx context.Context, on querier, publication string) (published bool, err error) {
	const present = `SELECT NOT EXISTS (
		SELECT FROM (SELECT $1::oid::regclass AS relid UNION SELECT p.relid FROM pg_catalog.pg_partition_tree($1::oid::regclass) p) AS tree
		JOIN pg_catalog.pg_class l ON l.oid = tree.relid JOIN pg_catalog.pg_namespace s ON s.oid = l.relnamespace
		WHERE l.relkind = 'r' AND NOT EXISTS (SELECT FROM pg_catalog.pg_publication_tables p WHERE p.pubname = $2
			AND (p.schemaname, p.tablename) IN ((s.nspname, l.relname), ($3, $4))))`
	for range 3 {
		err = on.QueryRow(ctx, present, uint32(t.publication.Relation.OID), publication, t.name().Schema, t.name().Relation).Scan(&published)
		if err != nil {
			return false, fmt.Errorf("looking for %s in the publication: %w", t.name(), err)
		}
		if published {
			return true, nil
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return false, err
		}
	}
	return false, nil
}

// identifiedBy tells whether a leaf's replica identity, a JSON array of columns or "*"
// for whole rows, still finds the records of changed rows.
func (t *table) identifiedBy(identity string) bool {
	if identity == `"*"` {
		return true
	}
	var columns []string
	if json.Unmarshal([]byte(identity), &columns) != nil || t.publication.Relation.KeyRepeats {
		return false
	}
	key := slices.Sorted(slices.Values(t.publication.Relation.Key))
	slices.Sort(columns)
	return slices.Equal(key, columns)
}

func (t *table) errRenamed(to catalog.Name) error {
	return &TableError{Table: t.name(), What: fmt.Sprintf("it was renamed to %s", to), Fix: "name it so in the policy and run 'kproxy reload'"}
}

func (t *table) errColumnGone(column string) error {
	return &TableError{Table: t.name(), What: fmt.Sprintf("column %s, which the policy needs, is gone or no longer replicated", column), Fix: fixPolicy}
}

func (t *table) errRetyped(column string) error {
	return &TableError{Table: t.name(), What: fmt.Sprintf("column %s changed its type", column), Fix: fixReload}
}

// errDifferent means that the stream does not tell all that happened to the table.
func (t *table) errDifferent(what string) error {
	return &TableError{Table: t.name(), What: what, Fix: fixResync, resync: true}
}

// errRewritten means that the snapshot does not show what the table held then.
var errRewritten = errors.New("the table was truncated or rewritten since the snapshot was taken")

// lockSource keeps the table as it is for the transaction, and makes sure that the
// snapshot shows its rows: TRUNCATE and rewrites do not wait for snapshots, and an older
// one finds the table empty (PostgreSQL, "Caveats" of concurrency control).
func (t *table) lockSource(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, "LOCK TABLE "+t.source()+" IN ACCESS SHARE MODE"); err != nil {
		return fmt.Errorf("locking %s against changes of its definition: %w", t.name(), err)
	}
	var rewritten bool
	err := tx.QueryRow(ctx, `WITH RECURSIVE tree(oid) AS (
			SELECT $1::oid UNION ALL SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN tree t ON i.inhparent = t.oid)
		SELECT coalesce(bool_or(c.relfilenode IS DISTINCT FROM pg_catalog.pg_relation_filenode(c.oid::regclass)), false)
		FROM tree t JOIN pg_catalog.pg_class c ON c.oid = t.oid WHERE c.relkind = 'r'`, uint32(t.publication.Relation.OID)).Scan(&rewritten)
	if err != nil {
		return fmt.Errorf("looking whether %s was rewritten: %w", t.name(), err)
	}
	if rewritten {
		return errRewritten
	}
	return nil
}
