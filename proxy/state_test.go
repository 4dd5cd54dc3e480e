package proxy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	oldproto "github.com/jackc/pgproto3/v2"
)

// seen tells which path a text was rewritten for and which one the server has.
const seen = "SELECT '@', current_setting('search_path')"

// at is the answer of seen.
func at(path string) string { return fmt.Sprintf("T D(%s,%[1]s) C(SELECT 1)", path) }

// run is a text through the extended protocol, under the names of a statement and a
// portal.
func run(name, sql string) []oldproto.FrontendMessage {
	return []oldproto.FrontendMessage{parse(name, sql), bind(name, name), execute(name, 0)}
}

// messages joins runs and single messages.
func messages(parts ...any) (all []oldproto.FrontendMessage) {
	for _, part := range parts {
		switch part := part.(type) {
		case []oldproto.FrontendMessage:
			all = append(all, part...)
		case oldproto.FrontendMessage:
			all = append(all, part)
		case string:
			all = append(all, query(part))
		}
	}
	return all
}

// stateScripts are pipelines that are sent at once, and what must be answered.
var stateScripts = []struct {
	name  string
	send  []oldproto.FrontendMessage
	ready int
	want  string
}{
	{"one after the other", messages("SET search_path TO a", seen, "SET search_path TO b", seen), 4, "C(SET) ZI " + at("a") + " ZI C(SET) ZI " + at("b") + " ZI"},
	{
		"a statement that cannot be parsed again",
		messages(parse("s", seen), syncMessage, "SET search_path TO a", "BEGIN", "SELECT 1/0", bind("", "s"), execute("", 0), syncMessage, bind("", "s"), execute("", 0), syncMessage,
			"ROLLBACK", bind("", "s"), execute("", 0), syncMessage),
		8,
		"1 ZI C(SET) ZI C(BEGIN) ZT E22012 ZE E25P02 ZE E25P02 ZE C(ROLLBACK) ZI 2 " + strings.TrimPrefix(at("a"), "T ") + " ZI",
	},
	{
		"a statement that cannot be parsed again and is described",
		messages(parse("s", seen), syncMessage, "SET search_path TO a", "BEGIN", "SELECT 1/0", bind("", "s"), syncMessage,
			"ROLLBACK", "PREPARE other AS SELECT 1", "DEALLOCATE other", describe('S', "s"), closing('S', "s"), bind("", "s"), syncMessage),
		9,
		"1 ZI C(SET) ZI C(BEGIN) ZT E22012 ZE E25P02 ZE C(ROLLBACK) ZI C(PREPARE) ZI C(DEALLOCATE) ZI t T 3 E26000 ZI",
	},
	{
		"EXECUTE of a statement of the protocol",
		messages(parse("s", "SET search_path TO a"), syncMessage, "EXECUTE s", seen, run("", "EXECUTE s"), syncMessage, seen, bind("", "s"), execute("", 0), syncMessage, seen),
		7,
		"1 ZI E0A000 ZI " + at(fakeDefaultPath) + " ZI 1 2 E0A000 ZI " + at(fakeDefaultPath) + " ZI 2 C(SET) ZI " + at("a") + " ZI",
	},
	{
		"names that differ where PostgreSQL does not look",
		messages(parse(longName+"x", "SET search_path TO a"), syncMessage, bind(longName+"p", longName+"y"), execute(longName+"q", 0), syncMessage, seen),
		3,
		"1 ZI 2 C(SET) ZI " + at("a") + " ZI",
	},
	{"in one text", messages("SET search_path TO a; " + seen + "; SET search_path TO b; " + seen), 1, "C(SET) " + at("a") + " C(SET) " + at("b") + " ZI"},
	{
		"an error rolls a text back",
		messages("SET search_path TO a", "SET search_path TO b; "+seen+"; SELECT 1/0", seen),
		3,
		"C(SET) ZI C(SET) " + at("b") + " E22012 ZI " + at("a") + " ZI",
	},
	{
		"a commit in the middle of a text",
		messages("SET search_path TO b; COMMIT; SET search_path TO c; SELECT 1/0", seen),
		2,
		"C(SET) N C(COMMIT) C(SET) E22012 ZI " + at("b") + " ZI",
	},
	{
		"a refusal changes nothing",
		messages("SET search_path TO a", "SET search_path TO b; forbidden", seen),
		3,
		"C(SET) ZI E42501 ZI " + at("a") + " ZI",
	},
	{
		"rollback and savepoints",
		messages("SET search_path TO a", "BEGIN", "SET search_path TO b", "SAVEPOINT s", "SET search_path TO c", seen, "ROLLBACK TO s", seen, "ROLLBACK", seen),
		10,
		"C(SET) ZI C(BEGIN) ZT C(SET) ZT C(SAVEPOINT) ZT C(SET) ZT " + at("c") + " ZT C(ROLLBACK) ZT " + at("b") + " ZT C(ROLLBACK) ZI " + at("a") + " ZI",
	},
	{
		"a commit that is a rollback",
		messages("SET search_path TO a", "BEGIN", "SET search_path TO b", "SELECT 1/0", seen, "COMMIT", seen),
		7,
		"C(SET) ZI C(BEGIN) ZT C(SET) ZT E22012 ZE E25P02 ZE C(ROLLBACK) ZI " + at("a") + " ZI",
	},
	{
		"the same in one text behind the error",
		messages("SET search_path TO a", "BEGIN", "SET search_path TO b", "SELECT 1/0", "COMMIT; "+seen),
		5,
		"C(SET) ZI C(BEGIN) ZT C(SET) ZT E22012 ZE C(ROLLBACK) " + at("a") + " ZI",
	},
	{
		"the same in one segment behind the error",
		messages("SET search_path TO a", "BEGIN", "SET search_path TO b", "SELECT 1/0", run("", "COMMIT"), run("", seen), syncMessage),
		5,
		"C(SET) ZI C(BEGIN) ZT C(SET) ZT E22012 ZE 1 2 C(ROLLBACK) 1 2 D(a,a) C(SELECT 1) ZI",
	},
	{"local", messages("BEGIN", "SET LOCAL search_path TO b", seen, "COMMIT", seen), 5, "C(BEGIN) ZT C(SET) ZT " + at("b") + ` ZT C(COMMIT) ZI ` + at(fakeDefaultPath) + " ZI"},
	{
		"extended, in one segment",
		messages(run("", "SET search_path TO a"), run("", seen), run("", "SET search_path TO b"), run("", seen), syncMessage),
		1,
		"1 2 C(SET) 1 2 D(a,a) C(SELECT 1) 1 2 C(SET) 1 2 D(b,b) C(SELECT 1) ZI",
	},
	{
		"extended, an error rolls the segment back",
		messages(run("", "SET search_path TO a"), syncMessage, run("", "SET search_path TO b"), run("", "SELECT 1/0"), run("", seen), syncMessage, run("", seen), syncMessage),
		3,
		"1 2 C(SET) ZI 1 2 C(SET) 1 E22012 ZI 1 2 D(a,a) C(SELECT 1) ZI",
	},
	{
		"an error that skips a simple query",
		messages(run("", "SET search_path TO a"), parse("", "SELEC"), "SELECT 1", syncMessage, seen),
		2,
		"1 2 C(SET) E42601 ZI " + at(fakeDefaultPath) + " ZI",
	},
	{
		"prepared is not executed",
		messages(parse("s", "SET search_path TO a"), syncMessage, seen, bind("", "s"), syncMessage, seen, bind("", "s"), execute("", 0), execute("", 0), syncMessage, seen),
		6,
		"1 ZI " + at(fakeDefaultPath) + " ZI 2 ZI " + at(fakeDefaultPath) + " ZI 2 C(SET) E55000 ZI " + at(fakeDefaultPath) + " ZI",
	},
	{
		"prepared and executed often",
		messages(parse("s", "SET search_path TO a"), parse("t", "SET search_path TO b"), syncMessage,
			bind("p", "s"), bind("q", "t"), execute("q", 0), execute("p", 0), syncMessage, seen,
			bind("p", "s"), bind("q", "t"), execute("p", 0), execute("q", 0), syncMessage, seen),
		5,
		"1 1 ZI 2 2 C(SET) C(SET) ZI " + at("a") + " ZI 2 2 C(SET) C(SET) ZI " + at("b") + " ZI",
	},
	{
		"executions that are rolled back",
		messages(parse("s", "SET search_path TO a"), syncMessage, "BEGIN", bind("", "s"), execute("", 0), syncMessage, seen, "ROLLBACK", seen),
		6,
		"1 ZI C(BEGIN) ZT 2 C(SET) ZT " + at("a") + " ZT C(ROLLBACK) ZI " + at(fakeDefaultPath) + " ZI",
	},
	{
		"a name that is taken keeps its statement",
		messages(parse("s", "SET search_path TO a"), syncMessage, parse("s", "SELECT 1"), syncMessage, bind("", "s"), execute("", 0), syncMessage, seen),
		4,
		"1 ZI E42P05 ZI 2 C(SET) ZI " + at("a") + " ZI",
	},
	{
		"a name is closed and used again",
		messages(parse("s", "SET search_path TO a"), syncMessage, closing('S', "s"), parse("s", "SET search_path TO b"), bind("", "s"), execute("", 0), syncMessage, seen),
		3,
		"1 ZI 3 1 2 C(SET) ZI " + at("b") + " ZI",
	},
	{
		"deallocated and used again",
		messages(parse("s", "SET search_path TO a"), syncMessage, "DEALLOCATE s", parse("s", "SELECT 'plain'"), bind("", "s"), execute("", 0), syncMessage, seen),
		4,
		"1 ZI C(DEALLOCATE) ZI 1 2 D(plain) C(SELECT 1) ZI " + at(fakeDefaultPath) + " ZI",
	},
	{
		"a portal keeps a statement that is replaced",
		messages(parse("", "SET search_path TO a"), bind("p", ""), parse("", "SELECT 1"), execute("p", 0), syncMessage, seen),
		2,
		"1 2 1 C(SET) ZI " + at("a") + " ZI",
	},
	{
		"copies in between",
		messages("SET search_path TO a; COPY (SELECT 1) TO STDOUT; COPY (SELECT 2 WHERE false) TO STDOUT; SET search_path TO b; "+seen, seen),
		2,
		"C(SET) H d c C(COPY 1) H c C(COPY 0) C(SET) " + at("b") + " ZI " + at("b") + " ZI",
	},
	{
		"names in a prepared statement are looked up again",
		messages(parse("s", seen), syncMessage, "SET search_path TO a", bind("", "s"), execute("", 0), syncMessage,
			bind("", "s"), execute("", 0), run("", "SET search_path TO b"), bind("", "s"), execute("", 0), syncMessage, bind("p", "s"), execute("p", 0), syncMessage),
		5,
		"1 ZI C(SET) ZI 2 D(a,a) C(SELECT 1) ZI 2 D(a,a) C(SELECT 1) 1 2 C(SET) 2 D(b,b) C(SELECT 1) ZI 2 D(b,b) C(SELECT 1) ZI",
	},
	{
		"and may be refused then",
		messages(parse("s", "SELECT '@'"), run("", "SET search_path TO hidden"), bind("", "s"), execute("", 0), syncMessage, "SELECT 1"),
		2,
		"1 1 2 C(SET) E42501 ZI T D(1) C(SELECT 1) ZI",
	},
	{
		"a name that SQL has given to another statement",
		messages(parse("s", seen), syncMessage, "DEALLOCATE s", "PREPARE s AS SELECT 'other'", "SET search_path TO a", bind("", "s"), execute("", 0), syncMessage),
		5,
		"1 ZI C(DEALLOCATE) ZI C(PREPARE) ZI C(SET) ZI 2 D(other) C(SELECT 1) ZI",
	},
	{
		"a name that was closed",
		messages(parse("s", seen), syncMessage, closing('S', "s"), syncMessage, "SET search_path TO a", bind("", "s"), syncMessage),
		4,
		"1 ZI 3 ZI C(SET) ZI E26000 ZI",
	},
	{
		"a name that is closed before it is bound",
		messages(parse("s", seen), run("", "SET search_path TO a"), closing('S', "s"), bind("", "s"), syncMessage),
		1,
		"1 1 2 C(SET) 3 E26000 ZI",
	},
	{"empty", messages("SET search_path TO a", "", ";", run("", ""), syncMessage, seen), 5, "C(SET) ZI I ZI I ZI 1 2 I ZI " + at("a") + " ZI"},
	{
		"SQL's PREPARE has no part in it",
		messages("PREPARE s AS "+seen, "SET search_path TO a", "EXECUTE s", seen),
		4,
		`C(PREPARE) ZI C(SET) ZI T D("$user", public,a) C(SELECT 1) ZI ` + at("a") + " ZI",
	},
	{
		"a named statement in many segments",
		messages(parse("s", "BEGIN"), parse("t", "COMMIT"), parse("u", "SELECT 1"), syncMessage,
			bind("", "s"), execute("", 0), syncMessage, bind("", "u"), execute("", 0), syncMessage, bind("", "t"), execute("", 0), syncMessage,
			bind("", "s"), execute("", 0), bind("", "u"), execute("", 0), syncMessage, "SET LOCAL search_path TO b; "+seen, "ROLLBACK", seen),
		8,
		"1 1 1 ZI 2 C(BEGIN) ZT 2 D(1) C(SELECT 1) ZT 2 C(COMMIT) ZI 2 C(BEGIN) 2 D(1) C(SELECT 1) ZT C(SET) " + at("b") + " ZT C(ROLLBACK) ZI " + at(fakeDefaultPath) + " ZI",
	},
}

