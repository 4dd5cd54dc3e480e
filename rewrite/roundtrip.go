package rewrite

import (
	"errors"

	pg "github.com/pganalyze/pg_query_go/v5"
	"github.com/pganalyze/pg_query_go/v5/parser"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

func parse(sql string) (*pg.ParseResult, error) {
	tree, err := pg.Parse(sql)
	if err != nil {
		return nil, syntaxError(err)
	}
	return tree, nil
}

// syntaxError passes the parser's message on: it is PostgreSQL's own wording and
// speaks of the client's text only.
func syntaxError(err error) *Refusal {
	var parseError *parser.Error
	if !errors.As(err, &parseError) {
		return refuse(stateTooComplex, "Split the query.", "the query is too complex")
	}
	r := refuse(stateSyntax, "kproxy reads the syntax of PostgreSQL 16.", "%s", parseError.Message)
	r.position = parseError.Cursorpos
	return r
}

// deparse writes the checked tree as SQL and makes sure that the text means that
// tree: the deparser is a second grammar and has defects. Some of them are missing
// parentheses, hence the second attempt.
func deparse(tree *pg.ParseResult) (string, error) {
	if len(tree.GetStmts()) == 0 {
		return "", nil
	}
	if text, ok := faithful(tree, tree); ok {
		return text, nil
	}
	clone := proto.Clone(tree).(*pg.ParseResult)
	parenthesize(clone.ProtoReflect())
	if text, ok := faithful(clone, tree); ok {
		return text, nil
	}
	return "", refuse(stateInternal, "Write the statement in another way.", "kproxy cannot write this statement faithfully")
}

// faithful writes a tree and says whether the text means the checked one.
func faithful(written, checked *pg.ParseResult) (string, bool) {
	text, err := pg.Deparse(written)
	if err != nil {
		return "", false
	}
	again, err := pg.Parse(text)
	if err != nil {
		return "", false
	}
	return text, same(checked.ProtoReflect(), again.ProtoReflect())
}

// positions are the fields that hold byte offsets, which differ between two texts
// of one meaning.
var positions = map[protoreflect.Name]bool{"location": true, "stmt_location": true, "stmt_len": true}

// same compares two trees in everything but positions.
func same(a, b protoreflect.Message) bool {
	if a.Descriptor() != b.Descriptor() || len(a.GetUnknown()) != 0 || len(b.GetUnknown()) != 0 {
		return false
	}
	if oneofs := a.Descriptor().Oneofs(); oneofs.Len() == 1 {
		// Node has one field set of nearly three hundred; the other oneof, A_Const's
		// value, stands beside a plain field.
		field := a.WhichOneof(oneofs.Get(0))
		if field != b.WhichOneof(oneofs.Get(0)) {
			return false
		}
		if _, isNode := a.Interface().(*pg.Node); isNode {
			return field == nil || same(a.Get(field).Message(), b.Get(field).Message())
		}
	}
	fields := a.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if !positions[field.Name()] && !sameField(a, b, field) {
			return false
		}
	}
	return true
}

func sameField(a, b protoreflect.Message, field protoreflect.FieldDescriptor) bool {
	switch {
	case a.Has(field) != b.Has(field):
		return false
	case !a.Has(field):
		return true
	case field.Message() == nil && !field.IsList():
		return a.Get(field).Equal(b.Get(field))
	case !field.IsList():
		return same(a.Get(field).Message(), b.Get(field).Message())
	}
	x, y := a.Get(field).List(), b.Get(field).List()
	if x.Len() != y.Len() {
		return false
	}
	for i := range x.Len() {
		if field.Message() == nil && !x.Get(i).Equal(y.Get(i)) ||
			field.Message() != nil && !same(x.Get(i).Message(), y.Get(i).Message()) {
			return false
		}
	}
	return true
}
