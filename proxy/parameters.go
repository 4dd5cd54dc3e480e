package proxy

import "strings"

// pathParameter changes what names mean; it is never sent upstream.
const pathParameter = "search_path"

// latest returns the settings by lower-case name, the last one of a name winning.
func latest(settings []setting) map[string]string {
	parameters := make(map[string]string, len(settings))
	for _, set := range settings {
		parameters[strings.ToLower(set.name)] = set.value
	}
	return parameters
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

// parseOptions reads command-line options. It knows only those that set parameters: "-c
// name=value", "-cname=value" and "--name=value".
func parseOptions(options string) ([]setting, error) {
	refused := newFatal(stateInsufficientPrivilege, "command-line options other than -c name=value are not supported").
		withHint("Set parameters: options='-c jit=off'.")
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
