package rewrite

import (
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v5"
)

// spliceSeeds are statements of every kind that passes, for FuzzStatementSplice to
// take apart.
var spliceSeeds = []string{
	"COPY (SELECT 1) TO STDOUT (FORMAT csv, HEADER true, DELIMITER ',', NULL '', QUOTE '\"', ESCAPE 'x', ENCODING 'UTF8', FORCE_QUOTE (a, b))",
	"COPY patients (age, sex) TO STDOUT WITH CSV HEADER DELIMITER ',' NULL AS 'n' FORCE QUOTE *",
	"COPY patients TO STDOUT (FORMAT binary)",
	"SET statement_timeout = '30s'", "SET LOCAL extra_float_digits TO 3", "SET datestyle TO ISO, DMY",
	"SET TIME ZONE INTERVAL '+01:00' HOUR TO MINUTE", "SET TIME ZONE INTERVAL (2) '+01:00'", "SET TIME ZONE -1.5", "SET timezone TO DEFAULT",
	"SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY, NOT DEFERRABLE",
	"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY", "RESET ALL", "RESET timezone", "SHOW TIME ZONE", "DISCARD ALL",
	"EXPLAIN (ANALYZE true, BUFFERS off, COSTS 1, FORMAT json, TIMING, SUMMARY on) SELECT 1", "EXPLAIN ANALYZE EXECUTE q (1, 'a')",
	"DECLARE c BINARY INSENSITIVE NO SCROLL CURSOR WITH HOLD FOR SELECT * FROM patients", "FETCH BACKWARD ALL FROM c",
	"FETCH ABSOLUTE -5 FROM c", "MOVE RELATIVE 2 IN c", "CLOSE ALL", "FETCH FORWARD 3 c", "CLOSE c",
	"BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY, DEFERRABLE", "START TRANSACTION READ ONLY", "COMMIT AND NO CHAIN",
	"SAVEPOINT a", "ROLLBACK TO SAVEPOINT a", "RELEASE a", "ROLLBACK AND CHAIN",
	"PREPARE q (int, numeric(10, 2), text[]) AS SELECT $1, $2", "EXECUTE q (1 + 2, ARRAY[1])", "DEALLOCATE PREPARE ALL", "DEALLOCATE q",
	"SELECT '1'::numeric(10, -2), 'a'::varchar(3)[], '1'::interval day to second (3), CAST(a AS timestamp(3) with time zone), pg_catalog.timestamptz '1'",
	"SELECT b'01', x'1F', U&'a', E'\\n', $$a$$, 1.5e3, NULL, DATE '2020-01-01', interval '1' year, time (2) with time zone '1:00'",
	"SELECT (a).b, a[1:2], (a)[1].b.*, ARRAY[[1], [2]], ROW(1, 2), (1, 2) = (3, 4) FROM patients a",
	"SELECT count(*) FILTER (WHERE a) OVER (PARTITION BY b ORDER BY c ROWS BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE TIES) FROM wards",
	"SELECT a, sum(b) OVER w FROM wards GROUP BY GROUPING SETS ((), (a), ROLLUP (a, b), CUBE (c)) HAVING grouping(a) = 0 WINDOW w AS (ORDER BY a DESC NULLS LAST)",
	"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a), string_agg(DISTINCT a, ',' ORDER BY b USING <) FROM wards",
	"SELECT * FROM ROWS FROM (generate_series(1, 2), json_to_record('{}') AS (a int, b text COLLATE \"C\")) WITH ORDINALITY AS t (x, y)",
	"SELECT * FROM json_to_recordset('[]') AS t (a int, b numeric(3, 1)[]), LATERAL unnest(ARRAY[1]) u",
	"SELECT * FROM XMLTABLE(XMLNAMESPACES('x' AS y, DEFAULT 'z'), '/a' PASSING BY REF b COLUMNS n FOR ORDINALITY, c int PATH 'c' DEFAULT 1 NOT NULL) x",
	"SELECT xmlelement(name a, xmlattributes(b AS c, d), e), xmlforest(a, b AS c), xmlpi(name x, 'y'), xmlconcat(a, b)",
	"SELECT xmlroot(a, version '1.0', standalone no value), xmlparse(document a), xmlserialize(content a AS text indent), a IS DOCUMENT",
	"SELECT json_object('a': 1, 'b' VALUE 2 ABSENT ON NULL WITH UNIQUE KEYS RETURNING jsonb), json_array(1, 2 FORMAT JSON NULL ON NULL)",
	"SELECT json_array(SELECT 1 FORMAT JSON RETURNING text), json_objectagg(a: b), json_arrayagg(a ORDER BY b RETURNING bytea FORMAT JSON ENCODING UTF8), a IS JSON OBJECT WITH UNIQUE",
	"SELECT trim(both 'x' FROM a), substring(a FROM 1 FOR 2), substring(a SIMILAR b ESCAPE c), overlay(a PLACING b FROM 1 FOR 2), position(a IN b), extract(year FROM a)",
	"SELECT normalize(a, NFC), a IS NOT NFKD NORMALIZED, a AT TIME ZONE 'UTC', (a, b) OVERLAPS (c, d), COLLATION FOR (a), a COLLATE \"C\"",
	"SELECT a LIKE b ESCAPE 'c', a NOT ILIKE b, a SIMILAR TO b ESCAPE 'c', a BETWEEN SYMMETRIC 1 AND 2, a IN (1, 2), a = ANY (ARRAY[1]), a <> ALL (SELECT 1)",
	"SELECT a IS DISTINCT FROM b, a IS NOT TRUE, a ISNULL, NOT EXISTS (SELECT), a OPERATOR(pg_catalog.+) b, - a, NULLIF(a, b), greatest(a, b), coalesce(a)",
	"SELECT CASE a WHEN 1 THEN 2 ELSE 3 END, CURRENT_TIMESTAMP(3), CURRENT_USER, SYSTEM_USER, LOCALTIME, current_schema, f => 1, lower(VARIADIC a)",
	"WITH RECURSIVE t (n) AS MATERIALIZED (SELECT 1 UNION ALL SELECT n + 1 FROM t) SEARCH DEPTH FIRST BY n SET o CYCLE n SET c TO true DEFAULT false USING p TABLE t",
	"SELECT DISTINCT ON (a) * FROM wards a JOIN patients AS b (c, d) USING (x) AS j NATURAL LEFT JOIN (VALUES (1, DEFAULT)) v ORDER BY 1 LIMIT ALL OFFSET 1 ROWS",
	"SELECT 1 INTERSECT ALL (SELECT 2 EXCEPT SELECT 3 FETCH FIRST (1 + 1) ROWS WITH TIES)", "VALUES (1, 'a'), (NULL, $1)", "TABLE wards",
	"SELECT * FROM ONLY (wards), wards * TABLESAMPLE bernoulli (1) REPEATABLE (2) FOR UPDATE OF wards SKIP LOCKED",
	"SELECT c.oid::regclass, 'patients'::regclass, pg_typeof(1), format_type(a, NULL), pg_table_is_visible(1), age(a) FROM pg_class c",
}

