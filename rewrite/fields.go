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
