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

// innerFields are the fields of every type of the tree that hold messages, in their
// order. They are looked up once: asking a descriptor for each of its fields costs more
// than visiting them.
var innerFields = sync.OnceValue(func() map[protoreflect.MessageDescriptor][]inner {
	known := make(map[protoreflect.MessageDescriptor][]inner)
	var add func(protoreflect.MessageDescriptor)
	add = func(of protoreflect.MessageDescriptor) {
		if _, ok := known[of]; ok {
			return
		}
		known[of] = nil
		var fields []inner
		for i := range of.Fields().Len() {
			if field := of.Fields().Get(i); field.Message() != nil {
				fields = append(fields, inner{field: field, name: field.Name(), list: field.IsList()})
				add(field.Message())
			}
		}
		known[of] = fields
	}
	add((&pg.ParseResult{}).ProtoReflect().Descriptor())
	return known
})

// each visits the messages that a message holds, in the order of its fields.
func each(m protoreflect.Message, visit func(protoreflect.Message) error) error {
	for _, f := range innerFields()[m.Descriptor()] {
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
