package config

import (
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/scram"
)

// formOf is the form that the tag as names.
func formOf(as string, tag reflect.StructTag) codec {
	switch least, most := rangeOf(tag); as {
	case "share":
		return number{bounds: boundsOf(least, most), share: true}
	case "method":
		return words(methods.Names()...)
	case "off", "all":
		return choice{names: []string{as}, values: []any{true}, instead: tag.Get("alone")}
	case "size":
		return text{kind: ShapeSize, parse: sizeUpTo(most)}
	case "name":
		return text{kind: ShapeName}
	case "literal":
		return text{kind: ShapeLiteral}
	}
	form, known := map[string]text{ // patterns has what schemas say of them
		"path":           {kind: ShapeText, parse: parsePath},
		"root":           {kind: ShapeText, parse: parsePathOr("system")},
		"output":         {kind: ShapeText, parse: parsePathOr(AuditToStderr)},
		"listener":       {kind: ShapeText, parse: parseListener},
		"address":        {kind: ShapeText, parse: parseAddress},
		"host":           {kind: ShapeText, parse: parseHost},
		"host name":      {kind: ShapeText, parse: parseHostName},
		"server":         {kind: ShapeText, parse: parseServer},
		"network":        {kind: ShapeText, parse: parseNetwork},
		"file mode":      {kind: ShapeText, parse: parseFileMode},
		"slot":           {kind: ShapeName, parse: parseSlot},
		"variable":       {kind: ShapeText, parse: parseVariable},
		"authentication": {kind: ShapeText, parse: parseAuthentication},
		"query":          {kind: ShapeLiteral, parse: parseQuery},
		"verifier":       {kind: ShapeText, parse: parseVerifier},
		"delimiter":      {kind: ShapeLiteral, parse: parseDelimiter},
		"column":         {kind: ShapeName, parse: parseColumn},
		"table":          {kind: ShapeLiteral, parse: parseTable},
		"function":       {kind: ShapeLiteral, parse: parseFunction},
		"audience":       {kind: ShapeText, parse: parseAudience},
		"period":         {kind: ShapeText, parse: parsePeriod},
	}[as]
	if !known {
		panic("there is no form " + as)
	}
	form.pattern = patterns[as]
	return form
}

// parsePath reads a file's path; a relative one starts at the configuration's folder.
func parsePath(d *decoder, _, text string) (value any, wrong, fix string) {
	return d.beside(filepath.FromSlash(text)), "", ""
}

