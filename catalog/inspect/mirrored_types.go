package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// CodeType is about a type of users that the database of the release lacks, or has otherwise.
const CodeType = "type-missing"

// CodeCollation is about a collation that the database of the release lacks.
const CodeCollation = "collation-missing"

// MirroredType is a type of users that the store needs, as the source has it.
type MirroredType struct {
	// Name is quoted and qualified.
	Name string
	// Kind is pg_type.typtype: e, d, c or, of what cannot be made by a statement, another one.
	Kind   string
	Schema string
	// Labels are those of an enumeration, in their order.
	Labels []string
	// Create makes it, where Kind is e, d or c. A domain is made without its constraints, which the
	// source's values have passed.
	Create string
	// Extension is what it belongs to, if anything.
	Extension string
	// Tables are the protected tables that have columns of it.
	Tables []catalog.Name
}

// mirroredQuery reads the types of users that the columns $2 of the relation $1 have, those they are
// made of first.
const mirroredQuery = `WITH RECURSIVE wanted(oid, depth) AS (
		SELECT a.atttypid, 0 FROM pg_attribute a WHERE a.attrelid = $1 AND a.attname = ANY ($2::text[]) AND NOT a.attisdropped
		UNION
		SELECT part.oid, w.depth + 1 FROM wanted w JOIN pg_type t ON t.oid = w.oid
		CROSS JOIN LATERAL (
			SELECT t.typelem WHERE t.typelem <> 0 UNION ALL SELECT t.typbasetype WHERE t.typbasetype <> 0
			UNION ALL SELECT f.atttypid FROM pg_attribute f WHERE f.attrelid = t.typrelid AND f.attnum > 0 AND NOT f.attisdropped) AS part(oid)
		WHERE w.depth < 32
	), types AS (SELECT oid, max(depth) AS depth FROM wanted GROUP BY oid)
	SELECT format_type(t.oid, NULL), t.typtype::text, n.nspname::text,
		ARRAY(SELECT e.enumlabel::text FROM pg_enum e WHERE e.enumtypid = t.oid ORDER BY e.enumsortorder),
		coalesce(CASE t.typtype
			WHEN 'd' THEN format('CREATE DOMAIN %s AS %s', format_type(t.oid, NULL), format_type(t.typbasetype, t.typtypmod)) ||
				coalesce((SELECT format(' COLLATE %I.%I', cn.nspname, c.collname) FROM pg_collation c JOIN pg_namespace cn ON cn.oid = c.collnamespace
					JOIN pg_type b ON b.oid = t.typbasetype WHERE c.oid = t.typcollation AND t.typcollation <> b.typcollation), '')
			WHEN 'c' THEN format('CREATE TYPE %s AS (%s)', format_type(t.oid, NULL),
				(SELECT string_agg(format('%I %s', f.attname, format_type(f.atttypid, f.atttypmod)), ', ' ORDER BY f.attnum)
				FROM pg_attribute f WHERE f.attrelid = t.typrelid AND f.attnum > 0 AND NOT f.attisdropped))
			END, ''),
		coalesce((SELECT x.extname::text FROM pg_depend d JOIN pg_extension x ON x.oid = d.refobjid
			WHERE d.classid = 'pg_type'::regclass AND d.objid = t.oid AND d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass), '')
	FROM types JOIN pg_type t ON t.oid = types.oid JOIN pg_namespace n ON n.oid = t.typnamespace
	WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND NOT (t.typelem <> 0 AND t.typlen = -1 AND t.typtype = 'b')
	ORDER BY types.depth DESC, 1`

// MirroredTypes returns the types of users that the store needs for the protected tables, each once
// and in the order in which they can be made. The relations are those of the source.
func MirroredTypes(ctx context.Context, source *pgx.Conn, policy catalog.Policy, relations []catalog.Relation) ([]MirroredType, error) {
	var types []MirroredType
	err := reading(ctx, source, func() error {
		for _, t := range policy.Tables {
			i := slices.IndexFunc(relations, func(r catalog.Relation) bool { return r.Name == t.Table })
			if i < 0 {
				continue
			}
			rows, _ := source.Query(ctx, mirroredQuery, uint32(relations[i].OID), storedColumns(relations[i], t)) // the rows carry its error
			found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[mirroredRow])
			if err != nil {
				return fmt.Errorf("reading the types of %s: %w", t.Table, err)
			}
			for _, row := range found {
				at := slices.IndexFunc(types, func(t MirroredType) bool { return t.Name == row.Name })
				if at < 0 {
					at, types = len(types), append(types, row.typed())
				}
				types[at].Tables = append(types[at].Tables, t.Table)
			}
		}
		return nil
	})
	return types, err
}

// storedColumns are the columns that the store needs of a table.
func storedColumns(r catalog.Relation, t catalog.TablePolicy) []string {
	columns := slices.Clone(r.Key)
	for _, c := range t.Columns {
		if c.Role != catalog.Identifying {
			columns = append(columns, c.Name)
		}
	}
	return columns
}

type mirroredRow struct {
	Name, Kind, Schema string
	Labels             []string
	Create, Extension  string
}

