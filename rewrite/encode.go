package rewrite

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pganalyze/pg_query_go/v5/parser"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// encode parses a text and gives the tree in protobuf's encoding, as
// parser.ParseToProtobuf does. libpg_query writes a tree as JSON in a fifth of the
// time that it takes for protobuf, whose objects it fills, measures and packs one by
// one; so it is asked for JSON, which is encoded here. Both are written by the same
// generated functions. JSON leaves out integers below zero; where it leaves one out, or
// holds anything unforeseen, the slow way is taken.
func encode(sql string) ([]byte, error) {
	json, err := parser.ParseToJSON(sql)
	if err != nil {
		return nil, err
	}
	e := encoder{json: json, text: sql, wire: make([]byte, 0, len(json)/2)}
	if e.message(treePlan()) && e.json == "" {
		return e.wire, nil
	}
	return parser.ParseToProtobuf(sql)
}

// encoder turns libpg_query's JSON into protobuf's encoding. Its functions are false
// where they are not sure.
type encoder struct {
	json string // what is still to be read
	text string // what the JSON is the tree of
	wire []byte // what was written
}

func (e *encoder) eat(literal string) bool {
	if !strings.HasPrefix(e.json, literal) {
		return false
	}
	e.json = e.json[len(literal):]
	return true
}

// message encodes an object.
func (e *encoder) message(plan *messagePlan) bool {
	if !e.eat("{") {
		return false
	}
	if e.eat("}") {
		return !plan.integer || e.zero()
	}
	for {
		key, ok := e.word()
		field := plan.byKey[key]
		if !ok || field == nil || !e.eat(":") {
			return false
		}
		if field.list {
			ok = e.list(field)
		} else {
			ok = e.field(field)
		}
		if !ok {
			return false
		}
		if !e.eat(",") {
			return e.eat("}")
		}
	}
}

// word takes a quoted text without escapes.
func (e *encoder) word() (string, bool) {
	if !e.eat(`"`) {
		return "", false
	}
	end := strings.IndexByte(e.json, '"')
	if end < 0 {
		return "", false
	}
	word := e.json[:end]
	e.json = e.json[end+1:]
	return word, strings.IndexByte(word, '\\') < 0
}

func (e *encoder) list(field *fieldPlan) bool {
	if field.kind != protoreflect.MessageKind || !e.eat("[") {
		return false
	}
	if e.eat("]") {
		return true
	}
	for {
		if !e.field(field) {
			return false
		}
		if !e.eat(",") {
			return e.eat("]")
		}
	}
}

// field encodes a field's value, or one of its values. What is zero is left out, as
// protobuf has it.
func (e *encoder) field(field *fieldPlan) bool {
	switch field.kind {
	case protoreflect.MessageKind:
		e.wire = append(e.wire, field.tag...)
		return e.sized(func() bool { return e.message(field.message) })
	case protoreflect.StringKind:
		if e.eat(`""`) {
			return true
		}
		e.wire = append(e.wire, field.tag...)
		return e.sized(e.string)
	case protoreflect.EnumKind:
		name, ok := e.word()
		number, known := field.enum[name]
		e.varint(field, number)
		return ok && known
	case protoreflect.BoolKind:
		if e.eat("true") {
			e.varint(field, 1)
			return true
		}
		return e.eat("false")
	case protoreflect.Int32Kind, protoreflect.Int64Kind, protoreflect.Uint32Kind:
		n := 0
		for n < len(e.json) && (e.json[n] == '-' || e.json[n] >= '0' && e.json[n] <= '9') {
			n++
		}
		number, err := strconv.ParseInt(e.json[:n], 10, 64)
		e.json = e.json[n:]
		e.varint(field, uint64(number))
		return err == nil
	}
	return false
}

func (e *encoder) varint(field *fieldPlan, number uint64) {
	if number != 0 {
		e.wire = append(e.wire, field.tag...)
		e.wire = protowire.AppendVarint(e.wire, number)
	}
}

// sized puts its length before what is written. Nearly always that takes one byte.
func (e *encoder) sized(write func() bool) bool {
	e.wire = append(e.wire, 0)
	start := len(e.wire)
	if !write() {
		return false
	}
	size := len(e.wire) - start
	if size < 1<<7 {
		e.wire[start-1] = byte(size)
		return true
	}
	var digits [10]byte
	prefix := protowire.AppendVarint(digits[:0], uint64(size))
	e.wire = append(e.wire, prefix[1:]...) // makes room
	copy(e.wire[start+len(prefix)-1:], e.wire[start:start+size])
	copy(e.wire[start-1:], prefix)
	return true
}

// string encodes a quoted text.
func (e *encoder) string() bool {
	if !e.eat(`"`) {
		return false
	}
	start := len(e.wire)
	for {
		n := 0
		for n < len(e.json) && e.json[n] != '"' && e.json[n] != '\\' {
			n++
		}
		e.wire = append(e.wire, e.json[:n]...)
		e.json = e.json[n:]
		if e.eat(`"`) {
			return utf8.Valid(e.wire[start:])
		}
		b, n := unescaped(e.json)
		if n == 0 {
			return false
		}
		e.wire = append(e.wire, b)
		e.json = e.json[n:]
	}
}

// unescaped is the byte that an escape at the beginning stands for, and the escape's
// length; 0 if there is none. The parser writes \u for single bytes only.
func unescaped(json string) (b byte, n int) {
	if len(json) < 2 || json[0] != '\\' {
		return 0, 0
	}
	switch json[1] {
	case '"', '\\':
		return json[1], 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		if len(json) < 6 {
			return 0, 0
		}
		code, err := strconv.ParseUint(json[2:6], 16, 7)
		if err != nil {
			return 0, 0
		}
		return byte(code), 6
	}
	return 0, 0
}

// zero says that an integer whose JSON is empty is zero and none below: its constant
// stands in the text as 0.
func (e *encoder) zero() bool {
	digits, ok := strings.CutPrefix(e.json, `,"location":`)
	end := strings.IndexByte(digits, '}')
	if !ok || end < 0 {
		return false
	}
	at, err := strconv.Atoi(digits[:end])
	if err != nil || at < 0 || at >= len(e.text) || e.text[at] != '0' {
		return false
	}
	return at+1 == len(e.text) || !isNumeral[e.text[at+1]]
}
