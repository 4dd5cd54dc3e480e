package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxEntries bounds how many nodes are read, aliases unfolded: a file of a few
// lines can unfold to billions.
const maxEntries = 1 << 18

// decoder reads a file into structs whose tags declare its keys, and gathers all that is
// wrong with it.
type decoder struct {
	file     string
	problems Errors
	visited  int
	// values are the nodes that fields and entries of lists were read from, and keys those
	// of the names of entries, both by the address of what was read.
	values, keys map[any]*yaml.Node
	// flawed are fields that could not be read, and sections with mistakes, by their addresses.
	flawed map[any]bool
	places places
	// around is nil when the environment and other files are not looked at.
	around *surroundings
}

func newDecoder(file string, around *surroundings) *decoder {
	return &decoder{
		file: file, around: around, places: newPlaces(file),
		values: make(map[any]*yaml.Node), keys: make(map[any]*yaml.Node), flawed: make(map[any]bool),
	}
}

// codec reads values of one kind, and describes what it reads.
type codec interface {
	// read stores what stands at a node, called what in messages. It is false when that
	// is not possible, which is reported.
	read(d *decoder, n *yaml.Node, what string, to reflect.Value) bool
	shape() *Shape
}

// checker is a section whose values have to go together. It is called once they are read.
type checker interface {
	check(d *decoder, n *yaml.Node, what string)
}

// at is the node that a field was read from, given by its address; nil when it is not
// written.
func (d *decoder) at(field any) *yaml.Node { return d.values[field] }

// got says whether a field was read, given by its address.
func (d *decoder) got(field any) bool { return d.values[field] != nil && !d.flawed[field] }

func (d *decoder) report(line, column int, what, fix string) {
	d.problems = append(d.problems, Problem{File: d.file, Line: line, Column: column, What: what, Fix: fix})
}

func (d *decoder) wrong(n *yaml.Node, what, fix string) { d.report(n.Line, n.Column, what, fix) }

