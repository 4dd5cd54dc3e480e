package rewrite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// pathSchemas are the schemas of the model's database; each has a table "t" that says
// where it lies. That of the user's name is added to them.
var pathSchemas = []string{"a", "b", "C d", "public", `q"t`}

// twoWorlds is a session with a real server beside one that goes through a rewriter
// that has the same tables, as they are.
type twoWorlds struct {
	t            *testing.T
	real, behind *pgconn.PgConn
	r            *Rewriter
	s            *Session
	log          []string
}

func connect(t *testing.T, url string, parameters map[string]string) *pgconn.PgConn {
	t.Helper()
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	for name, setting := range parameters {
		config.RuntimeParams[name] = setting
	}
	conn, err := pgconn.ConnectConfig(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// pathDatabase makes the model's database and a rewriter that knows it.
func pathDatabase(t *testing.T) (url, user string, r *Rewriter) {
	t.Helper()
	url = pgtest.Database(t, pgtest.Shared(t))
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, url, nil)
	var relations []catalog.Relation
	var policy catalog.Policy
	for _, schema := range append([]string{config.User}, pathSchemas...) {
		name := catalog.Name{Schema: schema, Relation: "t"}
		sql := fmt.Sprintf("CREATE SCHEMA IF NOT EXISTS %s; CREATE TABLE %s AS SELECT %s::text AS here; CREATE SCHEMA %s; CREATE VIEW %s AS TABLE %s",
			catalog.QuoteIdentifier(schema), name.SQL(), catalog.QuoteLiteral(schema),
			catalog.QuoteIdentifier(catalog.ReleaseSchema(schema)), catalog.Published(name).SQL(), name.SQL())
		if _, err := conn.Exec(context.Background(), sql).ReadAll(); err != nil {
			t.Fatal(err)
		}
		relations = append(relations, catalog.Relation{Name: name})
		policy.Readable = append(policy.Readable, name)
	}
	r = New(Options{TemporaryTables: true})
	r.SetSnapshot(catalog.NewSnapshot(policy, relations, nil).WithNames(catalog.ServerNames{Callable: map[string]bool{}}))
	return url, config.User, r
}

// answer is what a client sees of a text: rows and the SQLSTATE of an error.
type answer struct {
	rows   string
	state  string
	done   int // statements that have run
	status byte
}

func stateOf(err error) string {
	var failure *pgconn.PgError
	if errors.As(err, &failure) {
		return failure.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func ask(conn *pgconn.PgConn, sql string) answer {
	var a answer
	results, err := conn.Exec(context.Background(), sql).ReadAll()
	for _, r := range results {
		if r.Err == nil {
			a.done++
			a.rows += fmt.Sprintf("%s", r.Rows)
		}
	}
	a.state, a.status = stateOf(err), conn.TxStatus()
	return a
}

// segment sends texts with the extended protocol and one Sync.
func segment(conn *pgconn.PgConn, texts []string) answer {
	var a answer
	p := conn.StartPipeline(context.Background())
	for _, sql := range texts {
		p.SendQueryParams(sql, nil, nil, nil, nil)
	}
	err := p.Sync()
	for err == nil {
		var results any
		if results, err = p.GetResults(); err != nil {
			a.state = stateOf(err)
			err = nil
			if _, again := results.(*pgconn.PipelineSync); again {
				break
			}
			continue
		}
		if _, synced := results.(*pgconn.PipelineSync); synced || results == nil {
			break
		}
		if reader, ok := results.(*pgconn.ResultReader); ok {
			r := reader.Read()
			if r.Err != nil {
				a.state = stateOf(r.Err)
				continue
			}
			a.done++
			a.rows += fmt.Sprintf("%s", r.Rows)
		}
	}
	if closing := p.Close(); closing != nil && a.state == "" {
		a.state = stateOf(closing)
	}
	a.status = conn.TxStatus()
	return a
}

func (w *twoWorlds) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("%s\nafter:\n%s", fmt.Sprintf(format, args...), strings.Join(w.log, "\n"))
}

// rewrite is what is sent in a state and what it does; a refused text becomes one that
// fails in the same way.
func (w *twoWorlds) rewrite(sql string, s *Session) (string, []Effect) {
	statement, err := w.r.Rewrite(sql, s)
	var refusal *Refusal
	if errors.As(err, &refusal) {
		w.log = append(w.log, "   refused: "+err.Error())
		return fmt.Sprintf("DO $$ BEGIN RAISE SQLSTATE '%s'; END $$", refusal.SQLState()), nil
	}
	return statement.SQL, statement.Effects
}

// text sends one text with the simple protocol to both worlds.
func (w *twoWorlds) text(sql string) {
	w.t.Helper()
	w.log = append(w.log, "simple: "+sql)
	sent, effects := w.rewrite(sql, w.s)
	want, got := ask(w.real, sql), ask(w.behind, sent)
	for _, e := range effects[:min(got.done, len(effects))] {
		w.s = w.s.After(e)
	}
	w.compare(sent, want, got)
}

// texts sends texts in one segment of the extended protocol to both worlds.
func (w *twoWorlds) texts(list []string) {
	w.t.Helper()
	w.log = append(w.log, "extended: "+strings.Join(list, " | "))
	var sent []string
	var effects []Effect
	ahead := w.s
	for _, sql := range list {
		text, does := w.rewrite(sql, ahead)
		var e Effect
		if len(does) > 0 {
			e = does[0]
		}
		sent, effects, ahead = append(sent, text), append(effects, e), ahead.After(e)
	}
	want, got := segment(w.real, list), segment(w.behind, sent)
	for _, e := range effects[:got.done] {
		w.s = w.s.After(e)
	}
	w.compare(strings.Join(sent, " | "), want, got)
}

func (w *twoWorlds) compare(sent string, want, got answer) {
	w.t.Helper()
	if want.state == "3F000" && got.state == stateUndefinedRel {
		want.state = got.state // pg_temp does not exist before its first table
	}
	if got != want {
		w.fail("the server: %+v\nthrough the rewriter: %+v\nsent: %s", want, got, sent)
	}
	w.s = w.s.Synced(got.status, got.state != "")
	if got.status == 'E' {
		return
	}
	for name, mine := range map[string]string{"search_path": w.s.SearchPath(), "client_encoding": w.s.Encoding()} {
		if shown := ask(w.real, "SHOW "+name).rows; shown != fmt.Sprintf("[[%s]]", mine) {
			w.fail("the server's %s is %s, the session's %s", name, shown, mine)
		}
	}
}

// check compares what the path leads to.
func (w *twoWorlds) check() {
	for _, sql := range []string{
		"SELECT current_schemas(true), current_schemas(false), current_schema", "SELECT here FROM t",
		"SELECT current_setting('search_path')",
	} {
		w.text(sql)
	}
}

// pathTexts are statements by which a session's path may change; some fail.
var pathTexts = []string{
	"BEGIN", "BEGIN", "START TRANSACTION", "COMMIT", "COMMIT", "ROLLBACK", "COMMIT AND CHAIN", "ROLLBACK AND CHAIN", "END",
	"SAVEPOINT s", "SAVEPOINT s", `SAVEPOINT "T"`, "SAVEPOINT u", "ROLLBACK TO s", "ROLLBACK TO s", `ROLLBACK TO "T"`, "ROLLBACK TO SAVEPOINT u",
	"RELEASE s", "RELEASE s", `RELEASE SAVEPOINT "T"`, "RELEASE u",
	"SET search_path = a", "SET search_path TO b, a", `SET SESSION search_path = "C d", public`, "SET LOCAL search_path = b",
	"SET LOCAL search_path = public, a", `SET LOCAL search_path TO "$user", a`, "SET search_path TO DEFAULT", "SET LOCAL search_path TO DEFAULT",
	"RESET search_path", "RESET ALL", "DISCARD ALL", "DISCARD TEMP", "DISCARD PLANS", "SET search_path = 'a, b'", "SET search_path = ''", `SET search_path = "Missing", b`,
	`SET SCHEMA 'b'`, `SET search_path = A, pg_catalog`, "SET search_path = b, pg_catalog, b, a", `SET search_path = "select", within, 1, 2.5`,
	`SET search_path = U&"q\0022t"`, "SET search_path = a, pg_temp", "SET search_path TO information_schema, 'true', true",
	"SELECT set_config('search_path', 'a,b', false)", `SELECT pg_catalog.set_config('search_path', '"C d" , A', true)`,
	"SELECT current_setting('search_path'), set_config('search_path', 'b, a', false)", "SELECT set_config('search_path', '', false)",
	"SELECT pg_catalog.current_setting('Search_Path') AS a, current_setting('search_path'), set_config('search_path', NULL, true)", "SELECT set_config('Search_Path', 'b', true) AS x",
	"SET client_encoding = latin1", "SET LOCAL client_encoding TO 'win-1252'", "SET NAMES 'sjis'", "SET NAMES 'sql_ascii'", "SET NAMES DEFAULT", "RESET client_encoding",
	"SELECT set_config('Client_Encoding', 'koi8r', true)", "SELECT set_config('client_encoding', NULL, false)", "SHOW client_encoding",
	"SHOW search_path", "SHOW search_path", "SELECT current_schemas(true)", "SELECT current_schema()", "SELECT 1/0", "SELECT 1",
}

// temporaryTexts are statements about temporary tables; t hides those of the schemas.
var temporaryTexts = []string{
	"CREATE TEMP TABLE t (here text DEFAULT 'temporary' NOT NULL, k int PRIMARY KEY)", "CREATE TEMPORARY TABLE x (here text, k int UNIQUE CHECK (k < 9))",
	"CREATE TEMP TABLE IF NOT EXISTS t AS SELECT 'as'::text AS here, 3 AS k", "CREATE TEMP TABLE t ON COMMIT DROP AS SELECT 'dropped'::text AS here, 1 AS k",
	"CREATE LOCAL TEMP TABLE x ON COMMIT DELETE ROWS AS TABLE a.t", "SELECT here, 2 AS k INTO TEMP t FROM t", "SELECT here INTO pg_temp.x FROM b.t UNION SELECT 'y'",
	"CREATE TABLE pg_temp.x (here) AS VALUES ('values')", "DROP TABLE IF EXISTS pg_temp.t", "DROP TABLE pg_temp.t", "DROP TABLE IF EXISTS x", "DROP TABLE x, pg_temp.t",
	"INSERT INTO x SELECT here FROM t", "INSERT INTO x (here, k) VALUES ('a', 1), (DEFAULT, 2) ON CONFLICT (k) DO UPDATE SET here = excluded.here || x.here RETURNING *",
	"WITH t AS (SELECT 'cte'::text AS here) INSERT INTO x SELECT here FROM t RETURNING pg_temp.x.here",
	"UPDATE x SET here = x.here || '+' WHERE here <> 'q' RETURNING here", "UPDATE x AS y SET (here, k) = (SELECT t.here, 5 FROM t LIMIT 1)", "DELETE FROM x USING t WHERE x.here = t.here",
	"TRUNCATE x", "CREATE INDEX ON x (here, lower(here) DESC) WHERE here > 'a'", "ANALYZE x", "SELECT here FROM x", "SELECT here FROM pg_temp.t", "SELECT here FROM x JOIN t USING (here)",
	"DISCARD TEMP", "DISCARD ALL", "SET search_path = a, pg_temp", "SET search_path = pg_temp, b", "RESET search_path",
	"BEGIN", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT s", "ROLLBACK TO s", "RELEASE s", "SELECT 1/0",
}

// TestTemporaryTablesFollowServer does what TestSessionFollowsServer does with
// temporary tables, which hide the others and go with their transactions.
func TestTemporaryTablesFollowServer(t *testing.T) {
	t.Parallel()
	url, user, r := pathDatabase(t)
	made := 0
	for i := range 120 {
		random := rand.New(rand.NewPCG(uint64(i), 7))
		w := twoWorlds{t: t, real: connect(t, url, nil), behind: connect(t, url, nil), r: r}
		var err error
		if w.s, err = r.NewSession(map[string]string{"user": user}); err != nil {
			t.Fatal(err)
		}
		w.log = append(w.log, fmt.Sprintf("sequence %d", i))
		for range 10 + random.IntN(30) {
			w.text(temporaryTexts[random.IntN(len(temporaryTexts))])
			if made += len(w.s.temporary); random.IntN(2) == 0 {
				w.text("SELECT here FROM t ORDER BY 1")
			}
		}
		_, _ = w.real.Close(context.Background()), w.behind.Close(context.Background())
	}
	if made < 500 {
		t.Errorf("only %d temporary tables lived", made)
	}
}

// nestedTexts change the path inside savepoints, and rarely fail.
var nestedTexts = []string{
	"SAVEPOINT s", "SAVEPOINT s", "SAVEPOINT s", "RELEASE s", "RELEASE s", "RELEASE s", "ROLLBACK TO s", "COMMIT AND CHAIN", "COMMIT", "BEGIN",
	"SET search_path = a", "SET search_path = b", "SET LOCAL search_path = public", "SET LOCAL search_path = a, b", "SET LOCAL search_path TO DEFAULT",
	"RESET search_path", "RESET ALL", "RESET ALL", "SET client_encoding = uhc", "SELECT set_config('client_encoding', 'SQL-ASCII', true)", "SET LOCAL client_encoding = latin9", "SET client_encoding TO DEFAULT",
}

// encodingOnly is what the proxy passes on of the parameters.
func encodingOnly(parameters map[string]string) map[string]string {
	passed := map[string]string{}
	if encoding, given := parameters["client_encoding"]; given {
		passed["client_encoding"] = encoding
	}
	return passed
}

func TestSessionFollowsServer(t *testing.T) {
	t.Parallel()
	url, user, r := pathDatabase(t)
	sequences := 350
	for i := range sequences {
		random := rand.New(rand.NewPCG(uint64(i), 6))
		parameters := map[string]string{}
		if i%3 == 1 {
			parameters["search_path"] = []string{"a", `"C d",B`, "", "b , pg_catalog"}[i/3%4]
			parameters["client_encoding"] = []string{"LATIN1", "utf8", "Shift-JIS", "SQL_ASCII"}[i/3%4]
		}
		w := twoWorlds{t: t, real: connect(t, url, parameters), behind: connect(t, url, encodingOnly(parameters)), r: r}
		parameters["user"] = user
		var err error
		if w.s, err = r.NewSession(parameters); err != nil {
			t.Fatal(err)
		}
		w.log = append(w.log, fmt.Sprintf("sequence %d: %v", i, parameters))
		texts := pathTexts
		if i%2 == 1 {
			texts = nestedTexts
			w.text("BEGIN")
		}
		pick := func() string { return texts[random.IntN(len(texts))] }
		for range 10 + random.IntN(30) {
			list := []string{pick()}
			for random.IntN(3) == 0 {
				list = append(list, pick())
			}
			switch {
			case i%2 == 0 && random.IntN(12) == 0: // refused; of several statements, the others would run
				w.text("SELECT set_config('search_path', 'a b', false)")
			case random.IntN(3) == 0:
				w.texts(list)
			default:
				w.text(strings.Join(list, "; "))
			}
			if random.IntN(4) == 0 {
				w.check()
			}
		}
		_, _ = w.real.Close(context.Background()), w.behind.Close(context.Background())
	}
}
