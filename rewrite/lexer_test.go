package rewrite

import (
	"strings"
	"testing"
)

// TestLexemes has the lexer end parts where they end, and give up where it must.
func TestLexemes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ sql, want string }{
		{"", ""},
		{"  \t\n ", ""},
		{"a b", "w:a w:b"},
		{"a1_ä$", "w:a1_ä ?"},
		{`"a b"c`, `q:"a b" w:c`},
		{`"a""b"`, `q:"a" q:"b"`},
		{`"a`, "?"},
		{"1 2.5 1.5.3", "n:1 n:2.5 n:1.5.3"},
		{"1'a'", "?"},
		{"1a 'b'", "n:1a s:'b'"},
		{"'a' 'b''c' ''", "s:'a' s:'b''c' s:''"},
		{"'a", "?"},
		{"'a''", "?"},
		{"&'a'", "y:& ?"},
		{"& 'a'", "y:& s:'a'"},
		{"E'a' e'b' E''", "s:E'a' s:e'b' s:E''"},
		{`E'a\'b' c`, `s:E'a\'b' w:c`},
		{`E'a\\' c`, `s:E'a\\' w:c`},
		{`E'a''b' c`, `s:E'a''b' w:c`},
		{`E'a`, "?"},
		{`E'a\`, "?"},
		{`E'a\'`, "?"},
		{`E'a''`, "?"},
		{"E 'a'", "w:E s:'a'"},
		{"ee'a'", "?"},
		{"b'1'", "?"},
		{"n'a'", "?"},
		{"$1 $22,$3", "p:$1 p:$22 y:, p:$3"},
		{"$", "?"},
		{"$a", "?"},
		{"$1a", "?"},
		{"a$1", "w:a ?"},
		{"$$a$$", "?"},
		{"-- a\nb", "w:b"},
		{"-- a\rb", "w:b"},
		{"a -- b", "w:a"},
		{"a--", "w:a"},
		{"a - b", "w:a y:- w:b"},
		{"a / b", "w:a y:/ w:b"},
		{"-", "y:-"},
		{"/", "y:/"},
		{"/* a */b", "w:b"},
		{"/**/b/***/c", "w:b w:c"},
		{"/* a", "?"},
		{"/*/", "?"},
		{"/* /* */ */", "?"},
		{"/* a */ - /* b */ -- c", "y:-"},
		{"a<>b", "w:a y:< y:> w:b"},
		{"a\x00", "w:a ?"},
		{"{", "?"},
		{`\`, "?"},
	} {
		var got []string
		for l := (lexer{sql: test.sql}); ; {
			of := l.next()
			if of == lexEnd {
				if l.start != len(test.sql) || l.end != len(test.sql) {
					t.Errorf("%q ends at %d, %d", test.sql, l.start, l.end)
				}
				break
			}
			if of == lexUnknown {
				got = append(got, "?")
				break
			}
			kind := map[lexeme]string{lexWord: "w", lexQuoted: "q", lexNumber: "n", lexString: "s", lexParam: "p", lexSymbol: "y"}[of]
			got = append(got, kind+":"+test.sql[l.start:l.end])
		}
		if said := strings.Join(got, " "); said != test.want {
			t.Errorf("%q has the parts %s, want %s", test.sql, said, test.want)
		}
	}
}
