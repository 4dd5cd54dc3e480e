package charset

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// decodes is what PostgreSQL reads of bytes; NULL where it reads nothing.
const decodes = `CREATE FUNCTION pg_temp.decodes(text bytea, encoding text) RETURNS text LANGUAGE plpgsql AS
	$$BEGIN RETURN convert_from(text, encoding); EXCEPTION WHEN OTHERS THEN RETURN NULL; END$$`

func connect(t *testing.T) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), pgtest.Database(t, pgtest.Shared(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// characters are all single bytes, all pairs, and in encodings that have them the longer ones.
func characters(c *Charset) [][]byte {
	var found [][]byte
	for a := 1; a < 256; a++ {
		found = append(found, []byte{byte(a)})
	}
	if c.length == nil {
		return found
	}
	for a := 0x80; a < 256; a++ {
		for b := 1; b < 256; b++ {
			found = append(found, []byte{byte(a), byte(b)})
			if c.Name == "EUC_JP" && b >= 0x80 {
				found = append(found, []byte{0x8f, byte(a), byte(b)})
			}
			if c.Name == "GB18030" && b >= '0' && b <= '9' {
				found = append(found, []byte{byte(a), byte(b), byte(0x81 + (7*a+b)%126), byte('0' + b%10)})
			}
		}
	}
	return found
}

// TestDecodeAgreesWithPostgreSQL: what both read is the same, and an encoding of one byte a
// character is read to the last one.
func TestDecodeAgreesWithPostgreSQL(t *testing.T) {
	t.Parallel()
	conn := connect(t)
	if _, err := conn.Exec(t.Context(), decodes); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		compareDecoding(t, conn, all[name])
	}
}

func compareDecoding(t *testing.T, conn *pgx.Conn, c *Charset) {
	t.Helper()
	rows, err := conn.Query(t.Context(), "SELECT text, pg_temp.decodes(text, $2) FROM unnest($1::bytea[]) text", characters(c), c.Name)
	if err != nil {
		t.Fatal(err)
	}
	same, missing, more := 0, 0, 0
	var text []byte
	var theirs *string
	_, err = pgx.ForEachRow(rows, []any{&text, &theirs}, func() error {
		ours, err := c.Decode(string(text))
		switch {
		case err == nil && theirs != nil && ours == *theirs:
			same++
		case err == nil && theirs != nil:
			t.Errorf("%s: %x is read as %+q, by PostgreSQL as %+q", c.Name, text, ours, *theirs)
		case err == nil && c.length == nil:
			t.Errorf("%s: %x is read as %+q, by PostgreSQL not", c.Name, text, ours)
		case err == nil:
			more++
		case err != nil && theirs != nil:
			missing++
			if c.length == nil {
				t.Errorf("%s: %x is not read, by PostgreSQL as %+q", c.Name, text, *theirs)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d are the same, PostgreSQL reads %d more, kproxy %d", c.Name, same, missing, more)
	if c.length != nil && missing*10 > same || c.least != 0 && more*10 > same {
		t.Errorf("%s: %d are not read, %d by PostgreSQL, of %d", c.Name, missing, more, same+missing)
	}
}

// TestFind compares what a name leads to with what PostgreSQL says of it.
func TestFind(t *testing.T) {
	t.Parallel()
	conn := connect(t)
	asked := slices.Concat(slices.Collect(maps.Keys(all)), slices.Collect(maps.Keys(byName)),
		[]string{"ISO-8859-1", "iso 8859_15", "Shift-JIS", "windows-1252", "utf-8", "UTF 8", "latin_1"})
	for _, name := range asked {
		c, known := Find(name)
		var theirs string
		err := conn.QueryRow(t.Context(), "SELECT pg_encoding_to_char(pg_char_to_encoding($1))", name).Scan(&theirs)
		if err != nil || !known || c.Name != theirs {
			t.Errorf("%s: %v, PostgreSQL says %s, %v", name, c, theirs, err)
		}
	}
	for _, name := range []string{"", "SQL_ASCII", "MULE_INTERNAL", "EUC_TW", "JOHAB", "SHIFT_JIS_2004", "EUC_JIS_2004", "klingon"} {
		if c, known := Find(name); known {
			t.Errorf("%s is %s", name, c.Name)
		}
	}
}

// TestEncode: what is decoded is encoded to the same bytes again, or to question marks.
func TestEncode(t *testing.T) {
	t.Parallel()
	for name, c := range all {
		for _, bytes := range characters(c) {
			text, err := c.Decode(string(bytes))
			if err != nil {
				continue
			}
			back, err := c.Decode(c.Encode(text))
			if err != nil || back != text && c.Encode(text) != "?" {
				t.Errorf("%s: %x is %q, encoded %x, decoded again %q, %v", name, bytes, text, c.Encode(text), back, err)
			}
		}
	}
	latin, _ := Find("latin1")
	if encoded := latin.Encode("a–é"); encoded != "a?\xe9" {
		t.Errorf("%q", encoded)
	}
}

func TestInvalid(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		UTF8: "a\xff", "WIN1252": "\x81", "SJIS": "a\x81", "EUC_JP": "\x8f\xa1", "GB18030": "\x810\x81", "BIG5": "\x81'", "GBK": "\x80",
	} {
		c, _ := Find(name)
		_, err := c.Decode(text)
		invalid := (*InvalidError)(nil)
		if !errors.As(err, &invalid) || invalid.SQLState() != "22021" || invalid.Encoding != name {
			t.Errorf("%s: %v", name, err)
		}
		if valid := c.DecodeValid("b" + text); !strings.HasPrefix(valid, "b") || !strings.Contains(valid, "\ufffd") {
			t.Errorf("%s: of %q, %q is valid", name, text, valid)
		}
	}
}

// BenchmarkDecode decodes 1 MiB of text that is not ASCII, and encodes it again.
func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"LATIN1", "SJIS", "GB18030", "EUC_JP"} {
		c := all[name]
		text := strings.Repeat(c.Encode("é日本表"), 1<<20/len(c.Encode("é日本表")))
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := c.Decode(text); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/encode", func(b *testing.B) {
			decoded, err := c.Decode(text)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				c.Encode(decoded)
			}
		})
	}
}
