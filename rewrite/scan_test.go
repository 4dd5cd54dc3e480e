package rewrite

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// scraps are what a lexer can get wrong at its borders.
var scraps = []string{
	"'", "'", "'", "''", `\`, `\'`, "E'", "e'", "\n", "\r", " ", "--", "/*", "*/", "*", "/", `"`, "$", "$1", "$a$", "1", "1e", ".", "x",
	"b'", "U&'", "U&", "&", "a", "é", "+", "-", "@", "(", ")", ",", "1.5", "..", "\f", "\v", "_", "n'", ";", "\t", "0x", "'a'", "'\n'",
}

// TestQuickScanMissesNothing holds kproxy's own lexer against PostgreSQL's: where both
// read a text, no token may be hidden inside of one of the quick one's, since what is
// hidden from the guards reaches the parser unbounded. (Of numbers PostgreSQL may make
// two tokens.)
func TestQuickScanMissesNothing(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	both := 0
	for range 3_000_000 {
		var b strings.Builder
		for range 2 + r.IntN(12) {
			b.WriteString(scraps[r.IntN(len(scraps))])
		}
		sql := b.String()
		quick, ok := quickScan(sql)
		if !ok {
			continue
		}
		tokens, err := scan(sql)
		if err != nil {
			continue
		}
		both++
		for _, of := range tokens {
			if !slices.ContainsFunc(quick, func(q token) bool {
				return q.start == of.start || q.start < of.start && of.start < q.end && strings.IndexByte("0123456789", sql[q.start]) >= 0
			}) {
				t.Fatalf("%q: PostgreSQL's token at %d is none of the quick ones", sql, of.start)
			}
		}
	}
	if both < 100_000 {
		t.Errorf("both lexers read only %d texts", both)
	}
}

// TestStringsThatGoOn is a text that hid 300 operators: the second part of an escape
// string has escapes, too.
func TestStringsThatGoOn(t *testing.T) {
	t.Parallel()
	for _, between := range []string{"\n", " \n ", "\r", "\n\t\n"} {
		sql := `SELECT E'a'` + between + `'\'' || ` + strings.Repeat("1+", 300) + "1 --'"
		_, err := clinicRewriter().text(sql)
		var refusal *Refusal
		if !errors.As(err, &refusal) || refusal.SQLState() != stateTooComplex {
			t.Errorf("%q: %v", between, err)
		}
	}
}
