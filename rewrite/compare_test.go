package rewrite

import (
	"testing"

	pg "github.com/pganalyze/pg_query_go/v5"
	"github.com/pganalyze/pg_query_go/v5/parser"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// encodeTexts are about what JSON leaves out or escapes.
var encodeTexts = []string{
	"SELECT 0", "SELECT -0", "SELECT -1", "SELECT - 7", "SELECT 1", "SELECT 00", "SELECT 0x0", "SELECT 0.", "SELECT 0.0",
	"SELECT 1 LIMIT 0", "SELECT 1 LIMIT -1", "SELECT '0'", "SELECT ''", "SELECT b''", "SELECT NULL", "SELECT false", "SELECT true",
	"SELECT '{}'::int[]", "SELECT '{}'::int[0]", "SELECT '{}'::int[3]", "SELECT a[0]", "SELECT a[-1]", "SELECT a[:0]",
	`SELECT '"'`, `SELECT '\'`, `SELECT '\"'`, `SELECT E'\n'`, `SELECT '\n'`, `SELECT E'\x01'`, `SELECT '\u0001'`, "SELECT '<a>'", "SELECT E'\x7f'",
	"SELECT 'ä'", `SELECT '","location":1'`, `SELECT 'a', 'b'`, `SELECT 'a","b'`, "SELECT 12", "SELECT 1 LIMIT 12", `SELECT """"`, `SELECT "{}"`,
	"SELECT", "", "SELECT 1; SELECT 1", "SELECT interval '1' day", "SELECT interval(0) '1'", "SELECT '1'::timestamp(0)",
	"SET x TO 0", "SET x TO -1", "BEGIN READ WRITE", "BEGIN READ ONLY", "FETCH 0 FROM c", "FETCH -1 FROM c", "FETCH BACKWARD c",
	"CREATE TABLE a (b int, c char(1) DEFAULT -5) PARTITION BY LIST (b)", "ALTER TABLE a ALTER b SET STATISTICS -1",
	"COPY a TO STDOUT (FORMAT csv, HEADER false)", "EXPLAIN (COSTS 0) SELECT 1", "CREATE FUNCTION f() RETURNS int COST 0 LANGUAGE sql AS 'x'",
}

// TestEncodeIsWhatTheParserSays holds the quick way of getting a tree against the
// parser's own.
func TestEncodeIsWhatTheParserSays(t *testing.T) {
	t.Parallel()
	for _, sql := range append(corpus(t), encodeTexts...) {
		want, err := pg.Parse(sql)
		got, failure := parse(sql)
		if (err == nil) != (failure == nil) {
			t.Errorf("%s: %v, and %v", sql, err, failure)
		}
		if err != nil {
			continue
		}
		if !proto.Equal(got, want) {
			t.Errorf("%s\nis read as %v\ninstead of %v", sql, got, want)
		}
		json, err := parser.ParseToJSON(sql)
		if err != nil {
			t.Fatal(err)
		}
		e := encoder{json: json, text: sql}
		if !e.message(treePlan()) || e.json != "" {
			if !hasVagueInteger(want.ProtoReflect()) {
				t.Errorf("%s is not read quickly", sql)
			}
		} else if canonical := encoded(t, want); !same(treePlan(), canonical, e.wire) {
			t.Errorf("%s: the encoding has another order", sql)
		}
	}
}

// hasVagueInteger reports whether a tree has an integer that the parser's JSON leaves out
// because it is not positive.
func hasVagueInteger(m protoreflect.Message) (has bool) {
	if n, is := m.Interface().(*pg.Integer); is {
		return n.GetIval() <= 0
	}
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Message() == nil:
		case field.IsList():
			for i := range value.List().Len() {
				has = has || hasVagueInteger(value.List().Get(i).Message())
			}
		default:
			has = has || hasVagueInteger(value.Message())
		}
		return !has
	})
	return has
}

// TestSameTellsTextsApart compares each text with each.
func TestSameTellsTextsApart(t *testing.T) {
	t.Parallel()
	wires, trees := make([][]byte, len(encodeTexts)), make([]*pg.ParseResult, len(encodeTexts))
	for i, sql := range encodeTexts {
		var err error
		if wires[i], err = encode(sql); err != nil {
			t.Fatal(err)
		}
		if trees[i], err = pg.Parse(sql); err != nil {
			t.Fatal(err)
		}
		clearPositions(trees[i].ProtoReflect())
	}
	for i, a := range encodeTexts {
		for j, b := range encodeTexts {
			if got := same(treePlan(), wires[i], wires[j]); got != proto.Equal(trees[i], trees[j]) {
				t.Errorf("%s and %s: %v", a, b, got)
			}
		}
	}
}

func clearPositions(m protoreflect.Message) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case positions[field.Name()]:
			m.Clear(field)
		case field.Message() == nil:
		case field.IsList():
			for i := range value.List().Len() {
				clearPositions(value.List().Get(i).Message())
			}
		default:
			clearPositions(value.Message())
		}
		return true
	})
}

// TestSameRefusesDamage: what is not the encoding of a tree equals nothing.
func TestSameRefusesDamage(t *testing.T) {
	t.Parallel()
	wire, err := encode("SELECT a, 'b' FROM c WHERE d > 5")
	if err != nil {
		t.Fatal(err)
	}
	for i := range wire {
		if same(treePlan(), wire[:i], wire) {
			t.Errorf("cut off after %d bytes", i)
		}
	}
	for _, damaged := range [][]byte{{0xff}, {0x0a, 0x05}, append(wire[:len(wire):len(wire)], 0xf8, 0x7f, 1)} {
		if same(treePlan(), damaged, damaged) {
			t.Errorf("%x", damaged)
		}
	}
}

// written compares the tree that was checked with that of the text that is sent, as the
// parser itself gives it: parse(deparse(t)) = t.
func written(t *testing.T, r *Rewriter, sql string) {
	t.Helper()
	done, err := r.rewrite(sql, nil, r.current.Load().snapshot)
	if err != nil {
		return
	}
	again, err := pg.Parse(done.statement.SQL)
	if err != nil {
		t.Fatalf("%s\nsent: %s\n%v", sql, done.statement.SQL, err)
	}
	clearPositions(done.tree.ProtoReflect())
	clearPositions(again.ProtoReflect())
	if len(done.tree.GetStmts()) > 0 && !proto.Equal(done.tree, again) {
		t.Errorf("%s\nsent: %s\nwhich is %v\ninstead of %v", sql, done.statement.SQL, again, done.tree)
	}
}

func TestWhatIsSentIsWhatWasChecked(t *testing.T) {
	t.Parallel()
	r := clinicRewriter()
	for _, sql := range append(corpus(t), encodeTexts...) {
		written(t, r, sql)
	}
}

// FuzzEncode holds the quick way against the parser's own, and what is sent against
// what was checked.
func FuzzEncode(f *testing.F) {
	for _, sql := range encodeTexts {
		f.Add(sql)
	}
	o, r := Options{}.withDefaults(), clinicRewriter()
	f.Fuzz(func(t *testing.T, sql string) {
		if limitText(sql, o) != nil || limitTokens(sql, o) != nil {
			return
		}
		written(t, r, sql)
		want, err := pg.Parse(sql)
		got, failure := parse(sql)
		if (err == nil) != (failure == nil) {
			t.Fatalf("%q: %v, and %v", sql, err, failure)
		}
		if err == nil && !proto.Equal(got, want) {
			t.Errorf("%q\nis read as %v\ninstead of %v", sql, got, want)
		}
	})
}
