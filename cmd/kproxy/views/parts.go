package views

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
)

// findParts reads which parts of readable relations are there, attached or not.
func (p *planner) findParts(ctx context.Context, on upstream.Querier) error {
	p.parts = make(map[catalog.OID]bool)
	for _, r := range p.readables {
		for _, part := range r.Parts {
			p.parts[part.OID] = true
		}
	}
	var apart []uint32
	for _, s := range p.stored {
		if s.accepted == nil {
			continue
		}
		for _, part := range s.accepted.AllParts() {
			if !p.parts[part] {
				apart = append(apart, uint32(part))
			}
		}
	}
	if len(apart) == 0 {
		return nil
	}
	rows, _ := on.Query(ctx, "SELECT oid FROM pg_catalog.pg_class WHERE oid = ANY ($1)", apart) // the rows carry its error
	there, err := pgx.CollectRows(rows, pgx.RowTo[uint32])
	if err != nil {
		return fmt.Errorf("looking for parts of readable relations: %w", err)
	}
	for _, part := range there {
		p.parts[catalog.OID(part)] = true
	}
	return nil
}

// isGone says whether a part that was served is not there any more.
func (p *planner) isGone(part catalog.OID) bool { return !p.parts[part] }

// partsLiteral are the relations that hold the rows which a partitioned table, or one with
// inheritance, may show: a protected table that becomes a part later shows nothing. The
// stand-in is a security barrier, so that no condition of a client's sees a row before.
func partsLiteral(r catalog.ReadableRelation) string {
	var oids []catalog.OID
	for _, part := range r.Parts {
		oids = append(oids, part.OID)
	}
	return oidArray(append(oids, r.OID))
}

// sameParts has a stand-in fail as long as a part has other columns under the names of those
// that it shows than it had when the stand-in was made. PostgreSQL finds the columns of parts
// by their names, for each statement anew, and the next look may be seconds away. The
// statement has the parts locked by the time at which they are compared, and they are compared
// by the catalogs as they are then, whatever the transaction's snapshot shows.
func sameParts(r catalog.ReadableRelation, columns []string) string {
	alike := make(map[string][]catalog.OID) // parts by the numbers that they have for the columns
	for _, part := range r.Parts {
		var numbers []string
		for _, column := range columns {
			i := slices.IndexFunc(r.Columns, func(c catalog.ReadableColumn) bool { return c.Name == column })
			numbers = append(numbers, fmt.Sprint(part.Numbers[r.Columns[i].Number-1]))
		}
		key := strings.Join(numbers, ", ")
		alike[key] = append(alike[key], part.OID)
	}
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = catalog.QuoteLiteral(column)
	}
	var conditions strings.Builder
	for _, numbers := range slices.Sorted(maps.Keys(alike)) {
		fmt.Fprintf(&conditions, samePartsSQL, oidArray(alike[numbers]), numbers, strings.Join(names, ", "))
	}
	return conditions.String()
}

// samePartsSQL compares the parts %s by the numbers %s of their columns with these columns'
// names %s. What is there no longer shows nothing. Nothing in it is constant, so that the
// error is raised by the statement and not by its plan.
const samePartsSQL = ` AND (SELECT CASE WHEN pg_catalog.bool_and(now.object_names[3] = col.name) IS NOT FALSE THEN true
	ELSE pg_catalog.concat('` + changedPart + `', pg_catalog.left(pg_catalog.count(*)::text, 0))::boolean END
	FROM pg_catalog.unnest(%s::pg_catalog.oid[]) AS part (oid)
	CROSS JOIN ROWS FROM (pg_catalog.unnest(ARRAY[%s]::int[]), pg_catalog.unnest(ARRAY[%s]::text[])) AS col (number, name)
	CROSS JOIN LATERAL pg_catalog.pg_identify_object_as_address('pg_catalog.pg_class'::pg_catalog.regclass, part.oid, col.number) AS now
	WHERE pg_catalog.has_table_privilege(part.oid, 'SELECT') IS NOT NULL)`

// oidArray is a constant.
func oidArray(oids []catalog.OID) string {
	texts := make([]string, len(oids))
	for i, oid := range oids {
		texts[i] = fmt.Sprint(oid)
	}
	return "'{" + strings.Join(texts, ",") + "}'"
}
