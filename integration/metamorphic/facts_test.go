package metamorphic

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// facts are what the server's catalogs list, read as its superuser: what observables are
// made of.
type facts struct {
	relations []relation
	functions []function
	settings  []string
	// names are of objects of every kind, hidden ones too, as text: qualified and quoted
	// where they must be.
	names []string
	// oids are of objects of every kind; nextOID is the first that nothing has had yet.
	oids    []string
	nextOID uint32
}

// relation is a relation with its columns, those of the system too.
type relation struct {
	schema, name string
	columns      []string
}

func (r relation) String() string { return quoted(r.schema) + "." + quoted(r.name) }

// function is a function with the types of its arguments.
type function struct {
	schema, name string
	kind         string // pg_proc.prokind
	arguments    []string
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// gather reads the facts.
func gather(ctx context.Context, url string) (f facts, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return f, err
	}
	defer conn.Close(ctx)
	if err := f.readRelations(ctx, conn); err != nil {
		return f, fmt.Errorf("listing relations: %w", err)
	}
	rows, err := conn.Query(ctx, `SELECT n.nspname, p.proname, p.prokind::text,
		ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY a(t, i) ORDER BY i)
		FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace ORDER BY p.oid`)
	if err != nil {
		return f, err
	}
	f.functions, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (g function, err error) {
		return g, row.Scan(&g.schema, &g.name, &g.kind, &g.arguments)
	})
	if err != nil {
		return f, fmt.Errorf("listing functions: %w", err)
	}
	for query, list := range map[string]*[]string{
		"SELECT name FROM pg_settings ORDER BY name": &f.settings,
		objectNames: &f.names,
		objectOIDs:  &f.oids,
	} {
		rows, err := conn.Query(ctx, query)
		if err != nil {
			return f, err
		}
		if *list, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			return f, fmt.Errorf("%.60s: %w", query, err)
		}
	}
	return f, conn.QueryRow(ctx, "SELECT max(oid)::int8 + 1 FROM (SELECT max(oid) AS oid FROM pg_class UNION ALL SELECT max(oid) FROM pg_type"+
		" UNION ALL SELECT max(oid) FROM pg_proc UNION ALL SELECT max(oid) FROM pg_constraint) o").Scan(&f.nextOID)
}

func (f *facts) readRelations(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, `SELECT n.nspname, c.relname, ARRAY(SELECT attname::text FROM pg_attribute a
		WHERE a.attrelid = c.oid AND NOT a.attisdropped ORDER BY a.attnum)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f', 'S', 't')
		AND (n.nspname <> 'pg_toast' OR c.oid < 1300) ORDER BY c.oid`)
	if err != nil {
		return err
	}
	f.relations, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r relation, err error) {
		return r, row.Scan(&r.schema, &r.name, &r.columns)
	})
	return err
}

// Of PostgreSQL's own objects one of each kind is enough; of others, all that were made for
// the test, and some of kproxy's own.
const (
	objectNames = `SELECT DISTINCT name FROM (
		SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname IN ('public', 'other') OR c.relname IN ('pg_class', 'pg_authid', 'position', 'generation', 'records_6', 'packed_6')
		UNION ALL SELECT oid::regtype::text FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typelem = 0 AND typtype <> 'c' AND oid >= 16384
		UNION ALL SELECT quote_ident(nspname) FROM pg_namespace WHERE nspname !~ '^pg_t'
		UNION ALL SELECT quote_ident(rolname) FROM pg_roles
		UNION ALL SELECT quote_ident(conname) FROM pg_constraint WHERE conrelid >= 16384
		UNION ALL SELECT quote_ident(stxname) FROM pg_statistic_ext
		UNION ALL SELECT oid::regprocedure::text FROM pg_proc WHERE proname IN ('write_journal', 'as_owner', 'tells', 'peek', 'abs') AND oid >= 16384
		UNION ALL SELECT quote_ident(collname) FROM pg_collation WHERE oid >= 16384
		UNION ALL SELECT datname FROM pg_database) AS o(name) ORDER BY name`
	objectOIDs = `SELECT oid::text FROM (
		SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' OR n.nspname ~ '^kproxy' AND c.relkind = 'v'
			AND c.relname IN ('people', 'patients', 'pg_class') OR c.relname IN ('pg_class', 'pg_authid', 'position', 'records_6', 'packed_6')
		UNION ALL SELECT max(oid) FROM pg_type WHERE typnamespace = 'public'::regnamespace GROUP BY typtype, typcategory
		UNION ALL SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_t'
		UNION ALL SELECT oid FROM pg_roles WHERE oid >= 16384 OR oid = 10
		UNION ALL SELECT oid FROM pg_constraint WHERE conrelid IN ('patients'::regclass, 'people'::regclass, 'icd10'::regclass, 'rooms'::regclass, 'lockers'::regclass)
		UNION ALL SELECT oid FROM pg_trigger WHERE tgrelid IN ('patients'::regclass, 'icd10'::regclass)
		UNION ALL SELECT oid FROM pg_statistic_ext
		UNION ALL SELECT oid FROM pg_proc WHERE proname IN ('write_journal', 'as_owner', 'abs') AND oid >= 16384 OR oid = 1242
		UNION ALL SELECT oid FROM pg_database) AS o ORDER BY oid`
)
