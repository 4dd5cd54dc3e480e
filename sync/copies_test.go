package sync

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// heldTable has copied columns of types whose members are held in memory.
const heldTable = `CREATE TABLE letters (id int PRIMARY KEY, age int, t text, "a ""b" varchar(40), f char(5), n numeric(20,3), d double precision,
	s timestamptz, b bytea, l text[], j jsonb, u uuid, i interval, z bit(3), k boolean, illness text)`

// strange are texts that mean something where members, rows and arrays are written.
var strange = []string{
	"", " ", "plain", "NULL", `\N`, `\.`, `"`, `""`, `\`, `\\`, `\"`, `'`, "{}", "{a,b}", "(1,2)", "a,b", ")", `")`, `)"`, "a\tb", "a\nb", "a\rb", "\n", "\v\f\b",
	" lead and trail ", "ünïcödé 🎉", `a\nb`, `"quoted, (all) \ of {it}"`, "\u00a0", "\\\n\"",
}

func newHeldBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, dsn: pgtest.Database(t, pgtest.Shared(t))}
	b.source = b.connect()
	b.script(heldTable)
	policy := catalog.TablePolicy{
		Table: catalog.Name{Schema: "public", Relation: "letters"}, Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate}, Constraints: []privacy.Spec{{Model: privacy.K, K: 4}},
		Columns: []catalog.ColumnPolicy{{Name: "age", Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Numeric}}},
	}
	for _, name := range []string{"t", `a "b`, "f", "n", "d", "s", "b", "l", "j", "u", "i", "z", "k", "illness"} {
		policy.Columns = append(policy.Columns, catalog.ColumnPolicy{Name: name, Role: catalog.Insensitive})
	}
	return b.provide(pgtest.Shared(t), catalog.Policy{Tables: []catalog.TablePolicy{policy}})
}

// writeStrange inserts rows from a number on, each with another of the strange texts.
func (b *bench) writeStrange(from int) {
	b.t.Helper()
	for i, text := range strange {
		b.exec(`INSERT INTO letters VALUES ($1::int, $2, $3, left($3, 40), left($3, 5), $1::int / 7.0, CASE $1 % 4 WHEN 0 THEN 'NaN' WHEN 1 THEN '-Infinity' ELSE ($1 / 3.0)::float8 END,
			CASE $1 % 3 WHEN 0 THEN 'infinity' WHEN 1 THEN '0044-03-15 12:00:00+00 BC' ELSE now() END::timestamptz,
			convert_to($3, 'UTF8'), CASE WHEN $1 % 2 = 0 THEN ARRAY[$3, NULL, 'x'] END, CASE WHEN $1 % 5 = 0 THEN jsonb_build_object($3, 1) END, gen_random_uuid(), $1 * interval '-1 day 3 hours', $1::bit(3), $1 % 2 = 0)`,
			from+i, (from+i)%20, text)
	}
	b.exec("INSERT INTO letters (id, age) VALUES ($1, 3)", from+len(strange))
}

