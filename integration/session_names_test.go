package integration

import (
	"strings"
	"testing"

	oldproto "github.com/jackc/pgproto3/v2"
)

// testPlansByNames wants no plan to show the store's names, whatever name or statement
// it is reached by.
func testPlansByNames(t *testing.T, s *site) {
	long, sync := strings.Repeat("a", 63), &oldproto.Sync{}
	const explain = "EXPLAIN SELECT * FROM people"
	type messages = []oldproto.FrontendMessage
	parsed := messages{&oldproto.Parse{Name: "s", Query: explain}, sync}
	bound := together(simple("BEGIN"), messages{&oldproto.Parse{Name: "s", Query: explain}, &oldproto.Bind{DestinationPortal: "p", PreparedStatement: "s"}, sync})
	for name, c := range map[string]struct {
		send    messages
		refused bool
	}{
		"a statement of a long name": {send: messages{&oldproto.Parse{Name: long + "x", Query: explain}, &oldproto.Bind{PreparedStatement: long + "y"}, &oldproto.Execute{}, sync}},
		"a portal of a long name":    {send: messages{&oldproto.Parse{Name: "s", Query: explain}, &oldproto.Bind{DestinationPortal: long + "x", PreparedStatement: "s"}, &oldproto.Execute{Portal: long + "y"}, sync}},
		"EXECUTE":                    {together(parsed, simple("EXECUTE S")), true},
		"EXECUTE at once":            {together(parsed[:1], simple(`EXECUTE "s"`)), true},
		"extended EXECUTE":           {together(parsed, byName("", "EXECUTE s"), synced), true},
		"FETCH":                      {together(bound, simple("FETCH ALL FROM p")), true},
		"extended FETCH":             {together(bound, byName("f", "FETCH ALL FROM p"), synced), true},
		"MOVE":                       {together(bound, simple("MOVE 1 IN p")), true},
	} {
		t.Run(name, func(t *testing.T) {
			said := conversation(t, dialed(t, s.url()), c.send)
			if strings.Contains(said, "release_") || strings.Contains(said, "E0A000") != c.refused {
				t.Error(said)
			}
			if shown := strings.Contains(said, "Scan on"); shown == c.refused {
				t.Errorf("a plan is shown: %v, %s", shown, said)
			}
		})
	}
}

// testEffectsByNames wants the paths that PostgreSQL has where names are cut.
func testEffectsByNames(t *testing.T, s *site) {
	long, sync := strings.Repeat("é", 31)+"a", &oldproto.Sync{}
	messages := together([]oldproto.FrontendMessage{
		&oldproto.Parse{Name: long + "x", Query: "SET search_path TO west"}, &oldproto.Bind{DestinationPortal: long + "é", PreparedStatement: long + "y"},
		&oldproto.Execute{Portal: long + "z"}, sync,
	}, simple(place))
	want := conversation(t, dialed(t, s.admin), messages)
	if got := conversation(t, dialed(t, s.url()), messages); got != want || !strings.Contains(want, "D(west)") {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
