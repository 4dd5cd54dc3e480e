package sync

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// valueTypes are what the values of the types are made with.
const valueTypesDDL = `
CREATE TYPE pair AS (a int, "b ""c" text);
CREATE TYPE nested AS (p pair, d date[]);
CREATE TYPE color AS ENUM ('red', 'gr''een', 'bl"ue', '');
CREATE DOMAIN positive AS int CHECK (value > 0);
CREATE DOMAIN small AS positive CHECK (value < 1000);
CREATE DOMAIN code AS varchar(5) NOT NULL DEFAULT 'none';
CREATE DOMAIN pairs AS pair CHECK ((value).a IS NULL OR (value).a > 0);
CREATE TYPE textrange AS RANGE (subtype = text, collation = "C");`

// valuesOf are texts of each type that something might mistake; each is a literal's.
var valuesOf = []valueType{
	{"text", []string{"", "NULL", `\N`, `\\N`, `\.`, "\b\f\n\r\t\v", "\x01\x02\x1f\x7f", "\\", "\\\\", `\x41`, `\101`, "'", `"`, "a,b{}()[]", "ä€𝄞", "e\u0301", "\u202e\ufeff", "line\r\n\\\n.", strings.Repeat("long ", 20000)}},
	{"varchar(7)", []string{"", "1234567", "  a  "}},
	{"char(5)", []string{"", "a", "a    ", "ab c"}},
	{`"char"`, []string{"", "a", `\200`}},
	{"name", []string{"", "a b"}},
	{"numeric", []string{"0", "0.00", "-0.000", "1.50", "NaN", "9" + strings.Repeat("8", 999), "0." + strings.Repeat("7", 999), "1e-1000", "-1e1000"}},
	{"numeric(12,4)", []string{"0", "0.1", "-12345678.1234"}},
	{"float8", []string{"0", "-0", "NaN", "infinity", "-infinity", "1e-310", "5e-324", "0.1", "1.7976931348623157e308"}},
	{"float4", []string{"-0", "NaN", "infinity", "0.1", "3.4028235e38"}},
	{"int8", []string{"-9223372036854775808", "9223372036854775807"}},
	{"date", []string{"infinity", "-infinity", "4713-01-01 BC", "0044-03-15 BC", "5874897-12-31", "0001-01-01"}},
	{"timestamp", []string{"infinity", "-infinity", "4713-01-01 00:00:00 BC", "294276-12-31 23:59:59.999999", "2024-02-29 12:00:00.000001"}},
	{"timestamptz", []string{"infinity", "2024-03-31 02:30:00+01", "1883-11-18 12:03:58-04:56:02", "294276-12-31 23:59:59.999999+00", "0044-03-15 00:00 BC"}},
	{"timestamptz(2)", []string{"2024-03-31 02:30:00.123456+05:30"}},
	{"time", []string{"24:00:00", "00:00:00.000001"}},
	{"timetz", []string{"24:00:00-15:59", "12:00:00+14:30"}},
	{"interval", []string{"1 mon -1 day 00:00:01", "-1 year 2 mons -3 days 04:05:06.789", "178000000 years", "-00:00:00.000001", "0"}},
	{"interval day to second(3)", []string{"3 days 04:05:06.789", "-1 day +1 hour"}},
	{"bool", []string{"t", "f"}},
	{"bytea", []string{"", `\x00`, `\x5c4e0a`, `\x` + strings.Repeat("ff00", 5000)}},
	{"uuid", []string{"00000000-0000-0000-0000-000000000000", "FFFFFFFF-ffff-ffff-ffff-ffffffffffff"}},
	{"inet", []string{"10.0.0.1", "10.0.0.1/8", "::ffff:1.2.3.4", "2001:db8::/32"}},
	{"cidr", []string{"10.0.0.0/8", "::/0"}},
	{"macaddr8", []string{"08:00:2b:01:02:03:04:05"}},
	{"json", []string{"null", `{"a": 1,  "a": 2}`, `"\u0001 \\ \" "`, `[1.0, 1.00, {}]`, `{"b":null}`}},
	{"jsonb", []string{"null", `{"a": 1, "b": [1.0, 1.00]}`, `"\u0001 \\ \""`}},
	{"jsonpath", []string{`$."a b"[*] ? (@ > 1)`}},
	{"xml", []string{"<a>1 &lt; 2</a>", "text only", "<?xml version=\"1.0\"?><a/>"}},
	{"point", []string{"(0.1,-0)", "(NaN,infinity)"}},
	{"box", []string{"(1,1),(0,0)"}},
	{"polygon", []string{"((0,0),(1,1),(2,0))"}},
	{"circle", []string{"<(0,0),1.5>"}},
	{"bit(3)", []string{"101", "000"}},
	{"varbit", []string{"", "1011"}},
	{"money", []string{"12.34", "-12.34"}},
	{"oid", []string{"4294967295"}},
	{"pg_lsn", []string{"FFFFFFFF/FFFFFFFF"}},
	{"tsvector", []string{"'a':1A 'b''c':2 'd'", ""}},
	{"tsquery", []string{"'a' & !'b':*"}},
	{"int[]", []string{"{}", "{1,NULL,3}", "[0:1]={1,2}", "{{1,2},{3,4}}", "[-1:0][2:2]={{1},{2}}"}},
	{"text[]", []string{"{}", `{NULL,"NULL",""," ","\\","\"","a,b","{}"}`, `{"a` + "\n\t" + `b"}`}},
	{"date[]", []string{"{infinity,0044-03-15 BC,NULL}"}},
	{"color[]", []string{`{red,"gr'een","bl\"ue",""}`}},
	{"color", []string{"red", "gr'een", `bl"ue`, ""}},
	{"small", []string{"1", "999"}},
	{"small[]", []string{"{1,999,NULL}"}},
	{"code", []string{"", "abcde"}},
	{"pair", []string{"(,)", `(1,"")`, `(2,"a,b ""c"" \\ (x)")`, "(3,NULL)"}},
	{"pair[]", []string{`{"(1,a)",NULL,"(,\"b,\\\"\\\"c\")"}`}},
	{"nested", []string{`("(1,""a b"")","{2024-01-01,infinity}")`, "(,)"}},
	{"pairs", []string{"(1,a)", "(,)"}},
	{"int4range", []string{"empty", "(,)", "[1,5)", "[5,)"}},
	{"tstzrange", []string{`["2024-01-01 00:00:00+02",infinity)`, `(,"0044-03-15 00:00 BC")`}},
	{"textrange", []string{`["a, b","c ""d""")`, "[,z]", `["",a)`}},
	{"int4multirange", []string{"{}", "{[1,3),[5,9)}"}},
}

