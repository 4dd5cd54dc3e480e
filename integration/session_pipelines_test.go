package integration

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	oldproto "github.com/jackc/pgproto3/v2"
)

// byName is a text through the extended protocol under a name.
func byName(name, sql string) []oldproto.FrontendMessage {
	return []oldproto.FrontendMessage{
		&oldproto.Parse{Name: name, Query: sql},
		&oldproto.Bind{DestinationPortal: name, PreparedStatement: name},
		&oldproto.Describe{ObjectType: 'P', Name: name},
		&oldproto.Execute{Portal: name},
	}
}

// again executes what was prepared under a name, as JDBC drivers do.
func again(name string) []oldproto.FrontendMessage {
	return []oldproto.FrontendMessage{&oldproto.Bind{PreparedStatement: name}, &oldproto.Execute{}}
}

func simple(sql string) []oldproto.FrontendMessage {
	return []oldproto.FrontendMessage{&oldproto.Query{String: sql}}
}

var synced = []oldproto.FrontendMessage{&oldproto.Sync{}}

// conversation sends messages at once and returns the answers, up to a marker, in a
// short notation. Notices and most settings are left out.
func conversation(t *testing.T, w *wire, messages []oldproto.FrontendMessage) string {
	t.Helper()
	const marker = "the end of it"
	// What is before the Sync may be skipped, and a transaction may be open.
	messages = append(append(append([]oldproto.FrontendMessage{}, messages...), synced...), simple("ROLLBACK")...)
	if err := w.send(append(messages, simple("SELECT '"+marker+"'")...)...); err != nil {
		t.Fatal(err)
	}
	var said []string
	for end := false; ; {
		message, err := w.front.Receive()
		if err != nil {
			t.Fatal(err)
		}
		switch m := message.(type) {
		case *oldproto.DataRow:
			row := make([]string, len(m.Values))
			for i, value := range m.Values {
				row[i] = string(value)
			}
			end = len(row) > 0 && row[0] == marker
			said = append(said, "D("+strings.Join(row, ",")+")")
		case *oldproto.CommandComplete:
			said = append(said, "C("+string(m.CommandTag)+")")
		case *oldproto.ErrorResponse:
			said = append(said, "E"+m.Code)
		case *oldproto.ReadyForQuery:
			said = append(said, "Z"+string(m.TxStatus))
			if end {
				return strings.Join(said, " ")
			}
		case *oldproto.ParameterStatus:
			if m.Name == "search_path" { // from PostgreSQL 18 on
				said = append(said, "S("+m.Value+")")
			}
		case *oldproto.NoticeResponse:
		default:
			encoded, err := m.Encode(nil)
			if err != nil {
				t.Fatal(err)
			}
			said = append(said, string(encoded[0]))
		}
	}
}

// askedByQuery is a conversation in which SHOW is a query, which is how kproxy asks for
// the client's own path.
func askedByQuery(said string) string { return strings.ReplaceAll(said, "C(SHOW)", "C(SELECT 1)") }

