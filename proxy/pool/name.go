package pool

import (
	"net"
	"strings"
)

const (
	// neutralName is the application_name of a connection that no session has. A
	// session that resets the setting gets it too, never the name of another.
	neutralName = "kproxy"

	// nameBytes is what the server keeps of application_name: NAMEDATALEN - 1.
	nameBytes = 63
)

// applicationName is what pg_stat_activity shows of a session: what its client calls
// itself, and its address, as in "psql (10.1.2.3:5555)". The session itself sees no
// other name in SHOW application_name and at login. As with the server, characters other
// than printable ASCII are question marks; the client's part is cut so that the address
// is whole.
func applicationName(application string, client net.Addr) string {
	var where string
	switch {
	case client == nil:
	case client.Network() == "unix":
		where = "([local])"
	default:
		where = "(" + printable(client.String()) + ")"
	}
	name := printable(application)
	if name == "" || where == "" {
		return cut(name+where, nameBytes)
	}
	return cut(cut(name, max(nameBytes-len(where)-1, 0))+" "+where, nameBytes)
}

// printable returns text in printable ASCII. Backslashes go as well, so that the text
// means the same in a literal whatever standard_conforming_strings is.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '\\' {
			return '?'
		}
		return r
	}, text)
}

// cut returns the first bytes of ASCII.
func cut(text string, n int) string { return text[:min(len(text), n)] }

// setName is the statement that gives a connection its name.
func setName(name string) string {
	return "SET application_name = '" + strings.ReplaceAll(name, "'", "''") + "'"
}
