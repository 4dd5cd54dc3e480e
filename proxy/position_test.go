package proxy

import (
	"strings"
	"testing"
	"unicode/utf8"

	oldproto "github.com/jackc/pgproto3/v2"
)

// shiftingGate puts something before each text, by which positions are off.
type shiftingGate struct{ testGate }

const shift = "/* größer */ "

func (g shiftingGate) Rewrite(sql string, in State) (Statement, error) {
	statement, err := g.testGate.Rewrite(sql, in)
	statement.SQL = shift + in.(fakeState).path.now[:0] + statement.SQL
	return statement, err
}

func (shiftingGate) Position(sql string, in State, sent int) int {
	if in.(fakeState).path.now == "" || sent > utf8.RuneCountInString(shift+sql) {
		return 0
	}
	return sent - utf8.RuneCountInString(shift)
}

func TestPositions(t *testing.T) {
	t.Parallel()
	p := startProxy(t, func(c *Config) { c.Gate = shiftingGate{} })
	long := "SELECT '" + strings.Repeat("x", maxTextBytes) + "', nope"
	type wanted = []int32
	for _, c := range []struct {
		name string
		send []oldproto.FrontendMessage
		want wanted // of the errors
	}{
		{"simple", messages("SELECT nope"), wanted{8}},
		{"characters", messages("SELECT 'grüße', nope"), wanted{17}},
		{"pipelined", messages("SELECT nope", "SELECT 1, nope", "SELECT 1", "SELECT 1, 2, nope"), wanted{8, 11, 14}},
		{"second statement", messages("SELECT 1; SELECT nope"), wanted{18}},
		{"parsed", messages(parse("", "SELECT 1, nope"), syncMessage), wanted{11}},
		{"parsed behind others", messages(run("", "SELECT 1"), run("", "SELECT 2"), parse("", "SELECT 1, nope"), parse("", "SELECT nope"), syncMessage), wanted{11}},
		{"refused", messages("forbidden", parse("", "SELECT forbidden"), syncMessage, "SELECT nope"), wanted{1, 8, 8}},
		{"without a text", messages(bind("", "nowhere"), syncMessage), wanted{0}},
		{"while executed", messages("SELECT 1/0", run("", "SELECT 1/0"), syncMessage), wanted{0, 0}},
		{"too long", messages(long, "SELECT nope"), wanted{0, 8}},
		{"many", messages(strings.Repeat("SELECT nope\n", 1), parse("", long), syncMessage), wanted{8, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := p.loginWire(t)
			w.send(append(c.send, query("SELECT 'the end'"))...)
			var got wanted
			for end := false; !end; {
				switch m := w.receive().(type) {
				case *oldproto.ErrorResponse:
					got = append(got, m.Position)
				case *oldproto.DataRow:
					end = string(m.Values[0]) == "the end"
				}
			}
			if len(got) != len(c.want) {
				t.Fatalf("errors at %v, want %v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("errors at %v, want %v", got, c.want)
				}
			}
		})
	}
}

func TestDetails(t *testing.T) {
	t.Parallel()
	w := startProxy(t, nil).loginWire(t)
	// What is kept stands in the hint before PostgreSQL 16.
	for sql, want := range map[string]string{
		`SELECT * FROM (SELECT 1 AS a) s, (SELECT s.a) u`:                                  `There is an entry for table "s", but it cannot be referenced from this part of the query.`,
		`SELECT ROW(1)::pg_stats`:                                                          `Input has too few columns.`,
		`SELECT '{"canary": 1'::json`:                                                      "",
		`CREATE TEMP TABLE t (n int PRIMARY KEY); INSERT INTO t VALUES (4711), (4711)`:     "",
		`SELECT '2020-13-01'::date`:                                                        "",
		`CREATE TEMP TABLE s (n int CHECK (n > 0)); INSERT INTO s VALUES (-4711)`:          "",
		`DO $$ BEGIN RAISE SQLSTATE '23505' USING DETAIL = 'canary', MESSAGE = 'm'; END$$`: "",
	} {
		w.send(query(sql))
		for ready := false; !ready; {
			switch m := w.receive().(type) {
			case *oldproto.ErrorResponse:
				if m.Detail != want && (m.Detail != "" || m.Hint != want) || m.Where+m.SchemaName+m.TableName+m.ConstraintName+m.ColumnName+m.DataTypeName+m.File+m.InternalQuery != "" || m.Line+m.InternalPosition != 0 {
					t.Errorf("%s: %+v", sql, m)
				}
				if told := strings.HasPrefix(m.Code, "42"); told != (m.Routine != "") {
					t.Errorf("%s is of routine %q", sql, m.Routine)
				}
			case *oldproto.ReadyForQuery:
				ready = true
			}
		}
	}
}

// TestPositionsInOtherTexts tells no position where the text would be another one now.
func TestPositionsInOtherTexts(t *testing.T) {
	t.Parallel()
	state, _, err := fakeOpen(nil)
	if err != nil {
		t.Fatal(err)
	}
	const sql = "SELECT nope"
	sent, err := shiftingGate{}.Rewrite(sql, state)
	if err != nil {
		t.Fatal(err)
	}
	n := textMessage(messageQuery, sql, state, sent)
	at := utf8.RuneCountInString(shift) + 8
	if got := n.locate(shiftingGate{}, at); got != 8 {
		t.Errorf("the position is %d, want 8", got)
	}
	if got := n.locate(testGate{}, at-8); got != 0 {
		t.Errorf("the position in another text is %d", got)
	}
}
