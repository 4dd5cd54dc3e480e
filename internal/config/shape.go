package config

import "strings"

// Shape is what may stand at a place of a configuration file. [Describe] gets it from the
// code that reads files, so that it is what a file may hold and nothing else.
type Shape struct {
	Kind ShapeKind
	// Keys are those of ShapeMapping, in the order in which the reference has them.
	Keys []Key
	// Values are those of ShapeNames and ShapeList; Least is how few there may be.
	Values *Shape
	Least  int
	// Either are the alternatives of ShapeEither.
	Either []*Shape
	// Choices are those of ShapeChoice.
	Choices []string
	// Bounds are those of ShapeInteger and ShapeNumber, nil where there are none.
	Bounds *Bounds
	// Pattern is that of ShapeText, ShapeName and ShapeLiteral, and of the names of ShapeNames.
	Pattern pattern
	// Zero says that ShapeDuration may be 0.
	Zero bool
	// Default is what holds where nothing is written, as it would be written; empty where
	// there is none, or where it depends on other settings.
	Default string
	// Optional says that nothing may stand in its place.
	Optional bool
	// Name is that of a shape that contains itself: the first to have it is the whole, and
	// the others stand for it.
	Name string
}

// Key is one key of a mapping.
type Key struct {
	Name string
	// Doc says what it is for, its unit and what zero means.
	Doc string
	// Required says that the mapping must have it.
	Required bool
	// Unless is the key beside those of a mapping by names around it whose presence lets
	// this one, which is required otherwise, be missing.
	Unless string
	Shape  *Shape
}

// Bounds are the least and the greatest of numbers. Above and Below say that they are out of
// bounds themselves.
type Bounds struct {
	Least, Most  float64
	Above, Below bool
}

// ShapeKind is the kind of a Shape.
type ShapeKind int

// The kinds.
const (
	shapeUnknown  ShapeKind = iota
	ShapeMapping            // keys that are known
	ShapeNames              // keys that the operator chooses
	ShapeList               // a list
	ShapeEither             // one of several shapes
	ShapeText               // a text on one line; not null
	ShapeLiteral            // a text as it stands there, null included
	ShapeName               // a literal of at most 63 bytes, PostgreSQL's names
	ShapeChoice             // one of several words
	ShapeInteger            // a whole number in decimal digits
	ShapeNumber             // a number in decimal digits
	ShapeShare              // a number, or a number and %
	ShapeBool               // true or false
	ShapeDuration           // a number with its unit, as in 1h30m or 7d
	ShapeSize               // a whole number of bytes with its unit, as in 10GB
	ShapeSame               // the shape of that Name, again
)

// Describe is the shape of a server's configuration.
func Describe() *Shape { return fileSection().shape() }

// DescribePolicy is the shape of a policy file.
func DescribePolicy() *Shape { return policyFileSection().shape() }

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