// together joins parts of a conversation.
func together(parts ...[]oldproto.FrontendMessage) (all []oldproto.FrontendMessage) {
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

// testLikePostgreSQL has kproxy answer as PostgreSQL does without it.
func testLikePostgreSQL(t *testing.T, s *site) {
	const west, east = "SET search_path TO west", `SET search_path TO "Far East"`
	for name, messages := range map[string][]oldproto.FrontendMessage{
		"JDBC, autocommit off": together(
			byName("", "BEGIN"), byName("", "SET LOCAL search_path TO west"), synced, byName("", place), synced,
			byName("", "COMMIT"), synced, byName("", place), synced),
		"JDBC, named statements": together(
			byName("S_1", "BEGIN"), byName("S_2", west), byName("S_3", place), synced, byName("S_4", "ROLLBACK"), synced,
			again("S_1"), again("S_2"), synced, byName("S_5", place), synced, byName("S_6", "COMMIT"), synced,
			byName("S_7", place), synced, again("S_3"), synced),
		"savepoints": together(
			simple("BEGIN"), simple(west), simple("SAVEPOINT a"), simple(east), simple(place), simple("SELECT 1/0"), simple(place),
			simple("ROLLBACK TO a"), simple(place), simple("RELEASE a"), simple(place), simple("COMMIT"), simple(place)),
		"an error rolls a segment back": together(
			byName("", west), synced, byName("", east), byName("", "SELECT 1/0"), byName("", place), synced, byName("", place), synced),
		"an error rolls a text back": together(simple(west), simple(east+"; "+place+"; SELECT 1/0"), simple(place)),
		"a text commits in between":  together(simple(west+"; COMMIT; "+east+"; SELECT 1/0"), simple(place)),
		"a commit behind an error":   together(simple(west), simple("BEGIN; "+east), simple("SELECT 1/0"), simple("COMMIT; "+place), simple(place)),
		"a name is taken":            together(byName("s", west), synced, byName("s", place), synced, again("s"), synced, simple(place)),
		"a name is closed": together(
			byName("s", west), synced, []oldproto.FrontendMessage{&oldproto.Close{ObjectType: 'S', Name: "s"}}, byName("s", east), synced,
			byName("", place), synced, again("s"), simple(place)),
		"DEALLOCATE": together(byName("s", west), synced, simple("DEALLOCATE s"), byName("s", east), synced, simple(place)),
		"DISCARD ALL": together(
			byName("s", west), synced, simple("DISCARD ALL"), simple(place), byName("s", east), synced, simple(place)),
		"what is not executed": together([]oldproto.FrontendMessage{&oldproto.Parse{Name: "n", Query: west}}, synced, simple(place), again("n"), synced, simple(place)),
		"SQL's PREPARE":        together(simple("PREPARE p AS "+place), simple("EXECUTE p"), simple("DEALLOCATE p"), simple("EXECUTE p")),
		"set_config":           together(simple("SELECT set_config('search_path', 'west', false)"), simple(place), simple("SHOW search_path")),
		"COPY among others":    together(simple(west + "; COPY (" + place + ") TO STDOUT; " + east + "; COPY (" + place + ") TO STDOUT (FORMAT csv); " + place)),
		"a statement outlives a failed transaction": together(
			[]oldproto.FrontendMessage{&oldproto.Parse{Name: "s", Query: place}}, again("s"), synced, simple(west), simple("BEGIN"), simple("SELECT 1/0"),
			again("s"), synced, again("s"), synced, simple("ROLLBACK"), []oldproto.FrontendMessage{&oldproto.Describe{ObjectType: 'S', Name: "s"}}, again("s"), synced),
		"EXECUTE of what the protocol prepared": together(
			[]oldproto.FrontendMessage{&oldproto.Parse{Name: "s", Query: place}}, synced, simple("EXECUTE s"), byName("e", "EXECUTE s"), synced),
		"a Sync behind a simple query": together(
			byName("", west), simple(place), synced, simple("SELECT 1/0"), simple(place),
			byName("", west), simple(place), synced, simple(place), simple("SELECT 1/0"), simple(place),
			byName("", east), simple(place), synced, synced, byName("", place), synced, simple("SELECT 1/0"), simple(place),
			byName("", west), simple(place), byName("", place), synced, simple("SELECT 1/0"), simple(place)),
		"a Close before that Sync": together(
			byName("", west), simple(place), []oldproto.FrontendMessage{&oldproto.Close{ObjectType: 'S', Name: "s"}}, synced,
			simple("SELECT 1/0"), simple(place), simple(place)),
		"an empty portal before that Sync": together(
			[]oldproto.FrontendMessage{&oldproto.Parse{Name: "none"}, &oldproto.Bind{DestinationPortal: "none", PreparedStatement: "none"}},
			byName("", west), simple(place), []oldproto.FrontendMessage{&oldproto.Execute{Portal: "none"}}, synced,
			simple("SELECT 1/0"), simple(place), simple(place)),
		"BEGIN behind that Sync": together(
			byName("", west), simple(place), synced, simple("BEGIN"), simple(place), simple("ROLLBACK"), simple(place),
			byName("", east), simple(place), synced, byName("", "BEGIN"), synced, simple(place), simple("COMMIT"), simple(place)),
		"an error behind a simple query": together(byName("", west), simple(place), simple("SELECT 1/0"), synced, simple(place)),
		"cursors":                        together(simple("BEGIN"), simple(west), simple("DECLARE c CURSOR FOR "+place), simple(east), simple("FETCH ALL FROM c"), simple(place), simple("COMMIT")),
		"a path that leads nowhere":      together(simple("SET search_path TO nowhere"), simple(place), simple("SET search_path TO ''"), simple(place), simple("SHOW search_path")),
	} {
		t.Run(name, func(t *testing.T) {
			want := askedByQuery(conversation(t, dialed(t, s.admin), messages))
			if got := conversation(t, dialed(t, s.url()), messages); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// testRandomPipelines compares the answers to random pipelines with those of PostgreSQL
// without kproxy, in sessions that go on.
func testRandomPipelines(t *testing.T, s *site) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 6))
			straight, proxied := dialed(t, s.admin), dialed(t, s.url())
			for round := range 15 {
				messages := randomPipeline(rng, 25)
				want := askedByQuery(conversation(t, straight, messages))
				if got := conversation(t, proxied, messages); got != want {
					t.Fatalf("round %d: %s\ngot  %s\nwant %s", round, written(messages), got, want)
				}
			}
		})
	}
}

