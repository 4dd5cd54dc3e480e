// Package visible shows characters that change the direction of text as escapes. With them, a name of
// a table or a column, or what a client says, could make a line of a report read otherwise than it
// is (Unicode Technical Report 36, section 2.4).
package visible

import (
	"fmt"
	"io"
	"strings"
)

// turns are the controls of Unicode's bidirectional algorithm (UAX 9, section 2).
const turns = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

var escaped = func() *strings.Replacer {
	var pairs []string
	for _, c := range turns {
		pairs = append(pairs, string(c), fmt.Sprintf(`\u%04x`, c))
	}
	return strings.NewReplacer(pairs...)
}()

// Turns tells whether a character changes the direction of text.
func Turns(c rune) bool { return strings.ContainsRune(turns, c) }

// Text is a text with escapes, as JSON has them.
func Text(text string) string { return escaped.Replace(text) }

// Writer escapes what is written to w. Each write must have whole characters.
func Writer(w io.Writer) io.Writer { return writer{w} }

type writer struct{ io.Writer }

func (w writer) Write(p []byte) (int, error) {
	if _, err := escaped.WriteString(w.Writer, string(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// HTML escapes the text of a page, and leaves its elements and their attributes as they are: forms
// send names back.
func HTML(page string) string {
	if !strings.ContainsAny(page, turns) {
		return page
	}
	var b strings.Builder
	for page != "" {
		text, rest, found := strings.Cut(page, "<")
		b.WriteString(Text(text))
		if !found {
			break
		}
		element, after, _ := strings.Cut(rest, ">")
		b.WriteString("<" + element + ">")
		page = after
	}
	return b.String()
}
