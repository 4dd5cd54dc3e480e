package proxy

import (
	"strings"
)

// harmlessParameters can be set by a client at startup: they change how values
// look or how long statements may run, and never what is readable.
var harmlessParameters = map[string]bool{
	"application_name":    true,
	"client_encoding":     true,
	"client_min_messages": true,
	"datestyle":           true,
	"extra_float_digits":  true,
	"intervalstyle":       true,
	"statement_timeout":   true,
	"timezone":            true,
	pathParameter:         true, // decided on by the Gate
}

// pathParameter changes what names mean: it is the Gate's, and not sent upstream.
const pathParameter = "search_path"

const parameterHint = "Startup parameters accepted are application_name, client_encoding, client_min_messages, " +
	"DateStyle, extra_float_digits, IntervalStyle, search_path, statement_timeout and TimeZone."

// harmless returns the settings by lower-case name, the last one of a name
// winning, or refuses those that are not harmless.
func harmless(settings []setting) (map[string]string, error) {
	parameters := make(map[string]string, len(settings))
	for _, set := range settings {
		name := strings.ToLower(set.name)
		if !harmlessParameters[name] {
			return nil, newFatal(stateInsufficientPrivilege, "permission denied to set parameter \""+cleanText(set.name)+"\"").
				withHint(parameterHint)
		}
		switch name {
		case "client_encoding":
			if !isUTF8(set.value) {
				return nil, newFatal(stateInvalidParameterValue, "client_encoding must be UTF8").
					withHint("Set client_encoding, or PGCLIENTENCODING, to UTF8.")
			}
			continue // it is pinned
		case "client_min_messages":
			// Lower levels show the server's log: statements and plans.
			switch strings.ToLower(set.value) {
			case "notice", "warning", "error":
			default:
				return nil, newFatal(stateInsufficientPrivilege, "client_min_messages must be notice, warning or error")
			}
		}
		parameters[name] = set.value
	}
	return parameters, nil
}

// isUTF8 reports whether a client encoding is UTF-8 or leaves the choice to
// the server. Like the server, it looks only at letters and digits.
func isUTF8(encoding string) bool {
	var name strings.Builder
	for _, c := range strings.ToLower(encoding) {
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' {
			name.WriteRune(c)
		}
	}
	switch name.String() {
	case "", "utf8", "unicode", "auto", "sqlascii":
		return true
	default:
		return false
	}
}

// checkReplication accepts only what the server reads as false.
func checkReplication(value string) error {
	switch strings.ToLower(value) {
	case "false", "off", "no", "0":
		return nil
	default:
		return newFatal(stateFeatureNotSupported, "replication connections are not supported")
	}
}

// parseOptions reads command-line options, of which only those that set
// parameters are known: "-c name=value", "-cname=value" and "--name=value".
func parseOptions(options string) ([]setting, error) {
	refused := newFatal(stateInsufficientPrivilege, "command-line options other than -c name=value are not supported").
		withHint(parameterHint)
	var settings []setting
	words := splitOptions(options)
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		var assignment string
		switch {
		case word == "-c" && len(words) > 0:
			assignment, words = words[0], words[1:]
		case strings.HasPrefix(word, "-c"):
			assignment = word[len("-c"):]
		case strings.HasPrefix(word, "--"):
			assignment = word[len("--"):]
		default:
			return nil, refused
		}
		name, value, ok := strings.Cut(assignment, "=")
		if !ok {
			return nil, refused
		}
		// The server reads a hyphen in a name as an underscore.
		settings = append(settings, setting{strings.ReplaceAll(name, "-", "_"), value})
	}
	return settings, nil
}

// splitOptions splits at white space that no backslash precedes (pg_split_opts).
func splitOptions(options string) []string {
	var words []string
	var word strings.Builder
	inWord, escaped := false, false
	for _, c := range []byte(options) {
		switch {
		case escaped:
			word.WriteByte(c)
			escaped = false
		case c == '\\':
			inWord, escaped = true, true
		case strings.IndexByte(" \t\n\v\f\r", c) >= 0:
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			inWord = true
			word.WriteByte(c)
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words
}