func randomPipeline(rng *rand.Rand, n int) (all []oldproto.FrontendMessage) {
	// There is a table everywhere: a text in which one name is refused is refused whole.
	schemas := []string{"public", "west", `"Far East"`, "nowhere, west"}
	text := func() string {
		schema, savepoint := schemas[rng.IntN(4)], string("ab"[rng.IntN(2)])
		return []string{
			"SET search_path TO " + schema, "SET search_path = " + schema + ", public", "SET LOCAL search_path TO " + schema,
			"RESET search_path", "BEGIN", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT " + savepoint, "ROLLBACK TO " + savepoint,
			"RELEASE " + savepoint, "SELECT 1/0", "SHOW search_path", place, place, place,
		}[rng.IntN(16)]
	}
	for range n {
		name := string("st"[rng.IntN(2)])
		switch rng.IntN(12) {
		case 0, 1, 2:
			all = append(all, simple(text())...)
		case 3:
			all = append(all, simple(text()+"; "+text()+"; "+place)...)
		case 4, 5, 6, 7:
			all = append(all, byName("", text())...)
		case 8:
			all = append(all, &oldproto.Parse{Name: name, Query: text()})
		case 9:
			all = append(all, again(name)...)
		case 10:
			all = append(all, &oldproto.Close{ObjectType: 'S', Name: name})
		default:
			all = append(all, synced...)
		}
	}
	return all
}

// written is what was sent, for reading.
func written(messages []oldproto.FrontendMessage) string {
	var b strings.Builder
	for _, message := range messages {
		switch m := message.(type) {
		case *oldproto.Query:
			b.WriteString("\nQuery " + m.String)
		case *oldproto.Parse:
			b.WriteString("\nParse " + m.Name + ": " + m.Query)
		case *oldproto.Bind:
			b.WriteString("\nBind " + m.PreparedStatement)
		case *oldproto.Execute:
			b.WriteString("\nExecute")
		case *oldproto.Close:
			b.WriteString("\nClose " + m.Name)
		case *oldproto.Sync:
			b.WriteString("\nSync")
		}
	}
	return b.String()
}