// TestStateScripts plays the scripts, each in a new session: a state that is left
// behind by one must not be met by another.
func TestStateScripts(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	for _, c := range stateScripts {
		t.Run(c.name, func(t *testing.T) {
			w := p.loginWire(t)
			w.send(query(seen))
			if got, want := w.script(1), at(fakeDefaultPath)+" ZI"; got != want {
				t.Fatalf("at first %s", got)
			}
			w.send(c.send...)
			if got := w.script(c.ready); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestRandomStates compares the path that each text is rewritten for with the one it
// meets in the server, in random pipelines.
func TestRandomStates(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	compared := 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		w := p.loginWire(t)
		for range 8 {
			sent := randomPipeline(rng, 30)
			w.send(append(sent, syncMessage, query("ROLLBACK"), query("SELECT 'the', 'end'"))...)
			for end := false; !end; {
				row, ok := w.receive().(*oldproto.DataRow)
				if !ok || len(row.Values) != 2 {
					continue
				}
				met, rewritten := string(row.Values[1]), string(row.Values[0])
				if end = met == "end"; !end {
					compared++
				}
				if !end && met != rewritten {
					t.Fatalf("seed %d: rewritten for %q, met %q in\n%s", seed, rewritten, met, briefly(sent))
				}
			}
		}
	}
	if compared < 500 {
		t.Errorf("only %d texts were compared", compared)
	}
}

// randomPipeline draws n parts of a pipeline.
func randomPipeline(rng *rand.Rand, n int) (all []oldproto.FrontendMessage) {
	effect := func() string {
		name := string("abc"[rng.IntN(3)])
		return []string{
			"SET search_path TO " + name, "SET search_path TO " + name, "SET LOCAL search_path TO " + name, "BEGIN", "COMMIT",
			"ROLLBACK", "SAVEPOINT " + name, "ROLLBACK TO " + name, "RELEASE " + name, "SELECT 1/0", seen, seen, seen,
		}[rng.IntN(13)]
	}
	for range n {
		name := []string{"", "s", "t"}[rng.IntN(3)]
		switch rng.IntN(12) {
		case 0:
			all = append(all, query(effect()))
		case 1:
			all = append(all, query(seen+"; "+effect()+"; "+effect()+"; "+seen))
		case 2:
			all = append(all, query(seen))
		case 3, 4:
			all = append(all, run("", effect())...)
		case 5, 6:
			all = append(all, run("", seen)...)
		case 7:
			all = append(all, parse(name, effect()))
		case 8:
			all = append(all, bind("", name), execute("", uint32(rng.IntN(2))))
		case 9:
			all = append(all, closing('S', name))
		case 10:
			all = append(all, parse("", "forbidden"))
		default:
			all = append(all, syncMessage)
		}
	}
	return all
}

// briefly writes what was sent.
func briefly(sent []oldproto.FrontendMessage) string {
	var b strings.Builder
	for _, m := range sent {
		fmt.Fprintf(&b, "%T%+v\n", m, m)
	}
	return b.String()
}

func TestPathAtStartup(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	for _, parameters := range []string{"search_path=mine", "options=-csearch_path%3Dmine", "options=--Search-Path%3Dmine"} {
		conn := connectPgx(t, p.url("sslmode=disable&"+parameters))
		var rewritten, met string
		if err := conn.QueryRow(deadline(t), seen).Scan(&rewritten, &met); err != nil || rewritten != "mine" || met != fakeDefaultPath {
			t.Errorf("%s: rewritten for %q, met %q: %v", parameters, rewritten, met, err)
		}
	}
	w := dialWire(t, p.addr)
	w.send(&oldproto.StartupMessage{
		ProtocolVersion: oldproto.ProtocolVersionNumber,
		Parameters:      map[string]string{"user": testUser, "database": published, "search_path": "forbidden"},
	})
	if m := w.scram(testPassword); brief(m) != "R" {
		t.Fatalf("login answered by %#v", m)
	}
	if e := w.expectFatal("42501"); e.Hint != (refusedText{}).Hint() || e.Message != (refusedText{}).Error() || e.Position != 0 {
		t.Errorf("%+v", e)
	}
}