// TestValuesOfEveryType copies, streams, updates and loads values of every type, in
// tables with a key, and in tables whose rows are told apart by their texts.
func TestValuesOfEveryType(t *testing.T) {
	t.Parallel()
	b := &bench{t: t, dsn: pgtest.Database(t, pgtest.Shared(t))}
	b.source = b.connect()
	b.script(valueTypesDDL + person("beat").ddl)
	policy := catalog.Policy{Tables: []catalog.TablePolicy{person("beat").policy()}}
	var tables []valueTable
	for types := range slices.Chunk(b.valueTypes(), 7) {
		for _, keyed := range []bool{true, false} {
			v := valueTable{name: fmt.Sprintf("values_%d", len(tables)), types: types}
			c := tableCase{name: v.name, numeric: []string{"age"}, sensitive: []string{"illness"}, insensitive: v.columns()}
			ddl := "CREATE TABLE " + v.name + " (id int PRIMARY KEY, age int, illness text NOT NULL"
			if !keyed {
				v.types = slices.DeleteFunc(slices.Clone(types), func(v valueType) bool { return v.column == "money" || v.column == "regclass" }) // refused
				c.insensitive = v.columns()
				ddl = strings.Replace(ddl, " PRIMARY KEY", "", 1)
			}
			for i, of := range v.types {
				ddl += fmt.Sprintf(", v%d %s", i, of.column)
			}
			ddl += ")"
			if !keyed {
				ddl += "; ALTER TABLE " + v.name + " REPLICA IDENTITY FULL"
			}
			b.script(ddl)
			policy.Tables, tables = append(policy.Tables, c.policy()), append(tables, v)
		}
	}
	for _, v := range tables {
		b.insertValues(v, 0)
	}
	b.provide(pgtest.Shared(t), policy)
	s, stop := b.run()
	b.settled(s)
	for _, v := range tables {
		b.insertValues(v, 1000)
		for i, of := range v.types {
			if of.column != "code" {
				b.exec(fmt.Sprintf("UPDATE %s SET v%d = NULL WHERE id = %d", v.name, i, 1000+i))
			}
			for j, text := range of.values {
				b.exec(fmt.Sprintf("UPDATE %s SET v%d = %s WHERE id = %d", v.name, i, of.literal(text), 40-j))
			}
		}
		b.exec("DELETE FROM " + v.name + " WHERE id % 4 = 1")
	}
	b.settled(s)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	s, _ = b.run()
	for _, v := range tables {
		b.exec("UPDATE " + v.name + " SET age = age + 1")
	}
	b.settled(s)
	if err := Resynchronize(t.Context(), b.config.Owner, b.config.Slot, nil); err != nil {
		t.Fatal(err)
	}
	b.answered()
	b.settled(s)
}

