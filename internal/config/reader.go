package config

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/catalog"
)

// maxEntries bounds how many nodes are read, aliases unfolded: a file of a few
// lines can unfold to billions.
const maxEntries = 1 << 18

// reader reads nodes and gathers all that is wrong with them. Its methods
// either return what they read, or store it and report for themselves.
type reader struct {
	file     string
	problems Errors
	visited  int
	places   places
	claims   map[catalog.Name]claim
	// marks are the places of settings that are compared with others in the end.
	marks  map[string]*yaml.Node
	logins []login
	named  []mention
	// rules are the places of the rules of access, nil for one with mistakes of its own.
	rules []*yaml.Node
	// around is nil when the environment and other files are not looked at.
	around *surroundings
	// asked is what the reader asked for at each probe while it describes what it reads;
	// nil while it reads a file.
	asked map[*yaml.Node]*Shape
	// recursive are the shapes that contain themselves, by their names.
	recursive map[string]*Shape
}

func newReader(file string, around *surroundings) *reader {
	return &reader{file: file, around: around, places: newPlaces(file), claims: make(map[catalog.Name]claim), marks: make(map[string]*yaml.Node)}
}

func (r *reader) report(line, column int, what, fix string) {
	r.problems = append(r.problems, Problem{File: r.file, Line: line, Column: column, What: what, Fix: fix})
}

func (r *reader) wrong(n *yaml.Node, what, fix string) { r.report(n.Line, n.Column, what, fix) }

// marked keeps the place of a setting besides reading it.
func (r *reader) marked(name string, read func(*yaml.Node)) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.marks[name] = n
		read(n)
	}
}

// contradicts reports that settings do not go together, at the first of them that is
// written.
func (r *reader) contradicts(what, fix string, settings ...string) {
	for _, name := range settings {
		if n, written := r.marks[name]; written {
			r.wrong(r.follow(n), what, fix)
			return
		}
	}
}