// TestHeldMembers writes members of any text from memory: when they are new, when others of
// their class change, and after a start.
func TestHeldMembers(t *testing.T) {
	t.Parallel()
	b := newHeldBench(t)
	b.writeStrange(1)
	s, stop := b.run()
	b.checkStore(s)
	for _, change := range []func(){
		func() { b.writeStrange(100) },
		func() { b.exec("UPDATE letters SET t = t || 'x', age = age + 1 WHERE id % 3 = 0") },
		func() { b.exec("UPDATE letters SET t = repeat('wide', 3000) WHERE id IN (5, 6)") },
		func() { b.exec("UPDATE letters SET age = age + 1 WHERE id BETWEEN 3 AND 9") }, // which the stream tells without the wide ones
		func() { b.exec("UPDATE letters SET t = 'narrow' WHERE id = 5; DELETE FROM letters WHERE id % 7 = 0") },
	} {
		change()
		b.caughtUp(s)
		b.checkStore(s)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b.mustHold()
	s, _ = b.run()
	b.exec("UPDATE letters SET age = age - 1")
	b.caughtUp(s)
	b.checkStore(s)
}

// TestHiddenChangesWriteNothing changes what is not published of records: their classes stay
// where they are in the release, and it does not grow.
func TestHiddenChangesWriteNothing(t *testing.T) {
	t.Parallel()
	b := newHeldBench(t)
	b.exec("ALTER TABLE letters ADD hidden text")
	b.writeStrange(1)
	s, _ := b.run()
	packed := pgx.Identifier{"kproxy_store", strings.Replace(b.releaseOf("letters"), "release", "packed", 1)}.Sanitize()
	rows := func() (rows string) {
		b.scan([]any{&rows}, "SELECT string_agg(concat(ctid, ' ', xmin), ', ' ORDER BY ctid) FROM "+packed)
		return rows
	}
	before := rows()
	for _, hidden := range []string{
		"UPDATE letters SET hidden = 'x' WHERE id < 12", "UPDATE letters SET t = t, age = age WHERE octet_length(t) < 5", "UPDATE letters SET id = id + 1000 WHERE octet_length(t) < 3",
		"BEGIN; UPDATE letters SET t = 'for a moment' WHERE id = 4; ROLLBACK",
	} {
		b.script(hidden)
		b.caughtUp(s)
		if after := rows(); after != before {
			t.Errorf("after %s\nthe release lies as %s\nand not as          %s", hidden, after, before)
		}
		b.checkStore(s)
	}
	b.exec("UPDATE letters SET t = 'seen' WHERE id = 4")
	b.caughtUp(s)
	if rows() == before {
		t.Error("a change of what is published has written nothing")
	}
	b.checkStore(s)
}

// mustHold wants most records of the store held after a start, lest tests of them look at
// nothing.
func (b *bench) mustHold() {
	b.t.Helper()
	of, err := newTable(b.config.Tables[0])
	if err != nil {
		b.t.Fatal(err)
	}
	if err := of.begin(int64(b.generationOf("letters")), 1, 1, 1); err != nil {
		b.t.Fatal(err)
	}
	if err := of.mode.load(b.t.Context(), viewAsItIs(b.source.PgConn()), func(int) {}); err != nil {
		b.t.Fatal(err)
	}
	var records, held int
	b.scan([]any{&records}, "SELECT count(*) FROM letters")
	for slot := range records {
		if of.copies.holds(int32(slot)) {
			held++
		}
	}
	if held < records*3/4 || held > records-1 {
		b.t.Errorf("%d of %d records are held", held, records)
	}
}

// TestHeldRecords has the memory know what it is told, and nothing else.
func TestHeldRecords(t *testing.T) {
	t.Parallel()
	b := newHeldBench(t)
	of, err := newTable(b.config.Tables[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := of.begin(1, 1, 1, 1); err != nil {
		t.Fatal(err)
	}
	c := of.copies
	row := func(text string) []value {
		values := make([]value, len(of.layout.columns))
		for i := range values {
			values[i].null = true
		}
		values[of.layout.columns.index("t")] = value{text: text}
		return values
	}
	kept := row("")
	kept[of.layout.columns.index("t")] = value{kept: true}
	slots := []int32{1, 255, 256, 1 << 20}
	for _, slot := range slots {
		c.put(slot, row("a"))
	}
	if !c.have(slots) {
		t.Fatal("a record is not held")
	}
	if got, want := string(c.appendMember(nil, 7, 256)), `"(7,a`+strings.Repeat(",", 13)+`)"`; got != want {
		t.Errorf("a member is %s, want %s", got, want)
	}
	c.put(1, kept)
	c.put(255, row(strings.Repeat("w", packedWidth)))
	c.drop(256)
	c.drop(7)
	for _, slot := range slots[:3] {
		if c.have([]int32{slot}) {
			t.Errorf("the record in slot %d is held", slot)
		}
	}
	if !c.have(slots[3:]) {
		t.Error("a record is not held any more")
	}
	if c.clear(); c.have(slots[3:]) {
		t.Error("a record is held of nothing")
	}
}

// TestStableTexts lists types whose members are held, and some that are not.
func TestStableTexts(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]int{
		"text": 1, "numeric": 1, "_int4": 6, "jsonb": 6, "_text": 6, "money": 0, "regclass": 0, "_regclass": 0, "xml": 0, "public.hstore": 0,
	} {
		if got := textWeight(catalog.Column{BaseType: base}); got != want {
			t.Errorf("a byte of %s stands for %d, want %d", base, got, want)
		}
	}
	domain := catalog.Column{BaseType: "int4", UserType: catalog.Name{Schema: "public", Relation: "positive"}}
	if textWeight(domain) != 0 {
		t.Error("the members of a domain, whose constraints can change, are held")
	}
}