type valueType struct {
	column string // its type
	values []string
}

func (v valueType) literal(text string) string { return catalog.QuoteLiteral(text) + "::" + v.column }

// valueTypes are those that the server has: xml needs one that was built with it,
// multiranges PostgreSQL 14.
func (b *bench) valueTypes() (types []valueType) {
	b.t.Helper()
	for _, v := range valuesOf {
		if _, err := b.source.Exec(b.t.Context(), "SELECT "+v.literal(v.values[0])); err != nil {
			b.t.Logf("the server does not have %s: %v", v.column, err)
			continue
		}
		types = append(types, v)
	}
	return types
}

// valueTable is a table with a column for each of some types.
type valueTable struct {
	name  string
	types []valueType
}

func (v valueTable) columns() (names []string) {
	for i := range v.types {
		names = append(names, fmt.Sprintf("v%d", i))
	}
	return names
}

// insertValues inserts 60 rows, in which every value of every column occurs.
func (b *bench) insertValues(v valueTable, from int) {
	b.t.Helper()
	for i := range 60 {
		row := fmt.Sprintf("%d, %d, 'illness %d'", from+i, i%50, i%3)
		for _, of := range v.types {
			row += ", " + of.literal(of.values[i%len(of.values)])
		}
		b.exec("INSERT INTO " + v.name + " VALUES (" + row + ")")
	}
}

// TestAwkwardAttributes generalizes extreme values.
func TestAwkwardAttributes(t *testing.T) {
	t.Parallel()
	quasi := func(name, of, kind string) tableCase {
		c := tableCase{name: name, ddl: fmt.Sprintf("CREATE TABLE %s (id int PRIMARY KEY, v %s, illness text NOT NULL)", name, of), sensitive: []string{"illness"}}
		if kind == "numeric" {
			c.numeric = []string{"v"}
		} else {
			c.categorical = []string{"v"}
		}
		return c
	}
	b := &bench{t: t}
	server := pgtest.Shared(t)
	b.dsn = pgtest.Database(t, server)
	b.source = b.connect()
	b.script(valueTypesDDL)
	quasiOf := []struct{ name, of, kind string }{
		{"q_numeric", "numeric", "numeric"},
		{"q_scaled", "numeric(12,4)", "numeric"},
		{"q_double", "float8", "numeric"},
		{"q_real", "float4", "numeric"},
		{"q_int8", "int8", "numeric"},
		{"q_domain", "small", "numeric"},
		{"q_text", "text", "categorical"},
		{"q_enum", "color", "categorical"},
		{"q_code", "code", "categorical"},
		{"q_char", "char(5)", "categorical"},
		{"q_bool", "bool", "categorical"},
	}
	var cases []tableCase
	values := map[string][]string{}
	for _, q := range quasiOf {
		cases = append(cases, quasi(q.name, q.of, q.kind))
		for _, v := range valuesOf {
			if v.column == q.of {
				values[q.name] = v.values
			}
		}
	}
	b = tablesOn(t, server, b.dsn, cases...)
	fill := func(from, copies int) {
		for _, q := range quasiOf {
			for i, v := range values[q.name] {
				if len(v) > 2000 {
					v = v[:2000] // a hierarchy's label is not for more
				}
				b.exec(fmt.Sprintf("INSERT INTO %s SELECT i, %s::%s, 'illness ' || i %% 3 FROM generate_series(%d, %d) i", q.name, catalog.QuoteLiteral(v), q.of, from+copies*i, from+copies*(i+1)-1))
			}
			if q.of != "code" {
				b.exec(fmt.Sprintf("INSERT INTO %s SELECT i, NULL, 'illness ' || i %% 3 FROM generate_series(%d, %d) i", q.name, from+500, from+502))
			}
		}
	}
	fill(0, 2)
	s, stop := b.run()
	b.settled(s)
	fill(1000, 1)
	b.settled(s)
	for _, q := range quasiOf {
		b.exec("DELETE FROM " + q.name + " WHERE id % 3 = 0")
		b.exec("UPDATE " + q.name + " SET v = (SELECT v FROM " + q.name + " WHERE v IS NOT NULL ORDER BY id LIMIT 1) WHERE id % 5 = 1")
	}
	b.settled(s)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	s, _ = b.run()
	fill(2000, 1)
	b.settled(s)
}

