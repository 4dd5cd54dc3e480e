package torture

import (
	"math/rand/v2"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// shape is a table of one kind that replication has to follow.
type shape struct {
	name    string // of the table, in the schema public
	setup   string
	columns []column
	policy  catalog.TablePolicy // but for the table's name
	// deferred says that the key is checked at the end of a statement, so that one
	// statement can swap keys; none of the shapes without a key has one.
	deferred bool
	// leaves are the partitions that are truncated, and the one that comes and goes.
	leaves []string
	far    string
}

// column draws its values; those of a key from few, so that statements meet.
type column struct {
	name string
	of   values
	key  bool
}

func (s *shape) table() catalog.Name { return catalog.Name{Schema: "public", Relation: s.name} }
func (s *shape) sql() string         { return catalog.QuoteIdentifier(s.name) }

func (s *shape) keyed() bool {
	for _, c := range s.columns {
		if c.key {
			return true
		}
	}
	return false
}

// everyLeaf are the tables that hold the rows of a partitioned one.
func (s *shape) everyLeaf() []string {
	if s.far == "" {
		return nil
	}
	return append([]string{s.far, s.name + "_many"}, s.leaves...)
}

// row draws a whole row.
func (s *shape) row(r *rand.Rand) []datum {
	row := make([]datum, len(s.columns))
	for i, c := range s.columns {
		row[i] = c.of(r)
	}
	return row
}

func (s *shape) columnList(wanted func(column) bool) string {
	var names []string
	for _, c := range s.columns {
		if wanted(c) {
			names = append(names, catalog.QuoteIdentifier(c.name))
		}
	}
	return strings.Join(names, ", ")
}

func all(column) bool     { return true }
func isKey(c column) bool { return c.key }

// shapes are all kinds of tables.
func shapes() []*shape {
	list := []*shape{people(), visits(), oddNames(), tokens(), patients(), journal(), swaps(), measures()}
	for _, s := range list {
		s.policy.Table = s.table()
	}
	return list
}

func quasi(name string, kind hierarchy.Kind) catalog.ColumnPolicy {
	return catalog.ColumnPolicy{Name: name, Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: kind}}
}

func roles(role catalog.Role, names ...string) []catalog.ColumnPolicy {
	var list []catalog.ColumnPolicy
	for _, name := range names {
		list = append(list, catalog.ColumnPolicy{Name: name, Role: role})
	}
	return list
}

func ofSize(k int, over ...string) privacy.Spec {
	return privacy.Spec{Model: privacy.K, K: k, Over: over}
}

func diverse(l int, of string) privacy.Spec {
	return privacy.Spec{Model: privacy.DistinctL, L: float64(l), Of: of}
}

var (
	illness = oneOf("flu", "asthma", "gout", "mumps", "rabies", "a\tb", "")
	zip     = mixed(9, 10, formatted("101%02d", 0, 60), oneOf("", "*", "1", "20*", null))
	trade   = oneOf("nurse", "farmer", "clerk", "a\tb\\n", "", null)
	sex     = oneOf("f", "m", "d", null)
	age     = mixed(19, 20, number(0, 99), oneOf("2147483647", "-2147483648", null))
)

// people have a key of one number, every role, and types whose text needs care.
func people() *shape {
	return &shape{
		name: "people",
		setup: `CREATE TYPE mood AS ENUM ('calm', 'worried', 'it''s');
			CREATE DOMAIN ward AS text CHECK (value <> '');
			CREATE TABLE people (id bigint PRIMARY KEY, name text, age int, weight numeric, born date, seen timestamptz, zip text, job text,
				mood mood, ward ward, tags text[], score float8, note text, bytes bytea, digits numeric, stamp timestamp, illness text NOT NULL,
				twice bigint GENERATED ALWAYS AS (id * 2) STORED);
			ALTER TABLE people ALTER note SET STORAGE EXTERNAL;`,
		columns: []column{
			{name: "id", of: number(1, 400), key: true},
			{name: "name", of: odd},
			{name: "age", of: age},
			{name: "weight", of: mixed(9, 10, formatted("%d.5", 40, 140), oneOf("NaN", "123456789012345678901.5", null))},
			{name: "born", of: dates},
			{name: "seen", of: instants},
			{name: "zip", of: zip},
			{name: "job", of: trade},
			{name: "mood", of: oneOf("calm", "worried", "it's", null)},
			{name: "ward", of: oneOf("A", "B\tC", null)},
			{name: "tags", of: oneOf("{}", `{"a,b",NULL,"\"q\""}`, "{{1,2},{3,4}}", null)},
			{name: "score", of: oneOf("0.1", "-0", "NaN", "Infinity", "-Infinity", "1e-300", "0.30000000000000004", null)},
			{name: "note", of: long("xyz")},
			{name: "bytes", of: bytea},
			{name: "digits", of: digits},
			{name: "stamp", of: oneOf("infinity", "0044-03-15 12:00:00 BC", "2024-02-29 23:59:59.999999", null)},
			{name: "illness", of: illness},
		},
		policy: catalog.TablePolicy{
			Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate}, Constraints: []privacy.Spec{ofSize(4), diverse(2, "illness")},
			Columns: append(append([]catalog.ColumnPolicy{
				{Name: "name", Role: catalog.Identifying},
				quasi("age", hierarchy.Numeric), quasi("weight", hierarchy.Numeric), quasi("born", hierarchy.Date), quasi("seen", hierarchy.Date),
				quasi("zip", hierarchy.Prefix), quasi("job", hierarchy.Categorical),
			}, roles(catalog.Insensitive, "mood", "ward", "tags", "score", "note", "bytes", "digits", "stamp")...), roles(catalog.Sensitive, "illness")...),
		},
	}
}

