package rewrite

import (
	"sync"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// inner is a field that holds messages.
type inner struct {
	field protoreflect.FieldDescriptor
	name  protoreflect.Name
	list  bool
}

// held are the fields of a type that hold messages, in their order.
type held struct {
	fields []inner
	// choice has all of these fields, so that one of them at most is set; nil if there is none.
	choice protoreflect.OneofDescriptor
	// chosen is each of these fields alone, by its number.
	chosen map[protoreflect.FieldNumber][]inner
}

// heldFields are the fields of every type of the tree. They are looked up once: asking a descriptor
// for each of its fields costs more than visiting them.
var heldFields = sync.OnceValue(func() map[protoreflect.MessageDescriptor]held {
	known := make(map[protoreflect.MessageDescriptor]held)
	var add func(protoreflect.MessageDescriptor)
	add = func(of protoreflect.MessageDescriptor) {
		if _, ok := known[of]; ok {
			return
		}
		known[of] = held{} // a type holds itself
		known[of] = heldBy(of)
		for _, f := range known[of].fields {
			add(f.field.Message())
		}
	}
	add((&pg.ParseResult{}).ProtoReflect().Descriptor())
	return known
})

func heldBy(of protoreflect.MessageDescriptor) held {
	h := held{chosen: make(map[protoreflect.FieldNumber][]inner)}
	choices := make(map[protoreflect.OneofDescriptor]bool) // nil for a field of none
	for i := range of.Fields().Len() {
		field := of.Fields().Get(i)
		if field.Message() == nil {
			continue
		}
		one := inner{field: field, name: field.Name(), list: field.IsList()}
		h.fields = append(h.fields, one)
		h.chosen[field.Number()] = []inner{one}
		h.choice = field.ContainingOneof()
		choices[h.choice] = true
	}
	if len(choices) > 1 {
		h.choice = nil
	}
	return h
}

// innerFields are the fields of a message that may hold messages, in their order. A node is one of
// some 250 types: it is asked which, and not for each of them whether it is that.
func innerFields(m protoreflect.Message) []inner {
	h := heldFields()[m.Descriptor()]
	if h.choice == nil {
		return h.fields
	}
	if field := m.WhichOneof(h.choice); field != nil {
		return h.chosen[field.Number()]
	}
	return nil
}

// each visits the messages that a message holds, in the order of its fields.
func each(m protoreflect.Message, visit func(protoreflect.Message) error) error {
	for _, f := range innerFields(m) {
		switch {
		case !m.Has(f.field):
		case f.list:
			list := m.Get(f.field).List()
			for i := range list.Len() {
				if err := visit(list.Get(i).Message()); err != nil {
					return err
				}
			}
		default:
			if err := visit(m.Get(f.field).Message()); err != nil {
				return err
			}
		}
	}
	return nil
}
