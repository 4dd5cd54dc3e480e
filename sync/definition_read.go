package sync

import (
	"cmp"
	"context"
	_ "embed" // the query
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/accept"
)

//go:embed definition.sql
var definitionQuery string

// readDefinition reads what the table is, as the transaction or the statement sees it. The
// error is a *TableError, from which the table heals, where it is not what was accepted of
// it or what the policy was made for. What has gone without harm comes back as absent.
func (s sourceTable) readDefinition(ctx context.Context, on querier, publication string, bound accept.Table) (d definition, absent bool, err error) {
	now, err := s.examine(ctx, on, accept.Whole)
	if err == nil {
		err = s.judge(now, bound)
	}
	if err != nil {
		return d, false, err
	}
	d, err = s.readRest(ctx, on, publication)
	if halt := (*TableError)(nil); errors.As(err, &halt) {
		halt.heals = true
	}
	d.bound = bound
	if err == nil {
		d.bound.Leaves, err = leavesEver(ctx, on, bound, now.Table)
	}
	return d, !bound.Holds(now.Table), err
}

// leavesEver are the partitions that a table has, and those that it had and that are there still,
// ordered by OID: they may be attached again, and have other columns under the names by then.
func leavesEver(ctx context.Context, on querier, before, now accept.Table) ([]accept.Leaf, error) {
	attached := make(map[catalog.OID]bool, len(now.Leaves))
	for _, l := range now.Leaves {
		attached[l.OID] = true
	}
	detached := slices.DeleteFunc(slices.Clone(before.Leaves), func(l accept.Leaf) bool { return attached[l.OID] })
	if len(detached) == 0 {
		return now.Leaves, nil
	}
	oids := make([]uint32, len(detached))
	for i, l := range detached {
		oids[i] = uint32(l.OID)
	}
	var found []uint32
	err := on.QueryRow(ctx, "SELECT array_agg(c.oid) FROM pg_catalog.pg_class c WHERE c.oid = ANY ($1)", oids).Scan(&found)
	if err != nil {
		return nil, fmt.Errorf("looking for detached partitions: %w", err)
	}
	there := make(map[catalog.OID]bool, len(found))
	for _, oid := range found {
		there[catalog.OID(oid)] = true
	}
	detached = slices.DeleteFunc(detached, func(l accept.Leaf) bool { return !there[l.OID] })
	return slices.SortedFunc(slices.Values(slices.Concat(now.Leaves, detached)), func(a, b accept.Leaf) int { return cmp.Compare(a.OID, b.OID) }), nil
}

// readRest reads what the table is beside its columns, and what the store needs of these.
func (s sourceTable) readRest(ctx context.Context, on querier, publication string) (d definition, err error) {
	d.root = uint32(s.layout.publication.Relation.OID)
	stored := make([]string, len(s.layout.columns))
	for i, c := range s.layout.columns {
		stored[i] = c.Name
	}
	var named catalog.Name
	generalized := make([]string, len(s.layout.qi))
	for i, column := range s.layout.qi {
		generalized[i] = s.layout.columns[column].Name
	}
	var whole, published bool
	var identities []string
	var names []string
	var types []uint32
	var modifiers []int32
	err = on.QueryRow(ctx, definitionQuery, d.root, stored, publication, generalized).
		Scan(&named.Schema, &named.Relation, &d.leaves, &d.states, &d.by, &identities, &d.labels, &d.rest, &whole, &published, &names, &types, &modifiers, &d.sent)
	if errors.Is(err, pgx.ErrNoRows) {
		return d, errDropped(s.layout.name())
	}
	if err != nil {
		return d, fmt.Errorf("reading the definition of %s: %w", s.layout.name(), err)
	}
	if named != s.layout.name() {
		return d, errRenamed(s.layout, named)
	}
	if !whole {
		return d, &TableError{
			Table: s.layout.name(), What: fmt.Sprintf("publication %s does not exist, or leaves out operations, rows or columns", publication),
			Fix: "run 'kproxy setup', which mends it, and 'kproxy reload'",
		}
	}
	if !published {
		if published, err = s.stillPublished(ctx, on, publication); err != nil {
			return d, err
		}
	}
	if !published {
		return d, &TableError{
			Table: s.layout.name(), What: fmt.Sprintf("publication %s does not hold it any more, or not all of it", publication),
			Fix: "run 'kproxy setup', which adds it, and 'kproxy reload'",
		}
	}
	for _, c := range s.layout.columns {
		i := slices.Index(names, c.Name)
		switch {
		case i < 0:
			return d, errColumnGone(s.layout.name(), c.Name)
		case catalog.OID(types[i]) != c.TypeOID || modifiers[i] != c.Modifier:
			return d, errRetyped(s.layout.name(), c.Name)
		}
	}
	for _, identity := range identities {
		if !s.identifiedBy(identity) {
			return d, &TableError{Table: s.layout.name(), What: "its rows are identified by other columns than before (REPLICA IDENTITY)", Fix: fixReload}
		}
	}
	return d, nil
}

