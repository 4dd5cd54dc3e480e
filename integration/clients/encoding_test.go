package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/charset"
)

// words are in the encodings of psql's users: Western Europe on Unix and on Windows, Russia,
// Japan on Windows and on Unix, China and Korea, and those of the locale C, whose bytes are the database's.
var words = map[string]string{
	"LATIN1": "Größe", "WIN1252": "Größe", "KOI8R": "Отделение", "SJIS": "日本", "EUC_JP": "日本", "GBK": "日本", "UHC": "한글", charset.None: "日本",
}

// TestPsqlEncodings runs a script that is written in the encoding of psql's locale.
func TestPsqlEncodings(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/psql/encoding.sql")
	if err != nil {
		t.Fatal(err)
	}
	for name, word := range words {
		written := strings.ReplaceAll(string(text), "@", word)
		if encoding, known := charset.Find(name); known {
			written = encoding.Encode(written)
		}
		file := filepath.Join(t.TempDir(), name+".sql")
		if err := os.WriteFile(file, []byte(written), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			psql := psqlOf(t, "system")
			compare(t, "psql_encoding_"+strings.ToLower(name), func(t *testing.T, w way) []step {
				t.Helper()
				return script(t, w, psql, file, []string{"PGCLIENTENCODING=" + name})
			})
		})
	}
}
