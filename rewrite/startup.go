package rewrite

import (
	"maps"
	"slices"

	"github.com/kproxy/kproxy/internal/charset"
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
		case !isFixed, fixed.accepts != nil, name == "client_min_messages":
			passed[name] = value
		}
	}
	return passed, nil
}

// leftToServer says of an encoding that a client asks for at startup that it is UTF-8, or left
// to the server; kproxy takes UTF-8 then.
func leftToServer(encoding string) bool {
	if c, known := charset.Find(encoding); known {
		return c.Name == charset.UTF8
	}
	return slices.Contains([]string{"", "auto"}, charset.Normalize(encoding))
}
