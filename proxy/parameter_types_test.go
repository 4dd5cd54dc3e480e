package proxy

import (
	"strings"
	"testing"

	oldproto "github.com/jackc/pgproto3/v2"
)

func TestParameterTypes(t *testing.T) {
	t.Parallel()
	for types, refused := range map[string]string{
		"\x00\x00": "",
		"\x00\x02\x00\x00\x08\xe6\x00\x00\x00\x19": "", // void, text: JDBC's {? = call lower(?)}
		"\x00\x02\x00\x00\x00\x19\x00\x00\x08\x9d": "2205",
		"\x00\x01\x00\x00\x40\x01":                 "16385",
	} {
		var told parameterTypes
		r := told.refuse(parseMessage{types: []byte(types)})
		if (r != nil) != (refused != "") || r != nil && !strings.Contains(r.message, "type "+refused+",") {
			t.Errorf("%q: %v", types, r)
		}
	}
}

// TestTypesThatTheServerTold may be declared, unless they are PostgreSQL's own.
func TestTypesThatTheServerTold(t *testing.T) {
	t.Parallel()
	converse(t, nil, func(s *scriptedServer) {
		declares := func(oid uint32) *oldproto.Parse {
			return &oldproto.Parse{Query: "SELECT $1", ParameterOIDs: []uint32{oid}}
		}
		const enum, regclass = 20_000, 2205
		s.sends(declares(enum), syncMessage)
		if got := s.hears(); !strings.HasPrefix(got, "P(SELECT kproxy_refused_") {
			t.Fatal(got)
		}
		s.answers(oldFailed, ready)
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
