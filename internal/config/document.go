package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxFileBytes bounds a configuration file. A taxonomy of all five-digit codes
// takes a third of it.
const maxFileBytes = 1 << 20

const startFrom = "have 'kproxy init' draft one, or start from config.example.yaml"

// document parses the text to the root of its only document; nil and a problem
// when there is no such thing.
func (d *decoder) document(text []byte) *yaml.Node {
	if len(text) > maxFileBytes {
		d.report(0, 0, fmt.Sprintf("the file is larger than %d bytes", maxFileBytes), "shorten it, for example by prefix hierarchies in place of long taxonomies")
		return nil
	}
	if line := firstLine(text, func(l []byte) bool { return !utf8.Valid(l) }); line > 0 {
		d.report(line, 0, "the file is not valid UTF-8", "save it as UTF-8 text")
		return nil
	}
	if line := firstLine(text, hasControls); line > 0 {
		d.report(line, 0, "the file contains control characters", "remove them, or write them as escapes in double quotes")
		return nil
	}
	documents := yaml.NewDecoder(bytes.NewReader(text))
	root, err := nextDocument(documents)
	switch {
	case errors.Is(err, io.EOF):
		d.report(0, 0, "the file is empty", startFrom)
		return nil
	case err != nil:
		d.syntax(text, err)
		return nil
	}
	second, err := nextDocument(documents)
	if err != nil && !errors.Is(err, io.EOF) {
		d.syntax(text, err)
		return nil
	}
	if err == nil {
		d.report(second.Line, second.Column, "the file holds several documents", "remove all from the second --- on")
	}
	if isEmpty(root) {
		d.report(0, 0, "the file is empty", startFrom)
		return nil
	}
	return root
}

// nextDocument returns the root node of the decoder's next document. The YAML
// parser panics where it finds itself inconsistent; a configuration must not
// bring the process down, so that becomes an error.
func nextDocument(documents *yaml.Decoder) (root *yaml.Node, err error) {
	defer func() {
		if recover() != nil {
			root, err = nil, errors.New("the parser gave up")
		}
	}()
	var document yaml.Node
	if err := documents.Decode(&document); err != nil {
		return nil, err
	}
	if len(document.Content) != 1 {
		return nil, io.EOF
	}
	return document.Content[0], nil
}

func isEmpty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0
}

// firstLine finds the first line, from 1, that the test is true of; 0 when there is none.
func firstLine(text []byte, is func(line []byte) bool) int {
	number := 0
	for line := range bytes.Lines(text) {
		number++
		if is(line) {
			return number
		}
	}
	return 0
}

func hasControls(line []byte) bool {
	return bytes.ContainsFunc(line, func(c rune) bool {
		return unicode.IsControl(c) && c != '\t' && c != '\n' && c != '\r' && c != '\u0085'
	})
}

// isTabbed says whether a line that holds something is indented with a tab.
func isTabbed(line []byte) bool {
	rest := bytes.TrimLeft(line, " ")
	return len(rest) > 0 && rest[0] == '\t' && len(bytes.TrimSpace(rest)) > 0
}

var (
	syntaxLine    = regexp.MustCompile(`^yaml: (?:line (\d+): )?(?s:(.*))$`)
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
)

// syntax reports what the YAML parser said, in an operator's words. Only texts
// known to hold no part of the file are passed on.
func (d *decoder) syntax(text []byte, err error) {
	said := err.Error()
	line := 0
	if parts := syntaxLine.FindStringSubmatch(said); parts != nil {
		line, _ = strconv.Atoi(cmp.Or(parts[1], "1")) // no line is said of the first
		said = parts[2]
		if strings.HasPrefix(said, "did not find expected") {
			line++ // the parser, unlike the scanner, counts lines from 0
		}
	}
	if tab := firstLine(text, isTabbed); tab > 0 {
		d.report(tab, 1, "a tab stands in the indentation", "indent with spaces")
		return
	}
	if anchor := unknownAnchor.FindStringSubmatch(said); anchor != nil {
		alias := []byte("*" + anchor[1])
		d.report(firstLine(text, func(l []byte) bool { return bytes.Contains(l, alias) }), 0, "an alias (*name) speaks of an anchor that does not exist",
			"write &name before the value it stands for, or put a text that begins with * in quotes")
		return
	}
	what, fix := explain(said)
	if isOfIndentation(said) {
		d.misindented(text, what, fix)
		return
	}
	d.report(line, 0, what, fix)
}

// explanations puts the parser's messages into an operator's words, and gives
// the usual cause.
var explanations = []struct{ said, what, fix string }{
	{"did not find expected key", "the indentation does not fit, or a bracket or quote before this line is not closed", "line up the keys of one section, and look at the lines before"},
	{"mapping values are not allowed", "a colon stands where no key can be", `put a text that contains ": " in quotes, and line up the keys`},
	{"could not find expected ':'", "a key has no colon after it", "write key: value"},
	{"did not find expected ',' or ']'", "a list [...] is not closed, or a comma is missing", "write [a, b, c]"},
	{"did not find expected ',' or '}'", "a mapping {...} is not closed, or a comma is missing", "write {key: value, key: value}"},
	{"did not find expected '-' indicator", "a list's entries are not lined up", "begin each entry with - at the same indentation"},
	{"found unexpected end of stream", "a quote is not closed, here or before", "close it"},
	{"found character that cannot start any token", "a character stands here that cannot begin a value", "put the value in quotes"},
	{"control characters are not allowed", "the file contains control characters", "remove them"},
	{"exceeded max depth", "the nesting is too deep", "flatten it"},
	{"block sequence entries are not allowed", "a list entry stands where none can be", "begin the list on a line of its own"},
	{"found unknown escape character", "a backslash in double quotes begins no known escape", "use single quotes"},
	{"the parser gave up", "the YAML parser cannot read this file", "remove comments in unusual places, then look for a missing colon or quote"},
}

func explain(said string) (what, fix string) {
	for _, e := range explanations {
		if strings.Contains(said, e.said) {
			return e.what, e.fix
		}
	}
	return "this is not YAML", "look at the quotes, brackets and indentation here and on the lines before"
}
