package rewrite

import (
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

// TestNumberClasses tells the numbers that a template may replace from those that PostgreSQL
// reads as something else: other bases, exponents, several numbers in a row.
func TestNumberClasses(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]class{
		"0": classInteger, "1": classInteger, "9": classInteger, "10": classInteger, "123456789": classInteger,
		"999999999": classInteger, "1234567890": 0, "01": 0, "00": 0, "0x1": 0, "0.5": classDecimal, "0.": 0, "1.": 0, "1.5": classDecimal,
		"12345678901.5": classDecimal, "1.5.3": 0, "1..5": 0, "1e5": 0, "1_000": 0, "1.5e3": 0, "5a": 0, "5/": 0, "5:": 0, "0:": 0,
	} {
		if got := numberClass(number); got != want {
			t.Errorf("%s has the class %q, want %q", number, got, want)
		}
	}
	for text, want := range map[string]class{
		"'a'": classString, "''": classString, "'it''s'": classString, `E'a'`: 0, `e'a'`: 0, `'a\b'`: 0, "'a\x00'": 0, `'\'`: 0,
	} {
		if got := stringClass(text); got != want {
			t.Errorf("%q has the class %q, want %q", text, got, want)
		}
	}
}

// TestLiterals finds the plain literals of texts, and gives up where two may be one.
func TestLiterals(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		"SELECT 1":                      "1",
		"SELECT 1, 'a', 2.5 FROM t":     "1 'a' 2.5",
		"1":                             "1",
		"SELECT 'a''b'":                 "'a''b'",
		"SELECT a.1":                    "none",
		"SELECT t.5, 6":                 "6",
		"SELECT 1e5, 6":                 "6",
		"SELECT 'a' 'b'":                "none",
		"SELECT 'a', 'b'":               "'a' 'b'",
		"SELECT 'a'\n'b', 1":            "none",
		"SELECT $1, 2":                  "2",
		"SELECT $$a$$, 2":               "none",
		"SELECT E'a', 2":                "2",
		"SELECT a":                      "none",
		"":                              "none",
		"SELECT 'open":                  "none",
		"SELECT 12 -- 'a'":              "12",
		"SELECT /* 3 */ 12":             "12",
		"SELECT \"1\", \"a 'b' c\", 12": "12",
	} {
		found, ok := literals(sql, []literal{{1, 2, classString}})
		var texts []string
		for _, l := range found {
			texts = append(texts, sql[l.start:l.end])
		}
		got := strings.Join(texts, " ")
		if !ok {
			got = "none"
		}
		if got != want {
			t.Errorf("%s has the literals %s, want %s", sql, got, want)
		}
	}
	many := "SELECT 0" + strings.Repeat(",1", maxLiterals-1)
	if found, ok := literals(many, nil); !ok || len(found) != maxLiterals {
		t.Errorf("%d literals, %v", len(found), ok)
	}
	if _, ok := literals(many+",1", nil); ok {
		t.Error("one literal too many")
	}
}

// TestSearchPathsAreRead reads what SET and the startup message may give, as
// SplitIdentifierString of PostgreSQL's varlena.c does.
func TestSearchPathsAreRead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxIdentifierBytes)
	for text, want := range map[string]string{
		"": "", " \t\n\r\f": "", "a": "a", " a ": "a", "a,b": "a|b", "a , b": "a|b", "A,B": "a|b", `"A"`: "A", `"A" , b`: "A|b",
		`"a""b"`: `a"b`, `"a,b"`: "a,b", `""`: "", `"$user", public`: "$user|public", "a\tb": "error", "a b": "error", "a,": "error",
		",a": "error", ",": "error", `"a`: "error", `"a"b`: "error", `"a""`: "error", "a,,b": "error", "ä": "ä", "ÄB": "Äb", `a"b`: `a"b`,
		long: long, long + "y": long, strings.Repeat("é", 32): strings.Repeat("é", 31), "x" + strings.Repeat("é", 31): "x" + strings.Repeat("é", 31),
		`"` + long + `yz", b`: long + "|b",
	} {
		got, err := splitPath(text)
		said := strings.Join(got, "|")
		if err != nil {
			said = "error"
		}
		if said != want {
			t.Errorf("the path %q is %q, want %q", text, said, want)
		}
	}
	if got, err := splitPath("  "); got != nil || err != nil {
		t.Errorf("an empty path is %q, %v", got, err)
	}
	full := strings.Repeat("a,", maxPathBytes/2-1) + "bc"
	if got, err := splitPath(full); err != nil || len(got) != maxPathBytes/2 {
		t.Errorf("a path of %d bytes is %d schemas, %v", len(full), len(got), err)
	}
	if _, err := splitPath(full + "d"); err == nil {
		t.Error("a path of one byte too many is read")
	}
}

