package config

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// errByHand says that a text is written in a way in which no place for a change is
// certain.
var errByHand = errors.New("the file is written in a way that kproxy does not change by itself")

// byHand is errByHand with what is in the way.
func byHand(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errByHand, fmt.Sprintf(format, args...))
}

// manuscript is a YAML text that is changed in places, with all else left as it is.
type manuscript struct {
	text []byte
	root *yaml.Node
	// starts are the offsets of the lines.
	starts  []int
	newline string
}

const byteOrderMark = "\ufeff"

func newManuscript(text []byte) (*manuscript, error) {
	m := &manuscript{text: text, newline: "\n"}
	d := newDecoder("", nil)
	if m.root = d.document(text); m.root == nil || len(d.problems) > 0 {
		return nil, d.problems.asError("")
	}
	if m.root.Kind != yaml.MappingNode || m.root.Style&yaml.FlowStyle != 0 {
		return nil, byHand("it is no mapping of a key on each line")
	}
	if bytes.Contains(text, []byte("\r\n")) {
		m.newline = "\r\n"
	}
	m.starts = []int{0}
	for i, c := range text {
		if c == '\n' {
			m.starts = append(m.starts, i+1)
		}
	}
	return m, nil
}

// value is what stands at a key of the document, and the key; nil if it is not there.
func (m *manuscript) value(name string) (key, value *yaml.Node) { return entryOf(m.root, name) }

func entryOf(n *yaml.Node, name string) (key, value *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

// offset is where a node begins, its anchor included.
func (m *manuscript) offset(n *yaml.Node) (int, error) {
	if n.Line < 1 || n.Line > len(m.starts) {
		return 0, byHand("line %d is not clear", n.Line)
	}
	at := m.starts[n.Line-1]
	if n.Line == 1 && bytes.HasPrefix(m.text, []byte(byteOrderMark)) {
		at += len(byteOrderMark)
	}
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(m.text[at:])
		at += size
	}
	return at, nil
}

// start is where a node's own text begins, behind its anchor.
func (m *manuscript) start(n *yaml.Node) (int, error) {
	at, err := m.offset(n)
	if err != nil || n.Anchor == "" {
		return at, err
	}
	at += len("&" + n.Anchor)
	for at < len(m.text) && (m.text[at] == ' ' || m.text[at] == '\t') {
		at++
	}
	return at, nil
}

// end is where a node ends.
func (m *manuscript) end(n *yaml.Node) (int, error) {
	at, err := m.start(n)
	if err != nil {
		return 0, err
	}
	switch {
	case n.Kind == yaml.AliasNode:
		return at + len("*"+n.Value), nil
	case n.Kind == yaml.ScalarNode:
		return m.scalarEnd(n, at)
	case n.Style&yaml.FlowStyle != 0:
		return m.flowEnd(n, at)
	case len(n.Content) == 0:
		return 0, byHand("line %d is not clear", n.Line)
	}
	return m.end(n.Content[len(n.Content)-1])
}

func (m *manuscript) scalarEnd(n *yaml.Node, at int) (int, error) {
	switch n.Style &^ yaml.TaggedStyle {
	case yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle:
		if end := quoteEnd(m.text, at); end > 0 {
			return end, nil
		}
	case 0:
		if bytes.HasPrefix(m.text[at:], []byte(n.Value)) {
			return at + len(n.Value), nil
		}
	}
	return 0, byHand("the text that begins on line %d goes over several lines", n.Line)
}

// quoteEnd is where the quoted text that begins at i ends; 0 if it does not.
func quoteEnd(text []byte, i int) int {
	quote := text[i]
	for i++; i < len(text); i++ {
		switch {
		case quote == '"' && text[i] == '\\':
			i++
		case text[i] == quote && quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return 0
}

// flowEnd finds the bracket that closes the one at a place.
func (m *manuscript) flowEnd(n *yaml.Node, at int) (int, error) {
	depth := 0
	for i := at; i < len(m.text); i++ {
		switch c := m.text[i]; c {
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		case '"', '\'':
			if !beginsToken(m.text, i) {
				continue // an apostrophe inside a word
			}
			end := quoteEnd(m.text, i)
			if end == 0 {
				return 0, byHand("a quote on line %d is not closed", n.Line)
			}
			i = end - 1
		case '#':
			if i == 0 || strings.IndexByte(" \t\n", m.text[i-1]) >= 0 {
				for i+1 < len(m.text) && m.text[i+1] != '\n' {
					i++
				}
			}
		}
	}
	return 0, byHand("the bracket on line %d is not closed", n.Line)
}

// beginsToken says whether what stands at i can begin a quoted text.
func beginsToken(text []byte, i int) bool {
	return i == 0 || strings.IndexByte(" \t\n[{,:", text[i-1]) >= 0
}

// lineEnd is the end of the line on which a place is, without its newline.
func (m *manuscript) lineEnd(at int) int {
	if i := bytes.IndexByte(m.text[at:], '\n'); i >= 0 {
		at += i
		if at > 0 && m.text[at-1] == '\r' {
			at--
		}
		return at
	}
	return len(m.text)
}

// nextLine is the beginning of the line after the one on which a place is.
func (m *manuscript) nextLine(at int) int {
	if i := bytes.IndexByte(m.text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(m.text)
}

// past is the end of the last line that belongs to an entry which ends at a place: comments
// below it that are indented deeper than its dash are its own.
func (m *manuscript) past(at, indent int) int {
	for {
		next := m.nextLine(at)
		line := m.text[next:m.lineEnd(next)]
		rest := bytes.TrimLeft(line, " ")
		if next == len(m.text) || len(rest) == 0 || rest[0] != '#' || len(line)-len(rest) <= indent {
			return m.lineEnd(at)
		}
		at = next
	}
}

// dash is the offset of the - before an entry of a list, and how far it is indented.
func (m *manuscript) dash(entry *yaml.Node) (at, indent int, err error) {
	if at, err = m.offset(entry); err != nil {
		return 0, 0, err
	}
	for at--; at >= 0 && m.text[at] == ' '; at-- {
	}
	begin := bytes.LastIndexByte(m.text[:max(at, 0)], '\n') + 1
	if at < 0 || m.text[at] != '-' || len(bytes.TrimLeft(m.text[begin:at], " ")) > 0 {
		return 0, 0, byHand("the entry on line %d does not begin with - on a line of its own", entry.Line)
	}
	return at, at - begin, nil
}

// with is the text with a part of it replaced.
func (m *manuscript) with(from, to int, replacement string) []byte {
	return bytes.Join([][]byte{m.text[:from], []byte(replacement), m.text[to:]}, nil)
}

var (
	plainWord  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
	plainValue = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./-]*$`)
)

// written is a text as YAML, in quotes unless it is plain.
func written(text string, plain *regexp.Regexp) string {
	if plain.MatchString(text) {
		return text
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b.WriteRune('\\')
			b.WriteRune(c)
		case c < 0x20 || c == 0x7f || c == 0x85 || c == 0xa0 || c == 0x2028 || c == 0x2029 || c == 0xfeff:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