// visits have a composite key with texts, and two independent parts.
func visits() *shape {
	return &shape{
		name: "visits",
		setup: `CREATE TABLE visits (place text, day date, nr int, age int, zip text, sex text, job text, illness text, cost numeric(8,2),
			PRIMARY KEY (place, day, nr));`,
		columns: []column{
			{name: "place", of: oneOf("", "a", "a:1", "1:a", "a\tb", "c\\", "grün", "'"), key: true},
			{name: "day", of: oneOf("2024-01-01", "2024-01-02", "infinity", "0044-03-15 BC"), key: true},
			{name: "nr", of: number(1, 9), key: true},
			{name: "age", of: age},
			{name: "zip", of: zip},
			{name: "sex", of: sex},
			{name: "job", of: trade},
			{name: "illness", of: illness},
			{name: "cost", of: formatted("%d.25", -50, 500)},
		},
		policy: catalog.TablePolicy{
			Method: "mondrian-strict", Updates: catalog.Updates{Mode: catalog.Immediate}, Constraints: []privacy.Spec{ofSize(4, "age", "zip"), ofSize(3, "sex", "job")},
			Columns: append([]catalog.ColumnPolicy{
				quasi("age", hierarchy.Numeric), quasi("zip", hierarchy.Prefix), quasi("sex", hierarchy.Categorical), quasi("job", hierarchy.Categorical),
			}, roles(catalog.Sensitive, "illness", "cost")...),
		},
	}
}

// oddNames have REPLICA IDENTITY FULL besides their key, and names that need quotes.
func oddNames() *shape {
	return &shape{
		name: `Odd "Names`,
		setup: `CREATE TABLE "Odd ""Names" (a int, b text, "the age" int, "the ""illness" text, note text, PRIMARY KEY (b, a));
			ALTER TABLE "Odd ""Names" REPLICA IDENTITY FULL;
			ALTER TABLE "Odd ""Names" ALTER note SET STORAGE EXTERNAL;`,
		columns: []column{
			{name: "a", of: number(1, 40), key: true},
			{name: "b", of: oneOf("", "a", "a:1", "1:a"), key: true},
			{name: "the age", of: age},
			{name: `the "illness`, of: illness},
			{name: "note", of: long("uvw")},
		},
		policy: catalog.TablePolicy{
			Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate}, Constraints: []privacy.Spec{ofSize(4)},
			Columns: append([]catalog.ColumnPolicy{quasi("the age", hierarchy.Numeric)}, append(roles(catalog.Sensitive, `the "illness`), roles(catalog.Insensitive, "note")...)...),
		},
	}
}

// tokens are found by an index that is not the primary key.
func tokens() *shape {
	return &shape{
		name: "tokens",
		setup: `CREATE TABLE tokens (token uuid NOT NULL, n int NOT NULL, year int, region text, plan text, note text);
			CREATE UNIQUE INDEX tokens_identity ON tokens (token, n);
			ALTER TABLE tokens REPLICA IDENTITY USING INDEX tokens_identity;
			ALTER TABLE tokens ALTER note SET STORAGE EXTERNAL;`,
		columns: []column{
			{name: "token", of: formatted("00000000-0000-0000-0000-0000000000%02d", 10, 50), key: true},
			{name: "n", of: number(1, 5), key: true},
			{name: "year", of: number(1990, 2024)},
			{name: "region", of: oneOf("north", "south", "east", "west", null)},
			{name: "plan", of: oneOf("a", "b", "c", "d")},
			{name: "note", of: long("rst")},
		},
		policy: catalog.TablePolicy{
			Method: "hilbert", Updates: catalog.Updates{Mode: catalog.Immediate}, Constraints: []privacy.Spec{ofSize(3), {Model: privacy.AlphaK, Alpha: 0.7, Of: "plan"}},
			Columns: append([]catalog.ColumnPolicy{quasi("year", hierarchy.Numeric), quasi("region", hierarchy.Categorical)},
				append(roles(catalog.Sensitive, "plan"), roles(catalog.Insensitive, "note")...)...),
		},
	}
}

