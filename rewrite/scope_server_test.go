package rewrite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// namedTables are the tables over which names are resolved; each has a row that tells
// where it lies. Every other one is protected.
var namedTables = []catalog.Name{
	{Schema: "a", Relation: "t"},
	{Schema: "a", Relation: "u"},
	{Schema: "b", Relation: "t"},
	{Schema: "b", Relation: "v"},
	{Schema: "public", Relation: "w"},
	{Schema: "public", Relation: "u"},
	{Schema: "B c", Relation: "T"},
	{Schema: "B c", Relation: "t"},
	{Schema: "public", Relation: "pg_class"},
}

func namesDatabase(t *testing.T) (conn *pgconn.PgConn, r *Rewriter) {
	t.Helper()
	conn = connect(t, pgtest.Database(t, pgtest.Shared(t)), nil)
	var script strings.Builder
	var relations []catalog.Relation
	var policy catalog.Policy
	for i, name := range namedTables {
		fmt.Fprintf(&script, "CREATE SCHEMA IF NOT EXISTS %s; CREATE TABLE %s AS SELECT %s::text AS here, 1 AS k;\n",
			catalog.QuoteIdentifier(name.Schema), name.SQL(), catalog.QuoteLiteral(name.String()))
		relations = append(relations, catalog.Relation{Name: name})
		if i%2 == 1 {
			policy.Readable = append(policy.Readable, name)
		} else {
			policy.Tables = append(policy.Tables, catalog.TablePolicy{Table: name})
		}
		published := catalog.Published(name)
		fmt.Fprintf(&script, "CREATE SCHEMA IF NOT EXISTS %s; CREATE VIEW %s AS TABLE %s;\n",
			catalog.QuoteIdentifier(published.Schema), published.SQL(), name.SQL())
	}
	script.WriteString("CREATE SCHEMA kproxy_catalog; CREATE VIEW kproxy_catalog.pg_class AS TABLE pg_catalog.pg_class")
	if a := ask(conn, script.String()); a.state != "" {
		t.Fatal(a.state)
	}
	var database string
	if _, err := fmt.Sscanf(ask(conn, "SELECT current_database()").rows, "[[%s", &database); err != nil {
		t.Fatal(err)
	}
	r = New(Options{Database: strings.TrimRight(database, "]")})
	r.SetSnapshot(catalog.NewSnapshot(policy, relations, nil).WithNames(catalog.ServerNames{Callable: map[string]bool{}}))
	return conn, r
}

// namer writes queries whose point is what their names mean. Each has one column, here.
type namer struct {
	*rand.Rand
	database string
	aliases  int
}

func (n *namer) one(of ...string) string { return of[n.IntN(len(of))] }

// bare is a name that may be that of a table, a CTE, both or nothing.
func (n *namer) bare() string {
	return n.one("t", "t", "t", "t", "u", "u", "u", "T", `U&"\0074"`, `"u"`, n.one("v", "w", `"T"`, "x", "pg_class"))
}

func (n *namer) table() string {
	switch n.IntN(6) {
	case 0:
		return n.one("a.t", "a.u", "b.t", "b.v", "public.w", "public.u", `"B c"."T"`, `"B c".t`, "a.w", "A.T", `"A".t`)
	case 1:
		return n.database + "." + n.one("a.t", "b.t", "public.u", `"B c"."T"`)
	default:
		return n.bare()
	}
}

// query is a query; outer are names by which columns of queries around it can be
// named.
func (n *namer) query(depth int, outer []string) string {
	with := ""
	if depth > 0 && n.IntN(2) == 0 {
		with = n.with(depth-1, outer)
	}
	switch {
	case depth > 0 && n.IntN(4) == 0:
		return with + "(" + n.query(depth-1, outer) + ") UNION ALL " + "(" + n.query(depth-1, outer) + ")"
	case n.IntN(12) == 0:
		return with + "VALUES ('constant')"
	}
	from, visible := n.from(depth, outer)
	return with + "SELECT " + n.column(depth, append(visible, outer...)) + " AS here FROM " + from + n.where(depth, append(visible, outer...))
}

func (n *namer) with(depth int, outer []string) string {
	recursive := n.IntN(2) == 0
	var ctes []string
	used := map[string]bool{}
	for range 1 + n.IntN(3) {
		name := n.one("t", "u", "v", "w", "x", `"T"`, "pg_class")
		if used[name] {
			continue
		}
		used[name] = true
		body := n.query(depth, outer)
		if recursive && n.IntN(2) == 0 {
			body = "SELECT here FROM (" + body + ") AS base UNION SELECT here || '+' FROM " + name + " WHERE length(here) < 9"
		}
		ctes = append(ctes, name+n.one("", "(here)")+" AS "+n.one("", "MATERIALIZED ")+"("+body+")")
	}
	return "WITH " + map[bool]string{true: "RECURSIVE "}[recursive] + strings.Join(ctes, ", ") + " "
}