// follow returns the node that stands for n and counts it.
func (r *reader) follow(n *yaml.Node) *yaml.Node {
	r.visited++
	if r.visited == maxEntries {
		r.wrong(n, fmt.Sprintf("the file has more than %d entries, aliases unfolded", maxEntries), "use fewer aliases within aliases")
	}
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func (r *reader) exhausted() bool { return r.visited >= maxEntries }

// untagged refuses explicit tags such as !!binary: values are read as they stand.
func (r *reader) untagged(n *yaml.Node) bool {
	if n.Style&yaml.TaggedStyle == 0 {
		return true
	}
	r.wrong(n, "a YAML tag stands before a value", "remove the word that begins with !")
	return false
}

// field is one key that a mapping may have.
type field struct {
	key string
	// doc says what it is for, its unit and what zero means: for the reference and for
	// editors.
	doc string
	// need is what to write when the key is absent; empty for an optional key.
	need string
	// why is the reason for which it is needed, where that does not go without saying.
	why string
	// refused is a key that others use and that gets its own explanation.
	refused bool
	read    func(*yaml.Node)
}

// mapping reads the keys of a mapping. What names it in messages.
func (r *reader) mapping(n *yaml.Node, what string, fields ...field) {
	if r.describeKeys(n, fields) {
		return
	}
	found := make(map[string]bool)
	entries, ok := r.entries(n, what)
	if !ok {
		return
	}
	for _, e := range entries {
		found[e.key.Value] = true
		if f := fieldNamed(fields, e.key.Value); f != nil {
			f.read(e.value)
			continue
		}
		r.wrong(e.key, fmt.Sprintf("unknown key %s in %s", quote(e.key.Value), what), r.placeOf(e.key.Value, keysOf(fields)))
	}
	for _, f := range fields {
		if f.need != "" && !found[f.key] {
			lack := what + " has no " + f.key
			if f.why != "" {
				lack += ": " + f.why
			}
			r.wrong(r.follow(n), lack, "write "+f.need)
		}
	}
}

func fieldNamed(fields []field, key string) *field {
	for i := range fields {
		if fields[i].key == key {
			return &fields[i]
		}
	}
	return nil
}

func keysOf(fields []field) []string {
	var keys []string
	for _, f := range fields {
		if !f.refused {
			keys = append(keys, f.key)
		}
	}
	return keys
}

type entry struct{ key, value *yaml.Node }

// entries lists a mapping's keys and values, each key once, with the keys
// followed and the values not. It is false when the node is no mapping.
func (r *reader) entries(n *yaml.Node, what string) ([]entry, bool) {
	if r.asks(n, ShapeNames) {
		return []entry{{&yaml.Node{Kind: yaml.ScalarNode, Value: "name"}, r.probe(&r.asked[n].Values)}}, true
	}
	n = r.follow(n)
	if n.Kind != yaml.MappingNode {
		r.wrong(n, fmt.Sprintf("%s must be a mapping, not %s", what, shape(n)), "write key: value lines, indented")
		return nil, false
	}
	r.untagged(n)
	var entries []entry
	first := make(map[string]int)
	for i := 0; i+1 < len(n.Content) && !r.exhausted(); i += 2 {
		key := r.follow(n.Content[i])
		if !r.isKey(key) {
			continue
		}
		if line, twice := first[key.Value]; twice {
			r.wrong(key, fmt.Sprintf("key %s stands twice in %s, first on line %d", quote(key.Value), what, line), "remove one of them")
			continue
		}
		first[key.Value] = key.Line
		entries = append(entries, entry{key, n.Content[i+1]})
	}
	return entries, true
}

func (r *reader) isKey(key *yaml.Node) bool {
	switch {
	case key.Kind != yaml.ScalarNode:
		r.wrong(key, "a key must be a word, not "+shape(key), `put a key that begins with [, {, or ? in quotes`)
		return false
	case key.Tag == "!!merge":
		r.wrong(key, "merge keys (<<) are not read", "write the entries out; an alias may stand for a whole value")
		return false
	}
	return r.untagged(key)
}

// items lists a sequence's entries, not followed.
func (r *reader) items(n *yaml.Node, what, example string) []*yaml.Node {
	if r.asks(n, ShapeList) {
		return []*yaml.Node{r.probe(&r.asked[n].Values)}
	}
	n = r.follow(n)
	if n.Kind != yaml.SequenceNode {
		r.wrong(n, fmt.Sprintf("%s must be a list, not %s", what, shape(n)), "write "+example)
		return nil
	}
	r.untagged(n)
	return n.Content
}

// oneOrMore lists a sequence's entries, or a single value as the only one, not followed.
func (r *reader) oneOrMore(n *yaml.Node, what, example string) []*yaml.Node {
	if r.describing() {
		return r.oneOrMoreProbes(n)
	}
	if r.follow(n).Kind == yaml.ScalarNode {
		return []*yaml.Node{n}
	}
	items := r.items(n, what, example)
	if r.follow(n).Kind == yaml.SequenceNode && len(items) == 0 {
		r.wrong(r.follow(n), what+" is an empty list", "write "+example+", or remove the key")
	}
	return items
}

// either reads a node in one way where it is of a kind, and in another way else.
func (r *reader) either(n *yaml.Node, kind yaml.Kind, read, otherwise func(*yaml.Node)) {
	switch {
	case r.describing():
		r.describeEither(n, read, otherwise)
	case n.Kind == kind, n.Kind == yaml.AliasNode && n.Alias.Kind == kind:
		read(n)
	default:
		otherwise(n)
	}
}

// shape names the kind of a node, never its content.
func shape(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		if n.Value == "" && n.Style == 0 {
			return "empty"
		}
		return "a single value"
	default:
		return "an alias"
	}
}

// quote shows a word of the file, shortened.
func quote(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "..."
	}
	return fmt.Sprintf("%q", text)
}

// enumerate is a, b or c.
func enumerate(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