// TestKeysOfEveryType finds rows by keys of many types.
func TestKeysOfEveryType(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	b := &bench{t: t, dsn: pgtest.Database(t, server)}
	b.source = b.connect()
	b.script(valueTypesDDL)
	type keyed struct {
		name   string
		of     string
		values []string
	}
	var tables []keyed
	var cases []tableCase
	for i, v := range valuesOf {
		switch v.column {
		case "json", "xml", "point", "box", "polygon", "circle", "jsonpath", "tsquery", "int4multirange", "regclass", "money":
			continue // no key, or refused as one
		}
		name := fmt.Sprintf("key_%d", i)
		var values []string
		for _, text := range v.values {
			if len(text) < 2000 {
				values = append(values, text)
			}
		}
		tables = append(tables, keyed{name, v.column, values})
		cases = append(cases, tableCase{
			name: name, ddl: fmt.Sprintf("CREATE TABLE %s (k %s PRIMARY KEY, n int, age int, illness text NOT NULL)", name, v.column),
			numeric: []string{"age"}, sensitive: []string{"illness"},
		})
	}
	b = tablesOn(t, server, b.dsn, cases...)
	insert := func(k keyed) {
		for i, v := range k.values {
			b.exec(fmt.Sprintf("INSERT INTO %s VALUES (%s::%s, %d, %[4]d, 'illness %[4]d') ON CONFLICT DO NOTHING", k.name, catalog.QuoteLiteral(v), k.of, i))
		}
	}
	for i, k := range tables {
		if i%2 == 0 {
			insert(k)
		}
	}
	s, stop := b.run()
	for _, k := range tables {
		insert(k)
	}
	b.settled(s)
	for _, k := range tables {
		b.exec("UPDATE " + k.name + " SET age = age + 1")
		b.exec(fmt.Sprintf("DELETE FROM %s WHERE n = 0", k.name))
		b.exec(fmt.Sprintf("UPDATE %s SET k = %s::%s WHERE n = 1", k.name, catalog.QuoteLiteral(k.values[0]), k.of))
		insert(k)
	}
	b.settled(s)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	s, _ = b.run()
	for _, k := range tables {
		b.exec("UPDATE " + k.name + " SET age = age + 1")
	}
	b.settled(s)
}

// TestOtherEncodings protects tables of databases that do not speak UTF-8.
func TestOtherEncodings(t *testing.T) {
	t.Parallel()
	for encoding, texts := range map[string][]string{
		"LATIN1":    {"äöü", "ÿ", "¤", "\u0080\u009f", "", `\`},
		"EUC_JP":    {"日本", "あ", "ｶﾅ", "表\\", "丂"},
		"SQL_ASCII": {"plain", "日本", `\`},
		"WIN1252":   {"€", "Ž", "’"},
	} {
		t.Run(encoding, func(t *testing.T) {
			server := pgtest.Shared(t)
			name := "encoding_" + strings.ToLower(encoding)
			admin, err := pgx.Connect(t.Context(), server.DSN("postgres"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_, err := admin.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
				if err != nil {
					t.Error(err)
				}
				_ = admin.Close(context.Background())
			})
			if _, err := admin.Exec(t.Context(), fmt.Sprintf("CREATE DATABASE %s ENCODING '%s' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0", name, encoding)); err != nil {
				t.Fatal(err)
			}
			plain := tableCase{
				name: "plain", ddl: "CREATE TABLE plain (id text PRIMARY KEY, age int, job text, note text, illness text NOT NULL)",
				numeric: []string{"age"}, categorical: []string{"job"}, sensitive: []string{"illness"}, insensitive: []string{"note"},
			}
			b := tablesOn(t, server, server.DSN(name)+"&client_encoding=UTF8", plain)
			insert := func(from int) {
				for i, text := range texts {
					b.exec("INSERT INTO plain SELECT $1 || i, i, $1, $1 || i, $1 || i % 3 FROM generate_series($2::int, $3::int) i", text, from+4*i, from+4*i+3)
				}
			}
			insert(0)
			s, stop := b.run()
			b.settled(s)
			insert(1000)
			b.exec("UPDATE plain SET id = id || $1, note = note || $1 WHERE age % 2 = 0", texts[0])
			b.settled(s)
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			s, stop = b.run()
			b.exec("UPDATE plain SET age = age + 1; ")
			b.exec("DELETE FROM plain WHERE age % 3 = 0")
			b.settled(s)
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			b.ownerGone()
		})
	}
}
