package settings

import (
	"strings"
	"time"
	"unicode"
)

// Within returns a key within another one, which may be empty.
func Within(before, key string) string {
	if before == "" {
		return key
	}
	return before + "." + key
}

// Duration writes a duration as the configuration does.
func Duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Key returns the YAML key of a field: max_sessions for MaxSessions. Names of libpq are one word:
// sslrootcert for SSLRootCert.
func Key(name string) string {
	if strings.HasPrefix(name, "SSL") {
		return strings.ToLower(name)
	}
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
