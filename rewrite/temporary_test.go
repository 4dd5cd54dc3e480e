package rewrite

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v5"
)

// temporarySeeds are statements of every kind that temporary tables allow.
var temporarySeeds = []string{
	"CREATE TEMP TABLE x (a int PRIMARY KEY, b text COLLATE \"C\" DEFAULT upper('x') NOT NULL, CONSTRAINT c CHECK (a > 0), UNIQUE (a, b)) ON COMMIT DROP",
	"CREATE TEMPORARY TABLE IF NOT EXISTS x (a numeric(3, 1)[] NULL UNIQUE NULLS NOT DISTINCT) ON COMMIT DELETE ROWS",
	"CREATE LOCAL TEMP TABLE x (a, b) ON COMMIT PRESERVE ROWS AS SELECT 1, 'a' FROM patients WITH NO DATA", "CREATE TABLE pg_temp.x AS EXECUTE q (1, 'a')",
	"SELECT age INTO TEMP TABLE x FROM patients WHERE age > 1 UNION SELECT 2",
	"INSERT INTO t AS u (a, b[1], c.d) OVERRIDING USER VALUE VALUES (1, DEFAULT, $1) ON CONFLICT (a, lower(b) COLLATE \"C\") WHERE a > 1 DO UPDATE SET a = excluded.a WHERE u.a > 1 RETURNING *",
	"INSERT INTO pg_temp.t DEFAULT VALUES ON CONFLICT ON CONSTRAINT c DO NOTHING", "WITH p AS (TABLE patients) INSERT INTO t SELECT * FROM p RETURNING t.a AS b",
	"UPDATE ONLY t AS u SET (b, c) = (SELECT 1, 2), (d, e) = (1, 3) FROM patients p WHERE u.a = p.age RETURNING u",
	"WITH RECURSIVE p AS (SELECT 1) DELETE FROM t * u USING wards, p WHERE CURRENT OF c RETURNING (SELECT 1)", "UPDATE t SET a = DEFAULT, f[1] = 2 WHERE a = $1", "TRUNCATE TABLE t, ONLY pg_temp.t RESTART IDENTITY CASCADE",
	"DROP TABLE IF EXISTS t, pg_temp.y CASCADE", "DROP TABLE t RESTRICT",
	"CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS i ON ONLY t USING gin (a, (a + 1) DESC NULLS LAST, lower(b) COLLATE \"C\" text_pattern_ops) INCLUDE (b) NULLS NOT DISTINCT WITH (fillfactor = 1) WHERE a > 1",
	"CREATE INDEX ON t (a)", "ANALYZE (VERBOSE) t (a, b), t", "ANALYZE t",
	"CREATE TABLE x (LIKE t INCLUDING ALL, a int GENERATED ALWAYS AS IDENTITY, b int REFERENCES t (a) MATCH FULL ON DELETE CASCADE, EXCLUDE USING gist (a WITH =)) INHERITS (t) WITH (x = 1)",
}

// spliced puts parts of statements together anew.
func spliced(random *rand.Rand, tokens [][]string) string {
	text := append([]string{}, tokens[random.IntN(len(tokens))]...)
	for range 1 + random.IntN(4) {
		at, donor := random.IntN(len(text)), tokens[random.IntN(len(tokens))]
		from := random.IntN(len(donor))
		part := donor[from:min(len(donor), from+1+random.IntN(8))]
		switch random.IntN(4) {
		case 0:
			text = append(text[:at:at], text[min(len(text), at+1+random.IntN(3)):]...)
		case 1:
			text = append(append(text[:at:at], part...), text[at:]...)
		case 2:
			text = append(text[:at:at], donor[from:]...)
		default:
			text = append(append(text[:at:at], splicePool[random.IntN(len(splicePool))]), text[at+1:]...)
		}
		if len(text) == 0 {
			return ""
		}
	}
	return strings.Join(text, " ")
}

// changes are the words before the names of what statements change.
var changes = regexp.MustCompile(`(?:INSERT INTO|DELETE FROM|UPDATE|TRUNCATE|ANALYZE|DROP TABLE|TEMPORARY TABLE|INTO TEMPORARY| ON)(?: IF NOT EXISTS| IF EXISTS| ONLY)* ([^ (;]+)`)

// changesOthers says what an output changes that is not a temporary table.
func changesOthers(out string) string {
	for _, verb := range []string{"INSERT", "DELETE", "UPDATE", "TRUNCATE", "ANALYZE", "DROP", "CREATE", "WITH"} {
		if !strings.HasPrefix(out, verb) {
			continue
		}
		if found := changes.FindStringSubmatch(out); found != nil && !strings.HasPrefix(found[1], "pg_temp.") {
			return found[0]
		}
	}
	return ""
}

// TestTemporarySplice looks for trees that the deparser does not expect, which would
// end the process, and for outputs that change anything but temporary tables.
func TestTemporarySplice(t *testing.T) {
	t.Parallel()
	var tokens [][]string
	for _, sql := range append(append([]string{}, temporarySeeds...), spliceSeeds...) {
		scan, err := pg.Scan(sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		var words []string
		for _, token := range scan.GetTokens() {
			words = append(words, sql[token.GetStart():token.GetEnd()])
		}
		tokens = append(tokens, words)
	}
	r := New(Options{Database: "clinic", TemporaryTables: true, CacheBytes: NoCache})
	r.SetSnapshot(clinic())
	c := conversation{r: r}
	if _, err := c.send("CREATE TEMP TABLE t (a int)"); err != nil {
		t.Fatal(err)
	}
	passed := 0
	random := rand.New(rand.NewPCG(1, 8))
	for i := range 30000 {
		sql := temporarySeeds[i%len(temporarySeeds)]
		if i >= len(temporarySeeds) {
			sql = spliced(random, tokens)
		}
		statement, err := r.Rewrite(sql, c.s)
		out := ""
		if err == nil {
			passed++
			out = statement.SQL
		}
		if failure := checkOutcome(sql, out, err); failure != nil {
			t.Errorf("%s\n%v\n%s", sql, failure, out)
		}
		if other := changesOthers(out); other != "" {
			t.Errorf("%s\nchanges %s\n%s", sql, other, out)
		}
		if err != nil && strings.Contains(err.Error(), "faithfully") && i < len(temporarySeeds) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if passed < 1000 {
		t.Errorf("only %d of the texts passed", passed)
	}
}
