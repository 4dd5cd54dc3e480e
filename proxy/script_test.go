package proxy

import (
	"strings"
	"testing"

	oldproto "github.com/jackc/pgproto3/v2"
)

var (
	syncMessage  = &oldproto.Sync{}
	flushMessage = &oldproto.Flush{}
)

func query(sql string) oldproto.FrontendMessage { return &oldproto.Query{String: sql} }

func parse(name, sql string) oldproto.FrontendMessage {
	return &oldproto.Parse{Name: name, Query: sql}
}

func bind(portal, name string) oldproto.FrontendMessage {
	return &oldproto.Bind{DestinationPortal: portal, PreparedStatement: name}
}

func describe(kind byte, name string) oldproto.FrontendMessage {
	return &oldproto.Describe{ObjectType: kind, Name: name}
}

func execute(portal string, rows uint32) oldproto.FrontendMessage {
	return &oldproto.Execute{Portal: portal, MaxRows: rows}
}

func closing(kind byte, name string) oldproto.FrontendMessage {
	return &oldproto.Close{ObjectType: kind, Name: name}
}

// rawMessage is bytes as a message.
type rawMessage []byte

func (rawMessage) Frontend()                           {}
func (rawMessage) Decode([]byte) error                 { return nil }
func (m rawMessage) Encode(dst []byte) ([]byte, error) { return append(dst, m...), nil }
func (rawMessage) UnmarshalJSON(b []byte) error        { return nil }