// follow returns the node that stands for n and counts it.
func (d *decoder) follow(n *yaml.Node) *yaml.Node {
	d.visited++
	if d.visited == maxEntries {
		d.wrong(n, fmt.Sprintf("the file has more than %d entries, aliases unfolded", maxEntries), "use fewer aliases within aliases")
	}
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func (d *decoder) exhausted() bool { return d.visited >= maxEntries }

// untagged refuses explicit tags such as !!binary: values are read as they stand.
func (d *decoder) untagged(n *yaml.Node) bool {
	if n.Style&yaml.TaggedStyle == 0 {
		return true
	}
	d.wrong(n, "a YAML tag stands before a value", "remove the word that begins with !")
	return false
}

// read reads a section.
func (s *section) read(d *decoder, n *yaml.Node, what string, to reflect.Value) bool {
	before := len(d.problems)
	s.setDefaults(to)
	n = d.follow(n)
	if s.alone != nil && n.Kind == yaml.ScalarNode {
		s.readAlone(d, n, what, to)
	} else {
		s.readKeys(d, n, what, to)
	}
	address := to.Addr().Interface()
	d.flawed[address] = len(d.problems) > before
	if c, ok := address.(checker); ok {
		c.check(d, n, what)
	}
	d.flawed[address] = len(d.problems) > before
	return true
}

// readAlone reads a single value in the place of a mapping.
func (s *section) readAlone(d *decoder, n *yaml.Node, what string, to reflect.Value) {
	f := s.alone
	if isEmpty(n) && f.need != "" {
		d.wrong(n, what+" has no "+f.key, "write "+f.alone)
		return
	}
	f.read(d, n, what, to)
}

func (s *section) readKeys(d *decoder, n *yaml.Node, what string, to reflect.Value) {
	entries, ok := d.entries(n, what)
	if !ok {
		return
	}
	found := make(map[string]bool)
	for _, e := range entries {
		found[e.key.Value] = true
		switch f := s.field(e.key.Value); {
		case f == nil:
			d.wrong(e.key, fmt.Sprintf("unknown key %s in %s", quote(e.key.Value), what), placeOf(e.key.Value, s.keys()))
		case f.refused != "":
			d.wrong(d.follow(e.value), f.refused, f.fix)
		default:
			f.read(d, e.value, what, to)
		}
	}
	for _, f := range s.fields {
		if f.required() && !found[f.key] {
			f.lacks(d, n, what, "")
		}
	}
}

// lacks reports that a section does not have the key. Also is added to what is wrong.
func (f *field) lacks(d *decoder, n *yaml.Node, section, also string) {
	lack := section + " has no " + f.key + also
	if f.why != "" {
		lack += ": " + f.why
	}
	d.wrong(n, lack, "write "+f.need)
}

// read reads the value of a key of a section.
func (f *field) read(d *decoder, n *yaml.Node, section string, to reflect.Value) {
	value := to.FieldByIndex(f.index)
	address := value.Addr().Interface()
	d.values[address] = d.follow(n)
	if !f.codec.read(d, n, strings.ReplaceAll(f.what, "%s", section), value) {
		d.flawed[address] = true
	}
}

// setDefaults sets what holds where nothing is written.
func (s *section) setDefaults(to reflect.Value) {
	for _, f := range s.fields {
		value := to.FieldByIndex(f.index)
		switch below, nested := f.codec.(*section); {
		case nested && !f.optional:
			below.setDefaults(value)
		case f.byDefault != "":
			d := newDecoder("", nil)
			if !f.codec.read(d, &yaml.Node{Kind: yaml.ScalarNode, Value: f.byDefault}, f.key, value) {
				panic(fmt.Sprintf("the default of %s is none: %v", f.key, d.problems))
			}
		}
	}
}

type entry struct{ key, value *yaml.Node }

// entries lists a mapping's keys and values, each key once, with the keys
// followed and the values not. It is false when the node is no mapping.
func (d *decoder) entries(n *yaml.Node, what string) ([]entry, bool) {
	n = d.follow(n)
	if n.Kind != yaml.MappingNode {
		d.wrong(n, fmt.Sprintf("%s must be a mapping, not %s", what, kindOf(n)), "write key: value lines, indented")
		return nil, false
	}
	d.untagged(n)
	var entries []entry
	first := make(map[string]int)
	for i := 0; i+1 < len(n.Content) && !d.exhausted(); i += 2 {
		key := d.follow(n.Content[i])
		if !d.isKey(key) {
			continue
		}
		if line, twice := first[key.Value]; twice {
			d.wrong(key, fmt.Sprintf("key %s stands twice in %s, first on line %d", quote(key.Value), what, line), "remove one of them")
			continue
		}
		first[key.Value] = key.Line
		entries = append(entries, entry{key, n.Content[i+1]})
	}
	return entries, true
}

func (d *decoder) isKey(key *yaml.Node) bool {
	switch {
	case key.Kind != yaml.ScalarNode:
		d.wrong(key, "a key must be a word, not "+kindOf(key), `put a key that begins with [, {, or ? in quotes`)
		return false
	case key.Tag == "!!merge":
		d.wrong(key, "merge keys (<<) are not read", "write the entries out; an alias may stand for a whole value")
		return false
	}
	return d.untagged(key)
}

// kindOf names the kind of a node, never its content.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		if isEmpty(n) {
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

// noun is what a value is called, without an article.
func noun(what string) string { return strings.TrimPrefix(what, "a ") }

// enumerate is a, b or c.
func enumerate(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func (s *section) field(key string) *field {
	if i := slices.IndexFunc(s.fields, func(f field) bool { return f.key == key }); i >= 0 {
		return &s.fields[i]
	}
	return nil
}

// keys are those that may be written.
func (s *section) keys() []string {
	var keys []string
	for _, f := range s.fields {
		if f.refused == "" {
			keys = append(keys, f.key)
		}
	}
	return keys
}

func (s *section) shape() *Shape {
	mapping := &Shape{Kind: ShapeMapping}
	for _, f := range s.fields {
		if f.refused != "" {
			continue
		}
		shape := f.codec.shape()
		shape.Default = f.byDefault
		mapping.Keys = append(mapping.Keys, Key{Name: f.key, Doc: f.doc, Required: f.required(), Unless: f.unless, Shape: shape})
	}
	if s.alone == nil {
		return mapping
	}
	return &Shape{Kind: ShapeEither, Either: []*Shape{s.alone.codec.shape(), mapping}}
}