// TestNamesAreQuoted quotes what PostgreSQL's quote_identifier does.
func TestNamesAreQuoted(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a": "a", "z": "z", "_": "_", "a0": "a0", "a9_z": "a9_z", "": `""`, "0": `"0"`, "9a": `"9a"`, "A": `"A"`, "aB": `"aB"`, "Z": `"Z"`,
		"a b": `"a b"`, `a"b`: `"a""b"`, "ä": `"ä"`, "a$": `"a$"`, "`": "\"`\"", "{": `"{"`, "a{": `"a{"`, "a/": `"a/"`, "a:": `"a:"`, "a`": "\"a`\"",
		"select": `"select"`, "table": `"table"`, "int": `"int"`, "left": `"left"`, "abort": "abort", "name": "name", "none": `"none"`,
	} {
		if got := quoteWhereNeeded(name); got != want {
			t.Errorf("%s is written %s, want %s", name, got, want)
		}
	}
	for name, want := range map[string]bool{"select": true, "abort": false, "a": false, "left": true, "none": true, "a b": true, "": true, "'": true} {
		if got := keyword(name); got != want {
			t.Errorf("%q is a keyword: %v, want %v", name, got, want)
		}
	}
	for text, want := range map[string]string{"ABZ": "abz", "@[`{az": "@[`{az", "ÄÉ": "ÄÉ", "": ""} {
		if got := lowerASCII(text); got != want {
			t.Errorf("%q is folded to %q, want %q", text, got, want)
		}
	}
}

// TestPathsLeadToSchemas has the schemas of a path each once, the user's in the place of
// $user, and none for what is empty.
func TestPathsLeadToSchemas(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ user, path, want string }{
		{"ann", `"$user", public`, "ann|public"},
		{"", `"$user", public`, "public"},
		{"public", `"$user", public`, "public"},
		{"ann", "a, b, a, c, b", "a|b|c"},
		{"ann", `"", a`, "a"},
		{"ann", "", ""},
		{"ann", "a b", ""}, // which cannot be set
	} {
		s := &Session{user: test.user, path: setting{now: value{text: test.path}}}
		if got := strings.Join(s.schemas(), "|"); got != test.want {
			t.Errorf("the path %s of %s leads to %s, want %s", test.path, test.user, got, test.want)
		}
	}
}

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

// TestOffsets counts characters from 1, as messages do.
func TestOffsets(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text    string
		n, want int
	}{
		{"abc", 1, 0}, {"abc", 2, 1}, {"abc", 3, 2}, {"abc", 4, 3}, {"abc", 9, 3}, {"äb", 1, 0}, {"äb", 2, 2}, {"äb", 3, 3}, {"", 1, 0},
	} {
		if got := byteOffset(test.text, test.n); int(got) != test.want {
			t.Errorf("character %d of %q is at %d, want %d", test.n, test.text, got, test.want)
		}
	}
}

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

