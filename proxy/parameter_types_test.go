package proxy

import (
	"strings"
	"testing"

	oldproto "github.com/jackc/pgproto3/v2"
)

func TestParameterTypes(t *testing.T) {
	t.Parallel()
	told := parameterTypes{16386: {}}
	for _, test := range []struct{ types, sent, refused string }{
		{"\x00\x00", "\x00\x00", ""},
		{"\x00\x02\x00\x00\x08\xe6\x00\x00\x00\x19", "\x00\x02\x00\x00\x08\xe6\x00\x00\x00\x19", ""}, // void, text: JDBC's {? = call lower(?)}
		{"\x00\x02\x00\x00\x00\x19\x00\x00\x08\x9d", "", "2205"},
		{"\x00\x02\x00\x00\x40\x01\x00\x00\x40\x02", "\x00\x02\x00\x00\x00\x00\x00\x00\x40\x02", ""}, // of the database's own the one that is known
		{"\x00\x02\x00\x00\x40\x01\x00\x00\x3f\xff", "", "16383"},
	} {
		m := parseMessage{types: []byte(test.types)}
		r := told.refuse(m)
		if (r != nil) != (test.refused != "") || r != nil && !strings.Contains(r.message, "type "+test.refused+",") || r == nil && string(m.types) != test.sent {
			t.Errorf("%q: %q, %v", test.types, m.types, r)
		}
	}
}

// TestTypesThatTheServerTold are sent as they are declared, unless they are PostgreSQL's own.
func TestTypesThatTheServerTold(t *testing.T) {
	t.Parallel()
	converse(t, nil, func(s *scriptedServer) {
		declares := func(oid uint32) *oldproto.Parse {
			return &oldproto.Parse{Query: "SELECT $1", ParameterOIDs: []uint32{oid}}
		}
		const enum, regclass = 20_000, 2205
		s.sends(declares(enum), syncMessage)
		s.expect("P(SELECT $1) S")
		s.answers(parsed, ready)
		s.sends(parse("", "SELECT $1"), &oldproto.Describe{ObjectType: 'S'}, syncMessage)
		s.answers(parsed, &oldproto.ParameterDescription{ParameterOIDs: []uint32{25, enum, regclass}}, &oldproto.NoData{}, ready)
		s.hears()
		s.sends(declares(enum), syncMessage)
		s.expect("P(SELECT $1) S")
		s.answers(parsed, ready)
		s.sends(declares(regclass), syncMessage)
		if got := s.hears(); !strings.HasPrefix(got, "P(SELECT kproxy_refused_") {
			t.Fatal(got)
		}
	})
}
