package rewrite

import (
	"maps"
	"slices"
	"strings"
)

// Startup decides on the parameters of a client's startup message, by lower-case name,
// and returns those to log in to the server with. It allows what SET allows. Left out
// are PathParameter, which NewSession reads, what has its value already, and what the
// operator has fixed: drivers ask for time limits in each connection, and would have
// none. The error is a *Refusal.
func (r *Rewriter) Startup(parameters map[string]string) (map[string]string, error) {
	passed := make(map[string]string, len(parameters))
	var refusal *Refusal
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		value := parameters[name]
		fixed, isFixed := fixedSettings[name]
		switch {
		case name == PathParameter, r.pinned[name], name == EncodingParameter && leftToServer(value):
		case name == EncodingParameter:
			if passed[name], refusal = encodingOf(value); refusal != nil {
				return nil, refusal
			}
		case transactionSettings[name], !isFixed && !allowedSettings[name]:
			return nil, refuseSetting("set", name)
		case isFixed && !fixed.allows(value):
			return nil, refuseValue(name, fixed.hint)
		case !isFixed, name == "client_min_messages":
			passed[name] = value
		}
	}
	return passed, nil
}

// leftToServer says of an encoding that a client asks for at startup that it is whatever the
// server has, which is UTF-8 here, or that itself.
func leftToServer(encoding string) bool {
	name := strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' {
			return c
		}
		return -1
	}, strings.ToLower(encoding))
	return slices.Contains([]string{"", "utf8", "unicode", "auto", "sqlascii"}, name)
}
