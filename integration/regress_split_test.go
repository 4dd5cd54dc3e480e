package integration

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sqlStep is a statement of a psql script.
type sqlStep struct {
	sql string
	// copied is the file beside the script that a COPY loads; sql is then COPY FROM STDIN.
	copied string
}

var (
	setFile  = regexp.MustCompile(`^\\set filename :abs_srcdir '/(data/[a-z_]+\.data)'`)
	copyFile = regexp.MustCompile(`(?i)^copy (\S+)( \([^)]*\))? from :'filename'`)
	// variable is one of psql's; a cast has two colons.
	variable = regexp.MustCompile(`(^|[^:]):'?"?[a-z_]+`)
)

// splitSQL takes a psql script apart. Commands of psql, the data of COPY FROM STDIN,
// and statements with psql's variables are left out, but for COPY from a file.
func splitSQL(script string) []sqlStep {
	var steps []sqlStep
	file, rest := "", script
	for {
		rest = strings.TrimLeft(rest, " \t\r\n;")
		switch {
		case rest == "":
			return steps
		case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, `\`):
			line, after, _ := strings.Cut(rest, "\n")
			if m := setFile.FindStringSubmatch(line); m != nil {
				file = m[1]
			}
			rest = after
			continue
		}
		sql, ended := cutStatement(rest)
		rest = rest[len(sql):]
		lower := strings.ToLower(sql)
		switch copied := copyFile.FindStringSubmatch(sql); {
		case copied != nil:
			steps = append(steps, sqlStep{sql: "COPY " + copied[1] + copied[2] + " FROM STDIN", copied: file})
		case strings.HasPrefix(lower, "copy ") && strings.Contains(lower, "from stdin"):
			if end := strings.Index(rest, "\n\\.\n"); end >= 0 {
				rest = rest[end+len("\n\\.\n"):]
			}
		case ended && !variable.MatchString(withoutStrings(sql)):
			steps = append(steps, sqlStep{sql: sql})
		}
	}
}

// cutStatement returns the text up to the semicolon that ends the first statement,
// or up to a command of psql that does so instead.
func cutStatement(text string) (sql string, semicolon bool) {
	for i := 0; i < len(text); {
		switch text[i] {
		case ';':
			return text[:i], true
		case '\\':
			return text[:i+max(1, strings.IndexByte(text[i:], '\n'))], false
		default:
			i += tokenLength(text, i)
		}
	}
	return text, false
}

var dollarTag = regexp.MustCompile(`^\$([A-Za-z_][A-Za-z_0-9]*)?\$`)

// tokenLength is the length of the comment or quotation at i, or one.
func tokenLength(text string, i int) int {
	rest := text[i:]
	until := func(from int, end string) int {
		if n := strings.Index(rest[from:], end); n >= 0 {
			return from + n + len(end)
		}
		return len(rest)
	}
	switch {
	case strings.HasPrefix(rest, "--"):
		return until(0, "\n")
	case strings.HasPrefix(rest, "/*"):
		return commentLength(rest)
	case rest[0] == '"':
		return until(1, `"`)
	case rest[0] == '\'' && i > 0 && (text[i-1] == 'E' || text[i-1] == 'e') && (i == 1 || !identifierByte(text[i-2])):
		for n := 1; n < len(rest); n++ {
			switch rest[n] {
			case '\\':
				n++
			case '\'':
				return n + 1
			}
		}
		return len(rest)
	case rest[0] == '\'':
		return until(1, "'")
	case rest[0] == '$' && (i == 0 || !identifierByte(text[i-1])):
		if tag := dollarTag.FindString(rest); tag != "" {
			return until(len(tag), tag)
		}
	}
	return 1
}

func identifierByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// commentLength is the length of a comment, in which others may lie.
func commentLength(text string) int {
	depth := 0
	for i := 0; i+1 < len(text); i++ {
		switch text[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
			if depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// withoutStrings leaves quotations and comments out.
func withoutStrings(sql string) string {
	var b strings.Builder
	for i := 0; i < len(sql); {
		n := tokenLength(sql, i)
		if n == 1 {
			b.WriteByte(sql[i])
		}
		i += n
	}
	return b.String()
}

func TestSplitSQL(t *testing.T) {
	t.Parallel()
	const script = `-- a comment;
SELECT 1; SELECT ';', ";", $$;$$, $a$;$$;$a$, E'\';', /* ; /* ; */ ; */ 2;
\set filename :abs_srcdir '/data/onek.data'
COPY onek FROM :'filename';
COPY other FROM stdin;
1;2
\.
\echo nothing;
SELECT :name; SELECT 'a:b', x::text;
SELECT 3 \gset
SELECT 4
;`
	var got []string
	for _, step := range splitSQL(script) {
		got = append(got, step.copied+"|"+strings.TrimSpace(step.sql))
	}
	want := []string{
		"|SELECT 1", `|SELECT ';', ";", $$;$$, $a$;$$;$a$, E'\';', /* ; /* ; */ ; */ 2`,
		"data/onek.data|COPY onek FROM STDIN", "|SELECT 'a:b', x::text", "|SELECT 4",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