// scripts are pipelines and the answers PostgreSQL would give, were a refusal an
// error of its own.
var scripts = []struct {
	name  string
	send  []oldproto.FrontendMessage
	ready int
	want  string
}{
	{"simple", []oldproto.FrontendMessage{query("SELECT 1")}, 1, "T D(1) C(SELECT 1) ZI"},
	{"empty", []oldproto.FrontendMessage{query("")}, 1, "I ZI"},
	{"refused", []oldproto.FrontendMessage{query("forbidden")}, 1, "E42501 ZI"},
	{
		"pipelined simple",
		[]oldproto.FrontendMessage{query("SELECT 1"), query("forbidden"), query("SELECT 2")},
		3,
		"T D(1) C(SELECT 1) ZI E42501 ZI T D(2) C(SELECT 1) ZI",
	},
	{
		"refused in a transaction",
		[]oldproto.FrontendMessage{query("BEGIN"), query("forbidden"), query("SELECT 1"), query("ROLLBACK"), query("SELECT 2")},
		5,
		"C(BEGIN) ZT E42501 ZE E25P02 ZE C(ROLLBACK) ZI T D(2) C(SELECT 1) ZI",
	},
	{
		"refused in a failed transaction",
		[]oldproto.FrontendMessage{query("BEGIN"), query("SELECT 1/0"), query("forbidden"), query("ROLLBACK")},
		4,
		"C(BEGIN) ZT E22012 ZE E25P02 ZE C(ROLLBACK) ZI",
	},
	{
		"refused to a savepoint",
		[]oldproto.FrontendMessage{query("BEGIN"), query("SAVEPOINT s"), query("forbidden"), query("ROLLBACK TO s"), query("SELECT 1"), query("COMMIT")},
		6,
		"C(BEGIN) ZT C(SAVEPOINT) ZT E42501 ZE C(ROLLBACK) ZT T D(1) C(SELECT 1) ZT C(COMMIT) ZI",
	},
	{
		"extended",
		[]oldproto.FrontendMessage{parse("", "SELECT 1"), describe('S', ""), bind("", ""), describe('P', ""), execute("", 0), closing('P', ""), syncMessage},
		1,
		"1 t T 2 T D(1) C(SELECT 1) 3 ZI",
	},
	{
		"parameter types that print names",
		[]oldproto.FrontendMessage{
			&oldproto.Parse{Query: "SELECT $1", ParameterOIDs: []uint32{25, 2205}}, syncMessage,
			&oldproto.Parse{Query: "SELECT $1", ParameterOIDs: []uint32{2210}}, syncMessage,
			&oldproto.Parse{Query: "SELECT $1", ParameterOIDs: []uint32{71}}, syncMessage,
			&oldproto.Parse{Query: "SELECT $1, $2", ParameterOIDs: []uint32{25, 0}}, syncMessage,
		},
		4,
		"E0A000 ZI E0A000 ZI E0A000 ZI 1 ZI",
	},
	{"extended empty", []oldproto.FrontendMessage{parse("", ""), bind("", ""), describe('P', ""), execute("", 0), syncMessage}, 1, "1 2 n I ZI"},
	{
		"refused Parse",
		[]oldproto.FrontendMessage{parse("", "forbidden"), bind("", ""), execute("", 0), syncMessage, query("SELECT 2")},
		2,
		"E42501 ZI T D(2) C(SELECT 1) ZI",
	},
	{
		"refused Parse, then everything up to Sync",
		[]oldproto.FrontendMessage{parse("", "forbidden"), query("SELECT 1"), parse("", "forbidden"), &oldproto.CopyData{}, flushMessage, syncMessage, syncMessage},
		2,
		"E42501 ZI ZI",
	},
	{
		"error before a refused Parse",
		[]oldproto.FrontendMessage{parse("", "SELEC"), parse("", "forbidden"), syncMessage, query("SELECT 2")},
		2,
		"E42601 ZI T D(2) C(SELECT 1) ZI",
	},
	{
		"error skips a simple query",
		[]oldproto.FrontendMessage{parse("", "SELEC"), query("SELECT 1"), query("forbidden"), syncMessage, query("SELECT 2")},
		2,
		"E42601 ZI T D(2) C(SELECT 1) ZI",
	},
	{
		"simple query inside a run",
		[]oldproto.FrontendMessage{parse("", "SELECT 1"), query("SELECT 2"), query("forbidden"), syncMessage},
		3,
		"1 T D(2) C(SELECT 1) ZI E42501 ZI ZI",
	},
	{"error in the middle of two runs", []oldproto.FrontendMessage{
		parse("", "SELECT 1/0"), bind("", ""), execute("", 0), syncMessage,
		parse("", "SELECT 1"), bind("", ""), execute("", 0), parse("x", "forbidden"), bind("", ""), syncMessage,
		parse("", "SELECT 3"), bind("", ""), execute("", 0), syncMessage,
	}, 3, "1 E22012 ZI 1 2 D(1) C(SELECT 1) E42501 ZI 1 2 D(3) C(SELECT 1) ZI"},
	{
		"a refused name stays free",
		[]oldproto.FrontendMessage{parse("free", "forbidden"), syncMessage, parse("free", "SELECT 1"), closing('S', "free"), syncMessage},
		2,
		"E42501 ZI 1 3 ZI",
	},
	{
		"a name taken twice",
		[]oldproto.FrontendMessage{parse("taken", "SELECT 1"), syncMessage, parse("taken", "SELECT 2"), syncMessage, closing('S', "taken"), syncMessage},
		3,
		"1 ZI E42P05 ZI 3 ZI",
	},
	{"a stale statement", []oldproto.FrontendMessage{bind("", "nowhere"), syncMessage}, 1, "E26000 ZI"},
	{
		"row limits",
		[]oldproto.FrontendMessage{parse("", "SELECT generate_series(1, 3)"), bind("", ""), execute("", 2), execute("", 2), execute("", 2), syncMessage},
		1,
		"1 2 D(1) D(2) s D(3) C(SELECT 1) C(SELECT 0) ZI",
	},
	{"copy", []oldproto.FrontendMessage{query("COPY (SELECT 1) TO STDOUT")}, 1, "H d c C(COPY 1) ZI"},
	{"extended copy", []oldproto.FrontendMessage{parse("", "COPY (SELECT 1) TO STDOUT"), bind("", ""), execute("", 0), syncMessage}, 1, "1 2 H d c C(COPY 1) ZI"},
	{"copy csv", []oldproto.FrontendMessage{query("COPY (SELECT 1, 'a,b') TO STDOUT (FORMAT csv, HEADER)")}, 1, "H d d c C(COPY 1) ZI"},
	{"copy binary", []oldproto.FrontendMessage{query("COPY (SELECT 1) TO STDOUT (FORMAT binary)")}, 1, "H d d c C(COPY 1) ZI"},
	{
		"copy among others",
		[]oldproto.FrontendMessage{query("SELECT 1; COPY (SELECT 1) TO STDOUT; SELECT 2; COPY (SELECT 2) TO STDOUT (FORMAT csv); COPY (SELECT 1 WHERE false) TO STDOUT")},
		1,
		"T D(1) C(SELECT 1) H d c C(COPY 1) T D(2) C(SELECT 1) H d c C(COPY 1) H c C(COPY 0) ZI",
	},
	{"copy with an error in it", []oldproto.FrontendMessage{query("COPY (SELECT 1 / (3 - g) FROM generate_series(1, 5) g) TO STDOUT; SELECT 1")}, 1, "H d d E22012 ZI"},
	{
		"extended copy with an error in it",
		[]oldproto.FrontendMessage{parse("", "COPY (SELECT 1 / (2 - g) FROM generate_series(1, 5) g) TO STDOUT"), bind("", ""), execute("", 0), parse("", "SELECT 1"), syncMessage},
		1,
		"1 2 H d E22012 ZI",
	},
	{
		"copy from the client is refused",
		[]oldproto.FrontendMessage{
			query("COPY forbidden FROM STDIN"), &oldproto.CopyData{Data: []byte("1\n")}, &oldproto.CopyDone{}, query("SELECT 1"),
			parse("", "COPY forbidden FROM STDIN"), bind("", ""), execute("", 0), syncMessage, &oldproto.CopyData{Data: []byte("1\n")}, &oldproto.CopyFail{Message: "m"}, syncMessage,
		},
		4,
		"E42501 ZI T D(1) C(SELECT 1) ZI E42501 ZI ZI",
	},
	{
		"copy leftovers",
		[]oldproto.FrontendMessage{&oldproto.CopyData{Data: []byte("x")}, &oldproto.CopyDone{}, &oldproto.CopyFail{Message: "m"}, query("SELECT 1")},
		1,
		"T D(1) C(SELECT 1) ZI",
	},
	{
		"function call",
		[]oldproto.FrontendMessage{rawMessage(appendFrame(nil, 'F', make([]byte, 10))), query("SELECT 1")},
		2,
		"E0A000 ZI T D(1) C(SELECT 1) ZI",
	},
	{"not UTF-8", []oldproto.FrontendMessage{query("SELECT '\xff'"), parse("", "SELECT '\xff'"), syncMessage}, 2, "E22021 ZI E22021 ZI"},
	{"too long", []oldproto.FrontendMessage{query(strings.Repeat(" ", defaultMaxStatementBytes)), parse("", strings.Repeat(" ", defaultMaxStatementBytes)), syncMessage}, 2, "E54000 ZI E54000 ZI"},
}

// TestScripts plays the scripts; each session must be in step afterward.
func TestScripts(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	for _, c := range scripts {
		t.Run(c.name, func(t *testing.T) {
			w := p.loginWire(t)
			w.send(c.send...)
			if got := w.script(c.ready); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			w.send(query("SELECT 'still in step'"))
			if got := w.script(1); got != "T D(still in step) C(SELECT 1) ZI" {
				t.Errorf("afterwards: %s", got)
			}
		})
	}
}
