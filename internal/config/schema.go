package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Schema is the JSON Schema (draft 2020-12) of a shape, indented and with the keys in the
// reader's order. It takes whatever the reader takes, as a YAML parser gives it: a name may
// then be a number, or null. What a schema cannot say, such as which settings contradict
// one another, is left to the reader.
func Schema(title string, s *Shape) ([]byte, error) {
	w := schemaWriter{definitions: object{}}
	root := append(object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"title", title},
	}, w.schema(s)...)
	if len(w.definitions) > 0 {
		root = append(root, member{"$defs", w.definitions})
	}
	var compact, text bytes.Buffer
	encoder := json.NewEncoder(&compact)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(root); err != nil {
		return nil, fmt.Errorf("writing the schema: %w", err)
	}
	if err := json.Indent(&text, compact.Bytes(), "", "  "); err != nil {
		return nil, fmt.Errorf("writing the schema: %w", err)
	}
	return text.Bytes(), nil
}

// object is a JSON object with its members in their order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON keeps the order of the members.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := encoder.Encode(m.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := encoder.Encode(m.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// The patterns of texts that stand for quantities. Shorter than a millisecond is refused
// by the reader, and so is zero where it means nothing.
const (
	durationPattern = `^\+?([0-9]{1,5}d)?((([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)?$`
	sizePattern     = `^[0-9]{1,18} ?(B|kB|MB|GB|TB)$`
)

type schemaWriter struct{ definitions object }

// schema is what a shape asks for; shapes that contain themselves are defined once.
func (w *schemaWriter) schema(s *Shape) object {
	if s.Name == "" {
		return w.optional(s, w.body(s))
	}
	reference := object{{"$ref", "#/$defs/" + s.Name}}
	if s.Kind != ShapeSame {
		w.definitions = append(w.definitions, member{s.Name, w.body(s)})
	}
	return w.optional(s, reference)
}

func (w *schemaWriter) optional(s *Shape, of object) object {
	if !s.Optional {
		return of
	}
	return object{{"anyOf", []object{of, {{"type", "null"}}}}}
}

func (w *schemaWriter) body(s *Shape) object {
	switch s.Kind {
	case ShapeMapping:
		return w.mapping(s)
	case ShapeNames:
		names := object{{"type", "object"}, {"additionalProperties", w.schema(s.Values)}}
		if s.Pattern.match != "" {
			names = append(names, member{"propertyNames", s.Pattern.schema(nil)})
		}
		return append(names, least("minProperties", s.Least)...)
	case ShapeList:
		return append(object{{"type", "array"}, {"items", w.schema(s.Values)}}, least("minItems", s.Least)...)
	case ShapeEither:
		var any []object
		for _, one := range s.Either {
			any = append(any, w.schema(one))
		}
		return object{{"anyOf", any}}
	}
	return scalarSchema(s)
}

func (w *schemaWriter) mapping(s *Shape) object {
	properties, required := object{}, []string{}
	for _, k := range s.Keys {
		about := object{{"description", k.Doc}}
		if k.Shape.Default != "" {
			about = append(about, member{"default", defaultValue(k.Shape)})
		}
		properties = append(properties, member{k.Name, append(about, w.schema(k.Shape)...)})
		if k.Required {
			required = append(required, k.Name)
		}
	}
	of := object{{"type", "object"}, {"properties", properties}}
	if len(required) > 0 {
		of = append(of, member{"required", required})
	}
	of = append(of, s.requiredUnless()...)
	return append(of, member{"additionalProperties", false})
}

// requiredUnless asks for keys of entries where another key of the mapping is missing.
func (s *Shape) requiredUnless() object {
	for _, names := range s.Keys {
		if names.Shape.Kind != ShapeNames {
			continue
		}
		var required []string
		unless := ""
		for _, k := range names.Shape.Values.Keys {
			if k.Unless != "" {
				required, unless = append(required, k.Name), k.Unless
			}
		}
		if unless != "" {
			entries := object{{"additionalProperties", object{{"required", required}}}}
			return object{{"anyOf", []object{{{"required", []string{unless}}}, {{"properties", object{{names.Name, entries}}}}}}}
		}
	}
	return nil
}

func least(word string, n int) object {
	if n == 0 {
		return nil
	}
	return object{{word, n}}
}

