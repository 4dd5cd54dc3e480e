package rewrite

import (
	"strings"
	"testing"
)

// TestEscapes reads the escapes of libpg_query's JSON.
func TestEscapes(t *testing.T) {
	t.Parallel()
	for json, want := range map[string]string{
		`\"`: `"`, `\\`: `\`, `\b`: "\b", `\f`: "\f", `\n`: "\n", `\r`: "\r", `\t`: "\t", `\u0000`: "\x00", `\u001f`: "\x1f", `\u007f`: "\x7f",
		`\u007fab`: "\x7f", `\nab`: "\n", `\u0080`: "", `\u00e4`: "", `\u0100`: "", `\u007`: "", `\u`: "", `\x`: "", `\`: "", "": "", "a": "", "ab": "",
		`\uxxxx`: "", `a\n`: "", `\/`: "",
	} {
		b, n := unescaped(json)
		got := ""
		if n > 0 {
			got = string(rune(b))
		}
		length := 2
		if strings.HasPrefix(json, `\u`) {
			length = 6
		}
		if got != want || n > 0 && n != length {
			t.Errorf("%s is %q, of %d bytes, want %q", json, got, n, want)
		}
	}
}