// splicePool are tokens that stand where something else is expected.
var splicePool = strings.Fields(`( ) , . * + - [ ] : :: = 1 -1 1.5 99999999999 'a' 'csv' "A" a NULL DEFAULT TRUE FALSE on off $1
	b'1' x'F' INTERVAL ARRAY ROW SELECT CASE CAST AS int numeric timestamptz timetz text WITH NOT ALL YEAR SECOND ~ OPERATOR VARIADIC
	FORMAT QUOTE ESCAPE ENCODING DELIMITER HEADER FORCE_QUOTE none match`)

func spliceTokens(sql string) []string {
	o := Options{MaxTokens: 200}.withDefaults()
	if len(sql) > 2000 || limitText(sql, o) != nil || limitTokens(sql, o) != nil {
		return nil // FuzzRewrite has long texts and odd ones
	}
	scan, err := pg.Scan(sql)
	if err != nil {
		return nil
	}
	var tokens []string
	for _, t := range scan.GetTokens() {
		tokens = append(tokens, sql[t.GetStart():t.GetEnd()])
	}
	return tokens
}

// splice changes a statement's tokens as the choices say, three bytes a change.
func splice(sql string, choices []byte) string {
	tokens := spliceTokens(sql)
	for ; len(choices) >= 3 && len(tokens) > 0; choices = choices[3:] {
		at, other := int(choices[1])%len(tokens), int(choices[2])
		switch choices[0] % 6 {
		case 0: // drop
			tokens = append(tokens[:at:at], tokens[at+1:]...)
		case 1: // replace
			tokens[at] = splicePool[other%len(splicePool)]
		case 2: // insert
			tokens = append(tokens[:at:at], append([]string{splicePool[other%len(splicePool)]}, tokens[at:]...)...)
		case 3: // swap
			tokens[at], tokens[other%len(tokens)] = tokens[other%len(tokens)], tokens[at]
		case 4: // go on as another statement does
			donor := spliceTokens(spliceSeeds[other%len(spliceSeeds)])
			tokens = append(tokens[:at:at], donor[min(at, len(donor)):]...)
		case 5: // put a part of another statement in
			donor := spliceTokens(spliceSeeds[other%len(spliceSeeds)])
			from := int(choices[0]/6) % len(donor)
			part := donor[from:min(from+1+other%7, len(donor))]
			tokens = append(tokens[:at:at], append(part[:len(part):len(part)], tokens[at:]...)...)
		}
	}
	return strings.Join(tokens, " ")
}

// FuzzStatementSplice looks for trees that the deparser, which is C, does not
// expect: a crash ends the process.
func FuzzStatementSplice(f *testing.F) {
	for i, sql := range spliceSeeds {
		f.Add(sql, []byte{})
		f.Add(sql, []byte{byte(i), byte(3 * i), byte(7 * i), 5, byte(i), byte(i / 2)})
	}
	r := New(Options{Database: "clinic", CacheBytes: 1})
	r.SetSnapshot(clinic())
	f.Fuzz(func(t *testing.T, sql string, choices []byte) {
		if len(choices) > 24 {
			choices = choices[:24]
		}
		text := splice(sql, choices)
		out, err := r.text(text)
		if failure := checkOutcome(text, out, err); failure != nil {
			t.Errorf("%s\n%v\n%s", text, failure, out)
		}
	})
}