func scalarSchema(s *Shape) object {
	switch s.Kind {
	case ShapeChoice:
		return object{{"enum", s.Choices}}
	case ShapeInteger:
		return append(object{{"type", "integer"}}, boundsSchema(s.Bounds)...)
	case ShapeNumber:
		return append(object{{"type", "number"}}, boundsSchema(s.Bounds)...)
	case ShapeShare:
		percent := pattern{match: sharePattern}
		if s.Bounds.Above {
			percent.not = zeroSharePattern
		}
		return object{{"anyOf", []object{append(object{{"type", "number"}}, boundsSchema(s.Bounds)...), percent.schema(object{{"type", "string"}})}}}
	case ShapeBool:
		return object{{"type", "boolean"}}
	case ShapeDuration:
		text := object{{"type", "string"}, {"pattern", durationPattern}, {"minLength", 1}}
		if !s.Zero {
			return text
		}
		return object{{"anyOf", []object{text, {{"const", 0}}}}}
	case ShapeSize:
		return object{{"anyOf", []object{{{"type", "string"}, {"pattern", sizePattern}}, {{"const", 0}}}}}
	case ShapeName:
		return s.Pattern.schema(object{{"type", s.Pattern.types("string", "number", "boolean", "null")}, {"minLength", 1}, {"maxLength", longestNameBytes}})
	case ShapeLiteral:
		return s.Pattern.schema(object{{"type", s.Pattern.types("string", "number", "boolean", "null")}, {"minLength", 1}})
	default:
		return s.Pattern.schema(object{{"type", s.Pattern.types("string", "number", "boolean")}, {"minLength", 1}})
	}
}

// schema adds what is said of texts to a schema.
func (p pattern) schema(of object) object {
	if p.match != "" {
		of = append(of, member{"pattern", p.match})
	}
	if p.not != "" {
		of = append(of, member{"not", object{{"type", "string"}, {"pattern", p.not}}})
	}
	return of
}

// types are those of a list that a text can become where YAML reads it without quotes.
func (p pattern) types(list ...string) []string {
	if p.match == "" {
		return list
	}
	as := regexp.MustCompile(p.match)
	possible := []string{"string"}
	for _, kind := range list {
		switch {
		case kind == "number" && as.MatchString("2.5"), kind == "boolean" && as.MatchString("true"), kind == "null" && as.MatchString("null"):
			possible = append(possible, kind)
		case kind == "number" && as.MatchString("777"):
			possible = append(possible, "integer")
		}
	}
	return possible
}

func boundsSchema(b *Bounds) object {
	if b == nil {
		return nil
	}
	least, most := "minimum", "maximum"
	if b.Above {
		least = "exclusiveMinimum"
	}
	if b.Below {
		most = "exclusiveMaximum"
	}
	return object{{least, b.Least}, {most, b.Most}}
}

// defaultValue is a default as JSON has it.
func defaultValue(s *Shape) any {
	switch s.Kind {
	case ShapeInteger, ShapeBool:
		return json.RawMessage(s.Default)
	}
	return s.Default
}

// Words says in a few words what may be written in a shape's place.
func (s *Shape) Words() string {
	words, simple := map[ShapeKind]string{
		ShapeMapping: "a mapping", ShapeNames: "a mapping by names", ShapeText: "a text", ShapeLiteral: "a text", ShapeName: "a name",
		ShapeNumber: "a number", ShapeShare: "a share, as in 0.1 or 10%", ShapeBool: "true or false",
		ShapeDuration: "a duration, as in 500ms, 1h30m or 7d", ShapeSize: "a size, as in 512MB or 10GB", ShapeInteger: "a whole number", ShapeSame: "the same",
	}[s.Kind]
	switch {
	case s.Kind == ShapeChoice:
		return enumerate(s.Choices)
	case s.Kind == ShapeEither:
		return s.eitherWords()
	case s.Kind == ShapeList:
		if s.Values.Kind == ShapeMapping {
			return "a list of mappings"
		}
		return "a list, each " + s.Values.Words()
	case s.Bounds != nil && s.Kind != ShapeShare:
		return words + " " + s.Bounds.String()
	case !simple:
		return "a value"
	}
	return words
}

func (s *Shape) eitherWords() string {
	var ways []string
	for _, one := range s.Either {
		way := one.Words()
		if one.Kind == ShapeList && slices.Contains(s.Either, one.Values) {
			way = "a list of such"
		}
		if !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
	}
	return strings.Join(ways, ", or ")
}