// patients are guarded, and a person has several records.
func patients() *shape {
	return &shape{
		name:  "patients",
		setup: `CREATE TABLE patients (id bigint PRIMARY KEY, person text, age int, zip text, sex text, illness text, cost numeric);`,
		columns: []column{
			{name: "id", of: number(1, 300), key: true},
			{name: "person", of: mixed(19, 20, formatted("person %d", 1, 150), oneOf(null))},
			{name: "age", of: age},
			{name: "zip", of: zip},
			{name: "sex", of: sex},
			{name: "illness", of: illness},
			{name: "cost", of: number(0, 500)},
		},
		policy: catalog.TablePolicy{
			Method: "rounded-partition", Subject: "person", Updates: catalog.Updates{Mode: catalog.Guarded, Crowd: 2, Batch: 40, Within: guardedWait},
			Constraints: []privacy.Spec{ofSize(3), diverse(2, "illness")},
			Columns: append([]catalog.ColumnPolicy{quasi("age", hierarchy.Numeric), quasi("zip", hierarchy.Prefix), quasi("sex", hierarchy.Categorical)},
				roles(catalog.Sensitive, "illness", "cost")...),
		},
	}
}

// journal has no key at all, and rows that are there several times.
func journal() *shape {
	return &shape{
		name: "journal",
		setup: `CREATE TABLE journal (day date, dept text, grade numeric(4,1), diagnosis text, remark text);
			ALTER TABLE journal REPLICA IDENTITY FULL;
			ALTER TABLE journal ALTER remark SET STORAGE EXTERNAL;`,
		columns: []column{
			{name: "day", of: formatted("2024-01-%02d", 1, 9)},
			{name: "dept", of: oneOf("A", "B", null)},
			{name: "grade", of: oneOf("1.0", "2.5", null)},
			{name: "diagnosis", of: oneOf("flu", "gout", "mumps", null)},
			{name: "remark", of: mixed(3, 4, oneOf("", "x", null), long("op"))},
		},
		policy: catalog.TablePolicy{
			Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate}, Constraints: []privacy.Spec{ofSize(3)},
			Columns: append([]catalog.ColumnPolicy{quasi("day", hierarchy.Date), quasi("dept", hierarchy.Categorical), quasi("grade", hierarchy.Numeric)},
				append(roles(catalog.Sensitive, "diagnosis"), roles(catalog.Insensitive, "remark")...)...),
		},
	}
}

// measures are partitioned by region, in two steps for one of them. Rows move between
// partitions; one is detached and attached.
func measures() *shape {
	return &shape{
		name: "measures",
		setup: `CREATE TABLE measures (region text, id int, at date, value int, kind text, note text, PRIMARY KEY (region, id)) PARTITION BY LIST (region);
			CREATE TABLE measures_north PARTITION OF measures FOR VALUES IN ('north');
			CREATE TABLE measures_south (kind text, note text, region text NOT NULL, id int NOT NULL, value int, at date, PRIMARY KEY (region, id));
			ALTER TABLE measures ATTACH PARTITION measures_south FOR VALUES IN ('south');
			CREATE TABLE measures_rest PARTITION OF measures FOR VALUES IN ('east', 'west') PARTITION BY RANGE (id);
			CREATE TABLE measures_few PARTITION OF measures_rest FOR VALUES FROM (0) TO (40);
			CREATE TABLE measures_many PARTITION OF measures_rest FOR VALUES FROM (40) TO (1000);
			CREATE TABLE measures_far PARTITION OF measures FOR VALUES IN ('far');`,
		columns: []column{
			{name: "region", of: oneOf("north", "north", "south", "south", "east", "west", "far"), key: true},
			{name: "id", of: number(1, 80), key: true},
			{name: "at", of: formatted("2024-01-%02d", 1, 28)},
			{name: "value", of: number(0, 500)},
			{name: "kind", of: oneOf("a", "b", "c", null)},
			{name: "note", of: long("kl")},
		},
		leaves: []string{"measures_north", "measures_south", "measures_few"}, far: "measures_far",
		policy: catalog.TablePolicy{
			Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate}, Constraints: []privacy.Spec{ofSize(4)},
			Columns: append([]catalog.ColumnPolicy{quasi("region", hierarchy.Categorical), quasi("at", hierarchy.Date), quasi("value", hierarchy.Numeric)},
				append(roles(catalog.Sensitive, "kind"), roles(catalog.Insensitive, "note")...)...),
		},
	}
}

// swaps have a key that is checked late: one statement can swap two.
func swaps() *shape {
	return &shape{
		name:     "swaps",
		setup:    `CREATE TABLE swaps (id int PRIMARY KEY DEFERRABLE, age int, illness text); ALTER TABLE swaps REPLICA IDENTITY FULL;`,
		columns:  []column{{name: "id", of: number(1, 120), key: true}, {name: "age", of: age}, {name: "illness", of: illness}},
		deferred: true,
		policy: catalog.TablePolicy{
			Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate}, Constraints: []privacy.Spec{ofSize(3)},
			Columns: append([]catalog.ColumnPolicy{quasi("age", hierarchy.Numeric)}, roles(catalog.Sensitive, "illness")...),
		},
	}
}