// TestPatternsOfRelations reads names as regclass does.
func TestPatternsOfRelations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a": "|a", "A": "|a", `"A"`: "|A", "a.b": "a|b", " a . b ": "a|b", "db.a.b": "a|b", "x.a.b": "error", "db.x.a.b": "error", "": "error",
		".": "error", "a.": "error", ".a": "error", `""`: "error", `"a""b"`: `|a"b`, `"a`: "error", `a"b`: "error", `a"b"`: "error", "a b": "error",
		`"a"b`: "error", `"a".b`: "a|b", "a\v.\fb": "a|b", "db.b": "db|b", `"DB".a.b`: "error",
	} {
		schema, name, ok := splitName(text, "db")
		got := schema + "|" + name
		if !ok {
			got = "error"
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestKeysTellTheirPartsApart has parts of keys that are alike when they stand side by side.
func TestKeysTellTheirPartsApart(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for i, write := range []func(k *key){
		func(*key) {},
		func(k *key) { k.texts("a", "b") },
		func(k *key) { k.texts("ab") },
		func(k *key) { k.texts("ab", "") },
		func(k *key) { k.texts("", "ab") },
		func(k *key) { k.texts("b", "a") },
		func(k *key) { k.flags(true) },
		func(k *key) { k.flags(false) },
		func(k *key) { k.flags(true, false) },
		func(k *key) { k.number(0) },
		func(k *key) { k.number(1) },
		func(k *key) { k.number(-1) },
		func(k *key) { k.tables([]temporaryTable{{name: "a"}}) },
		func(k *key) { k.tables([]temporaryTable{{name: "a", dropped: true}}) },
		func(k *key) { k.tables([]temporaryTable{{name: "a"}, {name: "b"}}) },
		func(k *key) { k.texts("a"); k.flags(false) },
		func(k *key) { k.texts("true"); k.texts("true") },
		func(k *key) { k.texts("true"); k.flags(true) },
	} {
		var k key
		write(&k)
		sum := k.sum()
		if other, same := seen[sum]; same {
			t.Errorf("%d and %d have the same key", i, other)
		}
		if seen[sum] = i; (sum == "") != (i == 0) {
			t.Errorf("%d has the key %q", i, sum)
		}
	}
}

// TestPlainTypes tells texts, and arrays of them, from what only looks like them.
func TestPlainTypes(t *testing.T) {
	t.Parallel()
	for typ, want := range map[string]string{
		"text": "text", "varchar": "text", "pg_catalog.text": "text", "varchar(3)": "", "text[]": "array", "varchar[]": "array", "varchar(3)[]": "",
		"name": "", "int": "", "int[]": "", "bpchar": "", "char": "", "text[][]": "array", "public.text": "text",
	} {
		tree, err := parse("SELECT 1::" + typ)
		if err != nil {
			t.Fatal(err)
		}
		of := tree.GetStmts()[0].GetStmt().GetSelectStmt().GetTargetList()[0].GetResTarget().GetVal().GetTypeCast().GetTypeName()
		got := ""
		if isText(of) {
			got = "text"
		}
		if isTextArray(of) {
			got += "array"
		}
		if got != want {
			t.Errorf("%s is %q, want %q", typ, got, want)
		}
	}
	if isText(nil) || isTextArray(nil) {
		t.Error("no type is a text")
	}
}

// TestBuiltinNames says which names may be those of PostgreSQL's own functions, for which
// nobody is told that there is none.
func TestBuiltinNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"lower": true, "pg_catalog.lower": true, "nextval": true, "pg_catalog.nextval": true, "pg_anything_new": true, "pg_catalog.pg_new": true,
		"mine": false, "pg_catalog.mine": false, "public.lower": false, "public.pg_new": false, "information_schema._pg_new": true,
		"information_schema.lower": false, "information_schema.pg_new": false, "a.b.c": true, "a.pg_catalog.mine": true, "pg_catalog.information_schema": false,
	} {
		if got := isBuiltin(strings.Split(name, ".")); got != want {
			t.Errorf("%s may be PostgreSQL's own: %v, want %v", name, got, want)
		}
	}
}