// from is a FROM clause with the names that it gives to its columns.
func (n *namer) from(depth int, outer []string) (string, []string) {
	var items, visible []string
	for range 1 + n.IntN(3)/2*n.IntN(2) + n.IntN(2) {
		item, names := n.item(depth, append(visible, outer...))
		items, visible = append(items, item), append(visible, names...)
	}
	return strings.Join(items, ", "), visible
}

func (n *namer) item(depth int, outer []string) (string, []string) {
	n.aliases++
	alias := n.one(fmt.Sprintf("i%d", n.aliases), fmt.Sprintf("i%d", n.aliases), fmt.Sprintf("i%d", n.aliases), "t", "u", "x")
	switch choice := n.IntN(10); {
	case depth > 0 && choice < 2:
		return n.one("", "LATERAL ") + "(" + n.query(depth-1, outer) + ") AS " + alias + n.one("", "(here)"), []string{alias}
	case depth > 0 && choice < 4:
		left, leftNames := n.item(depth-1, outer)
		right, rightNames := n.item(depth-1, append(leftNames, outer...))
		join := left + " " + n.one("CROSS JOIN "+right, "NATURAL JOIN "+right, "LEFT JOIN "+right+" USING (here)", "JOIN "+right+" ON true", "JOIN "+right+" USING (here) AS "+alias)
		if n.IntN(4) == 0 {
			return "(" + join + ") AS " + alias, []string{alias}
		}
		return join, append(leftNames, rightNames...)
	case choice < 6:
		return n.table() + " AS " + alias + n.one("", "(here)", "(here, k)"), []string{alias}
	}
	table := n.table()
	names := []string{table}
	if dot := strings.LastIndex(table, "."); dot >= 0 {
		names = append(names, table[dot+1:])
	}
	return n.one("", "", "ONLY ") + table, names
}

// column is a text that names columns of what is visible.
func (n *namer) column(depth int, visible []string) string {
	name := "nothing"
	if len(visible) > 0 {
		name = visible[min(n.IntN(len(visible)), n.IntN(len(visible)))]
	}
	switch n.IntN(14) {
	case 0:
		return "here"
	case 1:
		return n.one("a.t", "b.t", "public.u", `"B c".t`) + ".here"
	case 2:
		if depth > 0 {
			return "(SELECT max(here) FROM (" + n.query(depth-1, visible) + ") AS s)"
		}
	case 3:
		if !strings.Contains(name, ".") {
			return name + "::text"
		}
		return "row_to_json(row(" + name + ".*))::text"
	}
	return name + ".here"
}

func (n *namer) where(depth int, visible []string) string {
	if depth == 0 || n.IntN(4) > 0 {
		return ""
	}
	return n.one(" WHERE EXISTS (", " WHERE 'a.t' <> ALL (") + n.query(depth-1, visible) + ")"
}

// TestNamesMeanTheSame runs queries as they are, on the tables, and rewritten, on what
// is published of them: both must read the same relations.
func TestNamesMeanTheSame(t *testing.T) {
	t.Parallel()
	conn, r := namesDatabase(t)
	paths := []string{`"$user", public`, "a, b", "b, a, public", `"B c", b, a`, "public, pg_catalog, a", "a, public", ""}
	answered, refused := 0, 0
	for i := range 4000 {
		n := &namer{Rand: rand.New(rand.NewPCG(uint64(i), 3)), database: r.options.Database}
		path := paths[i%len(paths)]
		sql := "SELECT count(*), string_agg(here, ',' ORDER BY here COLLATE \"C\") FROM (" + n.query(1+i%3, nil) + ") AS result"
		s, err := r.NewSession(map[string]string{"search_path": path})
		if err != nil {
			t.Fatal(err)
		}
		ask(conn, "SELECT set_config('search_path', "+catalog.QuoteLiteral(path)+", false)")
		want := ask(conn, sql)
		statement, err := r.Rewrite(sql, s)
		if err != nil {
			if want.state == "" {
				refused++
				if testing.Verbose() {
					t.Logf("refused: %v\n%s", err, sql)
				}
			}
			continue
		}
		ask(conn, "SET search_path = ''")
		if got := ask(conn, statement.SQL); got.rows != want.rows || (got.state == "") != (want.state == "") {
			t.Fatalf("path %s\n%s\n%+v\nrewritten:\n%s\n%+v", path, sql, want, statement.SQL, got)
		}
		if want.state == "" {
			answered++
		}
	}
	t.Logf("%d answered alike, %d refused that PostgreSQL answers", answered, refused)
	if answered < 600 || refused > answered/50 {
		t.Errorf("%d answered alike, %d refused that PostgreSQL answers", answered, refused)
	}
	_ = conn.Close(context.Background())
}
