package proxy

import (
	"strings"
	"testing"
)

func TestParameterTypes(t *testing.T) {
	t.Parallel()
	for types, refused := range map[string]string{
		"\x00\x00": "",
		"\x00\x02\x00\x00\x08\xe6\x00\x00\x00\x19": "", // void, text: JDBC's {? = call lower(?)}
		"\x00\x02\x00\x00\x00\x19\x00\x00\x08\x9d": "2205",
		"\x00\x01\x00\x00\x40\x01":                 "16385",
	} {
		r := parseMessage{types: []byte(types)}.checkTypes()
		if (r != nil) != (refused != "") || r != nil && !strings.Contains(r.message, "type "+refused+",") {
			t.Errorf("%q: %v", types, r)
		}
	}
}