func (r mirroredRow) typed() MirroredType {
	t := MirroredType{Name: r.Name, Kind: r.Kind, Schema: r.Schema, Labels: r.Labels, Create: r.Create, Extension: r.Extension}
	if t.Kind == "e" {
		quoted := make([]string, len(t.Labels))
		for i, label := range t.Labels {
			quoted[i] = catalog.QuoteLiteral(label)
		}
		t.Create = fmt.Sprintf("CREATE TYPE %s AS ENUM (%s)", t.Name, strings.Join(quoted, ", "))
	}
	return t
}

// Missing returns the statements that give a database the type as the source has it; none where it
// has that, and an explanation where no statement can. The second result says what differs.
func (t MirroredType) Missing(ctx context.Context, owner *pgx.Conn) (statements []string, what string, err error) {
	var there bool
	var labels []string
	err = owner.QueryRow(ctx, `SELECT to_regtype($1) IS NOT NULL,
		ARRAY(SELECT e.enumlabel::text FROM pg_catalog.pg_enum e WHERE e.enumtypid = to_regtype($1) ORDER BY e.enumsortorder)`, t.Name).Scan(&there, &labels)
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("looking for type %s: %w", t.Name, err)
	case !there && t.Create == "":
		return nil, "there is no such type", nil
	case !there:
		return []string{"CREATE SCHEMA IF NOT EXISTS " + catalog.QuoteIdentifier(t.Schema), t.Create}, "there is no such type", nil
	case t.Kind != "e" || slices.Equal(labels, t.Labels):
		return nil, "", nil
	}
	// What is added where the source has it leaves the other labels in their order.
	for i, label := range t.Labels {
		if slices.Contains(labels, label) {
			continue
		}
		add := fmt.Sprintf("ALTER TYPE %s ADD VALUE IF NOT EXISTS %s", t.Name, catalog.QuoteLiteral(label))
		switch {
		case i > 0:
			add += " AFTER " + catalog.QuoteLiteral(t.Labels[i-1])
		case len(labels) > 0:
			add += " BEFORE " + catalog.QuoteLiteral(labels[0])
		}
		statements = append(statements, add)
	}
	return statements, "its labels are not those of the source", nil
}

// checkMirroredTypes wants the store's database to have the types of users that the source's columns
// have.
func checkMirroredTypes(ctx context.Context, owner, source *pgx.Conn, policy catalog.Policy, relations []catalog.Relation) (Report, error) {
	types, err := MirroredTypes(ctx, source, policy, relations)
	if err != nil {
		return nil, err
	}
	var report Report
	for _, t := range types {
		statements, what, err := t.Missing(ctx, owner)
		if err != nil {
			return nil, err
		}
		if what == "" {
			continue
		}
		severity, fix := Error, strings.Join(statements, ";\n")
		switch {
		case t.Extension != "":
			fix = "CREATE EXTENSION " + catalog.QuoteIdentifier(t.Extension) + " in the same schema as at the source"
		case len(statements) == 0 && t.Kind == "e":
			fix = "rename or order its labels as they are at the source"
		case len(statements) == 0:
			fix = "make it as it is at the source"
		case t.Kind == "e" && slices.ContainsFunc(statements, func(s string) bool { return strings.HasPrefix(s, "ALTER TYPE") }):
			// The table goes on until a row has such a label.
			severity, what = Warning, "it lacks labels of the source, and a row with one of them halts the table"
			fix = "run 'kproxy setup', or:\n" + fix
		default:
			fix = "run 'kproxy setup', or:\n" + fix
		}
		for _, table := range t.Tables {
			report.add(severity, CodeType, table, fmt.Sprintf("type %s, in the database of the release: %s", t.Name, what), fix)
		}
	}
	collations, err := checkMirroredCollations(ctx, owner, source, policy, relations)
	return append(report, collations...), err
}

// collationsQuery reads the collations that the columns $2 of the relation $1 have and that are not
// those of their types.
const collationsQuery = `SELECT DISTINCT format('%I.%I', n.nspname, c.collname) FROM pg_attribute a
	JOIN pg_type t ON t.oid = a.atttypid AND t.typcollation <> a.attcollation
	JOIN pg_collation c ON c.oid = a.attcollation JOIN pg_namespace n ON n.oid = c.collnamespace
	WHERE a.attrelid = $1 AND a.attname = ANY ($2::text[]) AND NOT a.attisdropped ORDER BY 1`

// checkMirroredCollations wants the store's database to have the collations that the source's columns
// have.
func checkMirroredCollations(ctx context.Context, owner, source *pgx.Conn, policy catalog.Policy, relations []catalog.Relation) (report Report, err error) {
	for _, t := range policy.Tables {
		i := slices.IndexFunc(relations, func(r catalog.Relation) bool { return r.Name == t.Table })
		if i < 0 {
			continue
		}
		var names, missing []string
		err := reading(ctx, source, func() error {
			rows, _ := source.Query(ctx, collationsQuery, uint32(relations[i].OID), storedColumns(relations[i], t)) // the rows carry its error
			names, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		})
		if err == nil {
			err = owner.QueryRow(ctx, "SELECT ARRAY(SELECT c FROM unnest($1::text[]) AS c WHERE to_regcollation(c) IS NULL)", names).Scan(&missing)
		}
		if err != nil {
			return nil, fmt.Errorf("looking for the collations of %s: %w", t.Table, err)
		}
		for _, name := range missing {
			report.add(Error, CodeCollation, t.Table, fmt.Sprintf("there is no collation %s in the database of the release", name),
				"make it there as it is at the source, by CREATE COLLATION; its schema must be there, too")
		}
	}
	return report, nil
}
