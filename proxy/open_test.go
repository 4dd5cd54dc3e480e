package proxy

import (
	"slices"
	"strings"
	"testing"

	oldproto "github.com/jackc/pgproto3/v2"
)

// value is a Bind with a value.
func value(portal, statement, value string) oldproto.FrontendMessage {
	return &oldproto.Bind{DestinationPortal: portal, PreparedStatement: statement, ParameterFormatCodes: []int16{1}, Parameters: [][]byte{[]byte(value)}}
}

// TestOpenEffects: what a statement does to the session by a value that is bound.
func TestOpenEffects(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	null := &oldproto.Bind{Parameters: [][]byte{nil}}
	set := []oldproto.FrontendMessage{parse("", fakeBoundText), value("", "", "a"), execute("", 0), &oldproto.Sync{}}
	look := []oldproto.FrontendMessage{parse("", "SELECT '@'"), bind("", ""), execute("", 0), &oldproto.Sync{}}
	for name, c := range map[string]struct {
		send []oldproto.FrontendMessage
		want string
	}{
		"in the next segment": {slices.Concat(set, look), `1 2 D(a) C(SELECT 1) ZI 1 2 D(a) C(SELECT 1) ZI`},
		"in its segment":      {slices.Concat(set[:3], look), `1 2 D(a) C(SELECT 1) 1 2 D(a) C(SELECT 1) ZI`},
		"not executed":        {slices.Concat(set[:2], look), `1 2 1 2 D("$user", public) C(SELECT 1) ZI`},
		"NULL": {
			slices.Concat(set, []oldproto.FrontendMessage{parse("", fakeBoundText), null, execute("", 0), &oldproto.Sync{}}, look),
			`1 2 D(a) C(SELECT 1) ZI 1 2 D() C(SELECT 1) ZI 1 2 D("$user", public) C(SELECT 1) ZI`,
		},
		"rolled back": {
			slices.Concat(set[:3], []oldproto.FrontendMessage{parse("", "SELECT 1/0"), bind("", ""), execute("", 0), &oldproto.Sync{}}, look),
			`1 2 D(a) C(SELECT 1) 1 E22012 ZI 1 2 D("$user", public) C(SELECT 1) ZI`,
		},
		"refused": {
			slices.Concat([]oldproto.FrontendMessage{parse("", fakeBoundText), value("", "", "forbidden"), execute("", 0), &oldproto.Sync{}}, look),
			`1 E42501 ZI 1 2 D("$user", public) C(SELECT 1) ZI`,
		},
		"no text": {
			slices.Concat([]oldproto.FrontendMessage{parse("", fakeBoundText), value("", "", "\xff"), execute("", 0), &oldproto.Sync{}}, look),
			`1 E22021 ZI 1 2 D("$user", public) C(SELECT 1) ZI`,
		},
		"too long": {
			slices.Concat([]oldproto.FrontendMessage{parse("", fakeBoundText), value("", "", strings.Repeat("a", 20<<10)), execute("", 0), &oldproto.Sync{}}, look),
			`1 E54000 ZI 1 2 D("$user", public) C(SELECT 1) ZI`,
		},
		"no value": {
			slices.Concat([]oldproto.FrontendMessage{parse("", fakeBoundText), bind("", ""), execute("", 0), &oldproto.Sync{}}, look),
			`1 E08P01 ZI 1 2 D("$user", public) C(SELECT 1) ZI`,
		},
		"two portals": {
			slices.Concat([]oldproto.FrontendMessage{
				parse("s", fakeBoundText), value("b", "s", "b"), value("c", "s", "c"), execute("c", 0), execute("b", 0), execute("c", 0),
			}, look),
			`1 2 2 D(c) C(SELECT 1) D(b) C(SELECT 1) C(SELECT 0) 1 2 D(b) C(SELECT 1) ZI`,
		},
		"by a name, behind other segments": {
			slices.Concat([]oldproto.FrontendMessage{parse("s", fakeBoundText), &oldproto.Sync{}, value("", "s", "d"), execute("", 0), &oldproto.Sync{}}, look,
				[]oldproto.FrontendMessage{value("", "s", "e"), execute("", 0), &oldproto.Sync{}}, look),
			`1 ZI 2 D(d) C(SELECT 1) ZI 1 2 D(d) C(SELECT 1) ZI 2 D(e) C(SELECT 1) ZI 1 2 D(e) C(SELECT 1) ZI`,
		},
		"before a statement that was parsed without it": {
			slices.Concat([]oldproto.FrontendMessage{parse("n", "SELECT '@'"), &oldproto.Sync{}}, set, []oldproto.FrontendMessage{bind("", "n"), execute("", 0), &oldproto.Sync{}}),
			`1 ZI 1 2 D(a) C(SELECT 1) ZI 2 D(a) C(SELECT 1) ZI`,
		},
		"too many": {
			slices.Concat(set[:1], slices.Repeat([]oldproto.FrontendMessage{value("", "", strings.Repeat("a", 15<<10))}, 70), look[3:], look),
			`1 ` + strings.Repeat("2 ", maxPreparedBytes/(15<<10+heldOverhead)) + `E54000 ZI 1 2 D("$user", public) C(SELECT 1) ZI`,
		},
		"of another statement by now": {
			slices.Concat([]oldproto.FrontendMessage{parse("", fakeBoundText), parse("", "SELECT $1::text"), value("", "", "f"), execute("", 0), &oldproto.Sync{}}, look),
			`1 1 2 D(f) C(SELECT 1) ZI 1 2 D("$user", public) C(SELECT 1) ZI`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := p.loginWire(t)
			w.send(c.send...)
			if got := w.script(strings.Count(c.want, "Z")); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestSoleValue reads the value in all ways in which a Bind can end.
func TestSoleValue(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]string{
		"\x00\x00\x00\x01\x00\x00\x00\x02ab\x00\x00": "ab", "\x00\x01\x00\x01\x00\x01\x00\x00\x00\x00": "", "\x00\x00\x00\x01\xff\xff\xff\xff": "NULL",
		"": "none", "\x00": "none", "\x00\x00": "none", "\x00\x00\x00\x01\x00\x00\x00": "none", "\x00\x00\x00\x01\x00\x00\x00\x02a": "none",
		"\x00\x00\x00\x00\x00\x00\x00\x00": "none", "\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00": "none", "\xff\xff\x00\x01\x00\x00\x00\x00": "none",
		"\x00\x00\x00\x01\xff\xff\xff\xfe": "none", "\x00\x00\x00\x01\x7f\xff\xff\xff": "none",
	} {
		value, complete := soleValue([]byte(values))
		got := "none"
		if complete {
			if got = "NULL"; value != nil {
				got = *value
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", values, got, want)
		}
	}
}

// TestOpenTypes declares the parameter: as another type than text, its value may be another one by
// the time it counts.
func TestOpenTypes(t *testing.T) {
	t.Parallel()
	p := startProxy(t, nil)
	look := []oldproto.FrontendMessage{parse("", "SELECT '@'"), bind("", ""), execute("", 0), &oldproto.Sync{}}
	refused, served := `E0A000 ZI 1 2 D("$user", public) C(SELECT 1) ZI`, `1 2 D(a) C(SELECT 1) ZI 1 2 D(a) C(SELECT 1) ZI`
	for want, all := range map[string][][]uint32{refused: {{25, 25}, {0, 25}, {19}, {18}, {1042}, {23}}, served: {{}, {0}, {25}, {705}, {1043}}} {
		for _, types := range all {
			w := p.loginWire(t)
			w.send(slices.Concat([]oldproto.FrontendMessage{&oldproto.Parse{Query: fakeBoundText, ParameterOIDs: types}, value("", "", "a"), execute("", 0), &oldproto.Sync{}}, look)...)
			if got := w.script(2); got != want {
				t.Errorf("%v: got %s, want %s", types, got, want)
			}
		}
	}
}