// parsePathOr reads a path, or a word that is none.
func parsePathOr(word string) func(*decoder, string, string) (any, string, string) {
	return func(d *decoder, what, text string) (any, string, string) {
		if text == word {
			return text, "", ""
		}
		return parsePath(d, what, text)
	}
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9])?\.?$`)

func isHost(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil || hostName.MatchString(text)
}

// isAddress says whether a text is host:port, the host perhaps empty.
func isAddress(text string) bool {
	host, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	return err == nil && (host == "" || isHost(host))
}

// longestSocketFolder leaves room for the socket's name, .s.PGSQL.PORT, in the shortest
// sun_path of the systems that there are (unix(7)).
const longestSocketFolder = 88

const listenExample = "host:port, for example 127.0.0.1:6432, [::1]:6432 or :6432 for all interfaces, or the path of a folder for a Unix socket"

func parseListener(_ *decoder, what, text string) (value any, wrong, fix string) {
	switch {
	case path.IsAbs(text) && len(text) > longestSocketFolder:
		return nil, what + " names a folder too long for a Unix socket", fmt.Sprintf("write a path of at most %d bytes", longestSocketFolder)
	case !path.IsAbs(text) && !isAddress(text):
		return nil, what + " is not an address", "write " + listenExample
	}
	return text, "", ""
}

func parseAddress(_ *decoder, what, text string) (value any, wrong, fix string) {
	if !isAddress(text) {
		return nil, what + " is not an address", "write host:port, for example localhost:8080"
	}
	return text, "", ""
}

func parseHost(_ *decoder, what, text string) (value any, wrong, fix string) {
	if !isHost(text) && !path.IsAbs(text) {
		return nil, what + " is not a host", "write a name, an IP address or a socket's folder alone; port, user and database have keys of their own"
	}
	return text, "", ""
}

func parseHostName(_ *decoder, what, text string) (value any, wrong, fix string) {
	if strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz0123456789-._") != "" {
		return nil, what + " has " + quote(text) + ", which is no name of a host", "write it without scheme, port and path: kproxy.example"
	}
	return text, "", ""
}

// parseServer reads a host, which may have a port; without one the port is 0.
func parseServer(_ *decoder, what, text string) (value any, wrong, fix string) {
	server := Server{Host: text}
	ok := path.IsAbs(text) || isHost(text)
	if host, digits, err := net.SplitHostPort(text); err == nil && !ok {
		port, err := strconv.ParseUint(digits, 10, 16)
		server, ok = Server{host, int(port)}, err == nil && port > 0 && isHost(host)
	}
	if !ok {
		return nil, what + " names what is not a host", "write a name or an IP address, with :port where it is another one ([::1]:5433), or a socket's folder"
	}
	return server, "", ""
}

// parseNetwork reads an address, or a network by its address and the length of its prefix.
func parseNetwork(_ *decoder, what, text string) (value any, wrong, fix string) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		var address netip.Addr
		if address, err = netip.ParseAddr(text); err == nil {
			prefix = netip.PrefixFrom(address, address.BitLen())
		}
	}
	what += " " + quote(text)
	switch {
	case err != nil || prefix.Addr().Zone() != "":
		return nil, what + " is not an address or a network", "write for example 192.168.1.7, 10.0.0.0/8 or \"fd00::/8\"; names of hosts are not looked up"
	case prefix.Addr().Is4In6():
		return nil, what + " is an IPv4 address within IPv6", "write it as an IPv4 address"
	case prefix != prefix.Masked():
		return nil, what + " has bits beyond its prefix", fmt.Sprintf("write %s for the network, or %s for the one address", prefix.Masked(), prefix.Addr())
	}
	return prefix, "", ""
}

var octalMode = regexp.MustCompile(`^0?[0-7]{3}$`)

func parseFileMode(_ *decoder, what, text string) (value any, wrong, fix string) {
	mode, err := strconv.ParseUint(text, 8, 32)
	if err != nil || !octalMode.MatchString(text) || mode == 0 {
		return nil, what + " is not a file mode", "write octal digits, for example 0770 for user and group, or 0777 for all"
	}
	return fs.FileMode(mode), "", ""
}

var slotName = regexp.MustCompile(`^[a-z0-9_]+$`)

func parseSlot(_ *decoder, what, text string) (value any, wrong, fix string) {
	if !slotName.MatchString(text) {
		return nil, what + " is not a name for a replication slot", "use lower-case letters, digits and _ only"
	}
	return text, "", ""
}

// variableName is narrower than what systems allow, so that a password written
// in the name's place is not taken for one and repeated in a message.
var variableName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

func parseVariable(_ *decoder, what, text string) (value any, wrong, fix string) {
	if !variableName.MatchString(text) {
		return nil, what + " is not the name of an environment variable", "write its name in capital letters, digits and _, not the password"
	}
	return text, "", ""
}

var authMethods = regexp.MustCompile(`^!?[a-z0-9-]+(,!?[a-z0-9-]+)*$`)

// parseAuthentication reads libpq's list of the ways in which a server may ask who connects.
func parseAuthentication(_ *decoder, what, text string) (value any, wrong, fix string) {
	if !authMethods.MatchString(text) {
		return nil, what + " is not a list of authentication methods", "write for example scram-sha-256"
	}
	return text, "", ""
}

var parameterNumber = regexp.MustCompile(`\$[0-9]+`)

// parseQuery reads a query with the one parameter $1.
func parseQuery(_ *decoder, what, text string) (value any, wrong, fix string) {
	found := parameterNumber.FindAllString(text, -1)
	if i := slices.IndexFunc(found, func(p string) bool { return p != "$1" }); i >= 0 {
		return nil, what + " has a parameter " + quote(found[i]), "write $1, which is the user's name; there are no others"
	}
	if len(found) == 0 || strings.ContainsRune(text, 0) {
		return nil, what + " does not ask for a user", "write $1 where the user's name belongs: SELECT verifier FROM kproxy_auth.verifier_of($1)"
	}
	return text, "", ""
}

// parseVerifier reads a SCRAM verifier. What is wrong with it is said without any
// part of it: a password may stand there by mistake.
func parseVerifier(_ *decoder, _, text string) (value any, wrong, fix string) {
	v, err := scram.Parse(text)
	if err == nil && v.Iterations < scram.MinIterations {
		err = fmt.Errorf("the verifier has fewer than %d iterations", scram.MinIterations)
	}
	if err != nil {
		return nil, err.Error(), "make one with `kproxy password` and paste it whole"
	}
	return NewSecret(text), "", ""
}

func parseDelimiter(_ *decoder, what, text string) (value any, wrong, fix string) {
	if text == "tab" {
		text = "\t"
	}
	c, size := utf8.DecodeRuneInString(text)
	if size != len(text) || c == utf8.RuneError || strings.ContainsRune("\"\r\n\x00", c) {
		return nil, what + " is not a single character that can separate fields", `write ",", ";", "|" or tab`
	}
	return c, "", ""
}

// systemColumns are PostgreSQL's own (chapter System Columns).
var systemColumns = []string{"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"}

func parseColumn(_ *decoder, _, text string) (value any, wrong, fix string) {
	if slices.Contains(systemColumns, text) {
		return nil, "column " + text + " is PostgreSQL's own", "remove it; system columns are never published"
	}
	return text, "", ""
}

// parseTable reads the name of a table or a view.
func parseTable(_ *decoder, _, text string) (value any, wrong, fix string) {
	const form = `write schema.table in the case PostgreSQL stores, and "quotes" only around a part that has a dot or a quote`
	name := catalog.ParseName(text)
	parts, ok := catalog.NameParts(text)
	switch {
	case !ok || strings.ContainsFunc(text, unicode.IsControl):
		return nil, quote(text) + " is not the name of a table", form
	case len(parts) > 2:
		return nil, fmt.Sprintf("table %s has more than two parts", quote(text)), form + "; a database is named in upstream"
	case len(name.Schema) > longestNameBytes || len(name.Relation) > longestNameBytes:
		return nil, fmt.Sprintf("table %s has a name of more than %d bytes", quote(text), longestNameBytes), form
	case catalog.IsOwn(name.Schema):
		return nil, fmt.Sprintf("table %s is kproxy's own", quote(text)), "name the table at its source"
	case name.Schema == "information_schema" || strings.HasPrefix(name.Schema, "pg_"):
		return nil, fmt.Sprintf("table %s belongs to PostgreSQL", quote(text)), "name a table of your own; what clients need of the system catalogs they can read"
	}
	return name, "", ""
}

// parseFunction reads the name of a function. Whether clients may call it is for a look into
// the database to say.
func parseFunction(d *decoder, what, text string) (value any, wrong, fix string) {
	name := catalog.ParseName(text)
	if name.Schema == "pg_catalog" || name.Schema == "information_schema" {
		return nil, "function " + quote(text) + " is PostgreSQL's own, and cannot be opened this way", "remove it; analysts may call those of PostgreSQL's functions that kproxy knows to be safe, without a list"
	}
	if _, wrong, _ := parseTable(d, what, text); wrong != "" || strings.ContainsAny(text, "()") {
		return nil, quote(text) + " is not the name of a function of an extension or a user", "write schema.function, without quotes and arguments, in the case PostgreSQL stores"
	}
	return name, "", ""
}
