package pool

import (
	"net"
	"strings"
	"testing"
)

func TestApplicationName(t *testing.T) {
	t.Parallel()
	client := &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 5555}
	long := &net.TCPAddr{IP: net.ParseIP("2001:db8:1111:2222:3333:4444:5555:6666"), Port: 65535}
	for _, c := range []struct {
		application string
		client      net.Addr
		want        string
	}{
		{"psql", client, "psql (10.1.2.3:5555)"},
		{"psql", nil, "psql"},
		{"", nil, ""},
		{"", client, "(10.1.2.3:5555)"},
		{"psql", &net.UnixAddr{Net: "unix"}, "psql ([local])"},
		{"a\x00b\nc\x7f\\d", client, "a?b?c??d (10.1.2.3:5555)"},
		{"übung\xff", client, "?bung? (10.1.2.3:5555)"},
		{"it's", client, "it's (10.1.2.3:5555)"},
		{strings.Repeat("x", 100), client, strings.Repeat("x", 47) + " (10.1.2.3:5555)"},
		{strings.Repeat("x", 100), nil, strings.Repeat("x", 63)},
		{strings.Repeat("x", 100), long, strings.Repeat("x", 14) + " ([2001:db8:1111:2222:3333:4444:5555:6666]:65535)"},
	} {
		if got := applicationName(c.application, c.client); got != c.want || len(got) > nameBytes {
			t.Errorf("%q from %v is %q, want %q", c.application, c.client, got, c.want)
		}
	}
	if got := setName("it's"); got != "SET application_name = 'it''s'" {
		t.Error(got)
	}
}
