package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// probe is a node of no kind, which stands for whatever a file may hold in a place. The
// reader is shown one to describe what it reads: each of its methods that takes a node
// notes at a probe what it asks for, and gives nothing. What a file may hold is thus said
// once, by the code that reads it.
type probe = yaml.Node

// describeBy shows a probe to what reads a whole file.
func describeBy(read func(*reader, *probe)) *Shape {
	r := newReader("", nil)
	r.asked = make(map[*yaml.Node]*Shape)
	r.recursive = make(map[string]*Shape)
	var shape *Shape
	read(r, r.probe(&shape))
	return shape
}

func (r *reader) describing() bool { return r.asked != nil }

// probe is a new one, whose shape is put there.
func (r *reader) probe(there **Shape) *probe {
	n := &yaml.Node{}
	*there = &Shape{}
	r.asked[n] = *there
	return n
}

// asks notes what kind of value is asked for at a probe; it is false at a file's node.
func (r *reader) asks(n *yaml.Node, kind ShapeKind) bool {
	shape, describing := r.asked[n]
	if describing {
		shape.Kind = kind
	}
	return describing
}

// describeKeys shows a probe to each key of a mapping.
func (r *reader) describeKeys(n *yaml.Node, fields []field) bool {
	if !r.asks(n, ShapeMapping) {
		return false
	}
	shape := r.asked[n]
	for _, f := range fields {
		if f.refused {
			continue
		}
		key := Key{Name: f.key, Doc: f.doc, Required: f.need != ""}
		value := r.probe(&key.Shape)
		shape.Keys = append(shape.Keys, key)
		f.read(value)
	}
	return true
}

// describeEither shows a probe to each of two ways of reading.
func (r *reader) describeEither(n *yaml.Node, ways ...func(*yaml.Node)) {
	r.asks(n, ShapeEither)
	shape := r.asked[n]
	for _, read := range ways {
		var one *Shape
		read(r.probe(&one))
		shape.Either = append(shape.Either, one)
	}
}

// oneOrMoreProbes describes a value that may stand alone or in a list.
func (r *reader) oneOrMoreProbes(n *yaml.Node) []*yaml.Node {
	r.asks(n, ShapeEither)
	list := &Shape{Kind: ShapeList, Least: 1}
	one := r.probe(&list.Values)
	r.asked[n].Either = []*Shape{list.Values, list}
	return []*yaml.Node{one}
}

// nonEmpty notes that a list or mapping needs an entry.
func (r *reader) nonEmpty(n *yaml.Node) {
	if shape := r.asked[n]; shape != nil {
		shape.Least = 1
	}
}

// absent says whether nothing stands in a place where that is allowed.
func (r *reader) absent(n *yaml.Node) bool {
	if shape := r.asked[n]; shape != nil {
		shape.Optional = true
		return false
	}
	return isEmpty(r.follow(n))
}

// again is true at a probe whose shape is being described already.
func (r *reader) again(n *yaml.Node, name string) bool {
	shape := r.asked[n]
	if shape == nil {
		return false
	}
	if _, known := r.recursive[name]; known {
		shape.Kind, shape.Name = ShapeSame, name
		return true
	}
	shape.Name = name
	r.recursive[name] = shape
	return false
}

// asksChoice notes the words that are asked for.
func (r *reader) asksChoice(n *yaml.Node, choices []string) bool {
	if !r.asks(n, ShapeChoice) {
		return false
	}
	r.asked[n].Choices = choices
	return true
}

// asksNumber notes bounds besides a kind.
func (r *reader) asksNumber(n *yaml.Node, kind ShapeKind, least, most float64) bool {
	if !r.asks(n, kind) {
		return false
	}
	r.asked[n].Bounds = &Bounds{Least: least, Most: most}
	return true
}

// bounded notes the bounds of a number that has been asked for.
func (r *reader) bounded(n *yaml.Node, b Bounds) {
	if shape := r.asked[n]; shape != nil {
		shape.Bounds = &b
	}
}

// byDefault notes what holds where nothing is written.
func (r *reader) byDefault(n *yaml.Node, text string) {
	if shape := r.asked[n]; shape != nil {
		shape.Default = text
	}
}

func (r *reader) integerByDefault(n *yaml.Node, value, least int) {
	if value >= least {
		r.byDefault(n, strconv.Itoa(value))
	}
}

func (r *reader) durationByDefault(n *yaml.Node, value time.Duration, zero bool) {
	if shape := r.asked[n]; shape != nil {
		shape.Zero = zero
		if zero || value > 0 {
			shape.Default = writeDuration(value)
		}
	}
}

// writeDuration is a duration as people write it: 5m and not 5m0s.
func writeDuration(value time.Duration) string {
	if value >= day && value%day == 0 {
		return fmt.Sprintf("%dd", value/day)
	}
	text := value.String()
	if value >= time.Minute {
		text = strings.TrimSuffix(text, "0s")
	}
	if value >= time.Hour {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// writeSize is a number of bytes with the greatest unit of which it is a multiple.
func writeSize(bytes int64) string {
	best, name := int64(0), ""
	for unit, size := range sizeUnits {
		if bytes%size == 0 && size > best {
			best, name = size, unit
		}
	}
	if bytes == 0 || best == 0 {
		return "0"
	}
	return fmt.Sprint(bytes/best) + name
}

// textByDefault notes a text that is not empty.
func (r *reader) textByDefault(n *yaml.Node, text string) {
	if text != "" {
		r.byDefault(n, text)
	}
}

// Paths are the shape's keys with those below them, as in upstream.owner.host; * stands
// for a name that the operator chooses, and [] for the entries of a list. Visit is called
// with each key's path, in the reference's order.
func (s *Shape) Paths(visit func(path string, k Key)) { s.paths("", visit) }

func (s *Shape) paths(at string, visit func(string, Key)) {
	switch s.Kind {
	case ShapeMapping:
		for _, k := range s.Keys {
			path := strings.TrimPrefix(at+"."+k.Name, ".")
			visit(path, k)
			k.Shape.paths(path, visit)
		}
	case ShapeNames:
		s.Values.paths(at+".*", visit)
	case ShapeList:
		s.Values.paths(at+"[]", visit)
	case ShapeEither:
		for _, one := range s.Either {
			one.paths(at, visit)
		}
	}
}