// stillPublished looks again for what a publication holds: its view knows of partitions
// that come and go before the transaction's snapshot does.
func (s sourceTable) stillPublished(ctx context.Context, on querier, publication string) (published bool, err error) {
	const present = `SELECT NOT EXISTS (
		SELECT FROM (SELECT $1::oid::regclass AS relid UNION SELECT p.relid FROM pg_catalog.pg_partition_tree($1::oid::regclass) p) AS tree
		JOIN pg_catalog.pg_class l ON l.oid = tree.relid JOIN pg_catalog.pg_namespace s ON s.oid = l.relnamespace
		WHERE l.relkind = 'r' AND NOT EXISTS (SELECT FROM pg_catalog.pg_publication_tables p WHERE p.pubname = $2
			AND (p.schemaname, p.tablename) IN ((s.nspname, l.relname), ($3, $4))))`
	for range 3 {
		err = on.QueryRow(ctx, present, uint32(s.layout.publication.Relation.OID), publication, s.layout.name().Schema, s.layout.name().Relation).Scan(&published)
		if err != nil {
			return false, fmt.Errorf("looking for %s in the publication: %w", s.layout.name(), err)
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
func (s sourceTable) identifiedBy(identity string) bool {
	if identity == `"*"` {
		return true
	}
	var columns []string
	if json.Unmarshal([]byte(identity), &columns) != nil || s.layout.publication.Relation.KeyRepeats {
		return false
	}
	key := slices.Sorted(slices.Values(s.layout.publication.Relation.Key))
	slices.Sort(columns)
	return slices.Equal(key, columns)
}

// errRewritten means that the snapshot does not show what the table held then.
var errRewritten = errors.New("the table was truncated or rewritten, or its partitions have changed, since the snapshot was taken")

// rewrittenQuery compares the snapshot's catalogs with pg_relation_filenode and
// pg_partition_tree, which look at the present ones. PostgreSQL 13 has no inhdetachpending.
const rewrittenQuery = `WITH RECURSIVE tree(oid) AS (
		SELECT $1::oid UNION ALL SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN tree t ON i.inhparent = t.oid
		WHERE NOT coalesce((to_jsonb(i)->>'inhdetachpending')::boolean, false))
	SELECT coalesce(bool_or(c.relkind = 'r' AND c.relfilenode IS DISTINCT FROM pg_catalog.pg_relation_filenode(c.oid::regclass)), false)
		OR bool_or(c.relkind = 'p') AND array_agg(t.oid ORDER BY t.oid) IS DISTINCT FROM
			(SELECT array_agg(p.relid::oid ORDER BY p.relid::oid) FROM pg_catalog.pg_partition_tree($1::oid::regclass) p)
	FROM tree t JOIN pg_catalog.pg_class c ON c.oid = t.oid`

// lock keeps the table as it is for the transaction, and makes sure that the
// snapshot shows its rows: TRUNCATE and rewrites do not wait for snapshots, and an older
// one finds the table empty (PostgreSQL, "Caveats" of concurrency control). Queries read
// the partitions that there are now, definitions are those of the snapshot: both must name
// the same ones, but for those that are being detached concurrently, which neither reads.
func (s sourceTable) lock(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, "LOCK TABLE "+s.sql()+" IN ACCESS SHARE MODE"); err != nil {
		return fmt.Errorf("locking %s against changes of its definition: %w", s.layout.name(), err)
	}
	var rewritten bool
	err := tx.QueryRow(ctx, rewrittenQuery, uint32(s.layout.publication.Relation.OID)).Scan(&rewritten)
	if err != nil {
		return fmt.Errorf("looking whether %s was rewritten: %w", s.layout.name(), err)
	}
	if rewritten {
		return errRewritten
	}
	return nil
}
