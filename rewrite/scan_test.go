package rewrite

import (
	"errors"
	"math/rand/v2"
	"regexp"
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

// TestQuickScanLeavesWhatVersionsReadDifferently to PostgreSQL's lexer.
func TestQuickScanLeavesWhatVersionsReadDifferently(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]bool{"SELECT 1 2": true, "SELECT 1..2": false, "SELECT 1\v2": false} {
		if _, read := quickScan(sql); read != want {
			t.Errorf("%q is read quickly: %t", sql, read)
		}
	}
}

// given are the texts that the quick lexer leaves to PostgreSQL's: those with dollar quotes,
// comments inside comments, prefixes other than E, numbers that end in a letter, and
// commands of psql.
var given = regexp.MustCompile(`(?s)\$[^0-9]|\$$|[0-9a-zA-Z_]\$|/\*.*/\*|[^ (,=\[|+]'|[0-9][A-Za-z_]|\x00|\s\\[a-z;]`)

// TestQuickLexerReadsWhatClientsSend has the quick lexer find the tokens of PostgreSQL's, each
// from its beginning to its end, in all texts but those that it gives up on for a reason.
func TestQuickLexerReadsWhatClientsSend(t *testing.T) {
	t.Parallel()
	read, left := 0, 0
	for _, sql := range append(corpus(t), `SELECT "a""b", """", "a""" FROM t--`, "SELECT E'it\\'s', E'a''b', e'\\\\' /* c */ -- d", "SELECT $1,$22/2-$3", "SELECT 'a''b','c'", "--\n/**/1") {
		tokens, err := scan(sql)
		if err != nil {
			continue
		}
		var quick []lexer
		l := lexer{sql: sql}
		of := l.next()
		for ; of != lexEnd && of != lexUnknown; of = l.next() {
			last := len(quick) - 1
			if of == lexQuoted && last >= 0 && quick[last].end == l.start && sql[l.start-1] == '"' {
				quick[last].end = l.end // of one name, with a quotation mark in it
			} else if of != lexSymbol {
				quick = append(quick, l)
			}
		}
		if of == lexUnknown {
			if left++; !given.MatchString(sql) {
				t.Errorf("the lexer gives up at %q of %s", sql[max(0, l.start):], sql)
			}
			continue
		}
		read++
		ends := make(map[int32]int32, len(tokens))
		for _, token := range tokens {
			ends[token.start] = token.end
		}
		for _, q := range quick {
			number := sql[q.start] >= '0' && sql[q.start] <= '9'
			unicode := q.start > 0 && sql[q.start-1] == '&' || q.start+2 < len(sql) && sql[q.start+1:q.start+3] == `&"`
			if !number && !unicode && !strings.Contains(sql, "'\n") && ends[int32(q.start)] != int32(q.end) {
				t.Errorf("%q of %s is no token of PostgreSQL's", sql[q.start:q.end], sql)
			}
		}
	}
	if read < 9*left {
		t.Errorf("%d texts are read, and %d left", read, left)
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
