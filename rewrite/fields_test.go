package rewrite

import (
	"errors"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// TestInnerFields has a message of every type of the tree hold one message in turn, in each of its
// fields: exactly that one is visited.
func TestInnerFields(t *testing.T) {
	known := make(map[protoreflect.MessageDescriptor]bool)
	visited := 0
	var try func(protoreflect.MessageType)
	try = func(of protoreflect.MessageType) {
		if known[of.Descriptor()] {
			return
		}
		known[of.Descriptor()] = true
		for i := range of.Descriptor().Fields().Len() {
			field := of.Descriptor().Fields().Get(i)
			if field.Message() == nil {
				continue
			}
			m := of.New()
			var below protoreflect.Message
			if field.IsList() {
				below = m.Mutable(field).List().AppendMutable().Message()
			} else {
				below = m.Mutable(field).Message()
			}
			var got []protoreflect.Message
			_ = each(m, func(inner protoreflect.Message) error { got = append(got, inner); return nil })
			if len(got) != 1 || got[0].Interface() != below.Interface() {
				t.Errorf("%s: %d messages are visited in %s", of.Descriptor().Name(), len(got), field.Name())
			}
			visited++
			try(below.Type())
		}
		if empty := of.New(); each(empty, func(protoreflect.Message) error { return errors.New("visited") }) != nil {
			t.Errorf("%s: a message is visited that is not there", of.Descriptor().Name())
		}
	}
	try((&pg.ParseResult{}).ProtoReflect().Type())
	if len(known) < 200 || visited < 500 {
		t.Errorf("%d types with %d fields were tried", len(known), visited)
	}
}