// TestColumnsOfComposites adds, renames and asks for columns of values of which all is
// known, something, or nothing.
func TestColumnsOfComposites(t *testing.T) {
	t.Parallel()
	of := func(complete bool, names ...string) *composite {
		c := &composite{complete: complete, row: true}
		for _, name := range names {
			c.add(name, plainValue)
		}
		return c
	}
	// said is a value's columns in order, with ... where there may be others.
	said := func(c *composite) string {
		if c == nil {
			return "nothing"
		}
		text := strings.Join(c.order, ",")
		for _, name := range c.order {
			if is, value := c.has(name); is != knownColumn || value != plainValue && value != nil {
				t.Errorf("%s has %s: %v, %v", text, name, is, value)
			} else if value == nil {
				text += " " + name + "?"
			}
		}
		if c.row {
			text += " row"
		}
		if is, _ := c.has("other"); is == unknownColumn {
			text += " ..."
		}
		return text
	}
	both := func(a, b *composite) *composite {
		sum := of(true)
		sum.addAll(a)
		sum.addAll(b)
		return sum
	}
	for _, test := range []struct {
		got  *composite
		want string
	}{
		{of(true, "a", "b"), "a,b row"},
		{of(false, "a"), "a row ..."},
		{of(true, "a", "a"), "a,a a? a? row"},
		{both(of(true, "a"), of(true, "b")), "a,b row"},
		{both(of(false, "a"), of(true, "b")), "a,b row ..."},
		{both(of(true, "a"), of(false, "b")), "a,b row ..."},
		{both(nil, of(true, "b")), "b row ..."},
		{both(of(true, "a"), nil), "a row ..."},
		{of(true, "a", "b").renamed(nil), "a,b row"},
		{of(true, "a", "b").renamed([]string{"x"}), "x,b row"},
		{of(true, "a", "b").renamed([]string{"x", "y"}), "x,y row"},
		{of(true, "a", "b").renamed([]string{"x", "y", "z"}), "x,y,z z? row"},
		{of(false, "a", "b").renamed([]string{"x"}), "x x? row ..."},
		{(*composite)(nil).renamed([]string{"x"}), "x x? ..."},
		{(*composite)(nil).renamed(nil), "nothing"},
	} {
		if got := said(test.got); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
	many := of(true)
	for range mostColumns {
		many.add("a", nil)
	}
	if !many.complete || len(many.order) != mostColumns {
		t.Errorf("%d columns, complete %v", len(many.order), many.complete)
	}
	if many.add("b", nil); many.complete || len(many.order) != mostColumns {
		t.Errorf("%d columns, complete %v", len(many.order), many.complete)
	}
}

// TestEncodingsOfClients leaves those to the server that are what it speaks anyway.
func TestEncodingsOfClients(t *testing.T) {
	t.Parallel()
	for encoding, want := range map[string]bool{
		"": true, "UTF8": true, "utf-8": true, "'utf8'": true, "Unicode": true, "auto": true, "SQL_ASCII": true, "latin1": false, "utf16": false,
		"utf8z": false, "utf80": false, "utf89": false, "utf8a": false, "utf8/": true, "utf8:": true, "utf8`": true, "utf8{": true,
	} {
		if got := leftToServer(encoding); got != want {
			t.Errorf("%q is left to the server: %v, want %v", encoding, got, want)
		}
	}
}

// TestSizesOfEntries counts all that an entry of the cache holds: each byte more of any part
// is one more, or as many as times as it is held.
func TestSizesOfEntries(t *testing.T) {
	t.Parallel()
	name := catalog.Name{Schema: "public", Relation: "patients"}
	whole := func() *entry {
		return &entry{
			session: "session", text: "text", verbatim: make([]bool, 3),
			outcome: outcome{
				statement: &Statement{SQL: "sql", Shape: "shape", Reads: []catalog.Name{name}, Uses: []string{"u"}, Makes: []string{"m"}, Effects: make([]Effect, 1)},
				refusal:   &Refusal{message: "message", hint: "hint", shape: "shape"},
			},
			template: &template{statement: &Statement{SQL: "template"}, places: make([]place, 1)},
		}
	}
	parts := 3 * nameOverhead
	want := entryOverhead + len("session"+"text") + 3 +
		len("sql"+"shape") + effectOverhead + 2*(nameOverhead+len("public"+"patients")) + 2*(nameOverhead+1) +
		len("message"+"hint"+"shape") + len("template") + pieceOverhead
	if got := whole().bytes(); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
	more := whole()
	more.outcome.statement.Reads = append(more.outcome.statement.Reads, name)
	more.outcome.statement.Uses = append(more.outcome.statement.Uses, "ab")
	more.template.places = append(more.template.places, place{})
	if got, added := more.bytes()-whole().bytes(), parts+2*len("public"+"patients")+2+pieceOverhead; got != added {
		t.Errorf("%d bytes more, want %d", got, added)
	}
	if got := (&entry{}).bytes(); got != entryOverhead {
		t.Errorf("an empty entry has %d bytes", got)
	}
}

// TestCacheKeepsWhatFits puts entries into it that fill a shard to its limit, and beyond.
func TestCacheKeepsWhatFits(t *testing.T) {
	t.Parallel()
	limit := 3*entryOverhead + 300
	r := New(Options{CacheBytes: limit * shards})
	c := r.current.Load().cache
	put := func(session, text string) bool {
		c.put(&entry{kind: wholeText, session: session, text: text, outcome: outcome{statement: &Statement{SQL: text}}})
		return c.get(wholeText, session, text) != nil
	}
	most := strings.Repeat("x", (limit-entryOverhead)/2)
	if rest := (limit - entryOverhead) % 2; !put(strings.Repeat("s", rest), most) {
		t.Error("what fills a shard is not kept")
	}
	if put("ss", most) {
		t.Error("what is greater than a shard is kept")
	}
	if stats := r.CacheStats(); stats.Entries != 1 || stats.Bytes != int64(limit) || stats.Evictions != 0 {
		t.Errorf("%+v", stats)
	}
	for range 2 { // the second time in the place of the first
		put("", "again")
	}
	if e := c.get(wholeText, "", "again"); e == nil || e.outcome.statement.SQL != "again" {
		t.Errorf("it holds %+v", e)
	}
	for _, of := range []struct{ session, text string }{{"x", "again"}, {"", "other"}} {
		if e := c.get(wholeText, of.session, of.text); e != nil {
			t.Errorf("%+v is found as %+v", of, e)
		}
	}
	if c.get(literalForm, "", "again") != nil || c.getForm(literalForm, "", []byte("again")) != nil || c.getForm(wholeText, "", []byte("again")) == nil {
		t.Error("an entry of another kind is found, or none of its own")
	}
	held := 0
	for _, e := range c.entries() {
		held += e.bytes()
	}
	if stats := r.CacheStats(); stats.Bytes != int64(held) || stats.Entries != len(c.entries()) || !slices.ContainsFunc(c.entries(), func(e *entry) bool { return e.text == "again" }) {
		t.Errorf("%+v, but it holds %d bytes", stats, held)
	}
}
