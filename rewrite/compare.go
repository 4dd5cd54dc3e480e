package rewrite

import (
	"bytes"
	"sync"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// positions are the fields that hold byte offsets, which differ between two texts of
// one meaning.
var positions = map[protoreflect.Name]bool{"location": true, "stmt_location": true, "stmt_len": true}

// messagePlan is what is to be known of a type of the tree to read its encoding.
type messagePlan struct {
	byNumber []*fieldPlan
	byKey    map[string]*fieldPlan // as JSON has it: targetList
	// integer is for the type whose value JSON may leave out.
	integer bool
}

type fieldPlan struct {
	tag      []byte
	kind     protoreflect.Kind
	list     bool
	position bool
	message  *messagePlan
	enum     map[string]uint64
}

// treePlan is the plan for a whole parse result.
var treePlan = sync.OnceValue(func() *messagePlan {
	return planOf((&pg.ParseResult{}).ProtoReflect().Descriptor(), make(map[protoreflect.FullName]*messagePlan))
})

func planOf(of protoreflect.MessageDescriptor, known map[protoreflect.FullName]*messagePlan) *messagePlan {
	if plan := known[of.FullName()]; plan != nil {
		return plan
	}
	plan := &messagePlan{byKey: make(map[string]*fieldPlan), integer: of.Name() == "Integer"}
	known[of.FullName()] = plan
	for i := range of.Fields().Len() {
		field := of.Fields().Get(i)
		form := protowire.VarintType
		if field.Kind() == protoreflect.MessageKind || field.Kind() == protoreflect.StringKind {
			form = protowire.BytesType
		}
		f := &fieldPlan{
			tag: protowire.AppendTag(nil, field.Number(), form), kind: field.Kind(), list: field.IsList(), position: positions[field.Name()],
		}
		if field.Message() != nil {
			f.message = planOf(field.Message(), known)
		}
		if field.Enum() != nil {
			f.enum = make(map[string]uint64)
			for j := range field.Enum().Values().Len() {
				value := field.Enum().Values().Get(j)
				f.enum[string(value.Name())] = uint64(value.Number())
			}
		}
		for len(plan.byNumber) <= int(field.Number()) {
			plan.byNumber = append(plan.byNumber, nil)
		}
		plan.byNumber[field.Number()], plan.byKey[field.JSONName()] = f, f
	}
	return plan
}

// same says that two encoded trees are the same in all but positions. Both have their
// fields in the order of their numbers; others are never the same.
func same(plan *messagePlan, a, b []byte) bool {
	for {
		x, restA, okA := nextField(plan, a)
		y, restB, okB := nextField(plan, b)
		if !okA || !okB || x.plan != y.plan {
			return false
		}
		if x.plan == nil { // both have ended
			return true
		}
		if x.plan.message == nil && !bytes.Equal(x.value, y.value) || x.plan.message != nil && !same(x.plan.message, x.value, y.value) {
			return false
		}
		a, b = restA, restB
	}
}

// encodedField is a field with its value: the content of a message, the bytes of any
// other.
type encodedField struct {
	plan  *fieldPlan
	value []byte
}

// nextField takes the next field that is no position; one without plan is the end.
func nextField(plan *messagePlan, wire []byte) (f encodedField, rest []byte, ok bool) {
	for len(wire) > 0 {
		number, form, n := protowire.ConsumeTag(wire)
		if n < 0 || int(number) >= len(plan.byNumber) || plan.byNumber[number] == nil {
			return f, nil, false
		}
		f.plan, wire = plan.byNumber[number], wire[n:]
		switch form {
		case protowire.VarintType:
			_, n = protowire.ConsumeVarint(wire)
		case protowire.BytesType:
			f.value, n = protowire.ConsumeBytes(wire)
		default:
			n = -1
		}
		if n < 0 || (form == protowire.BytesType) != (f.plan.kind == protoreflect.MessageKind || f.plan.kind == protoreflect.StringKind) {
			return f, nil, false
		}
		if form == protowire.VarintType {
			f.value = wire[:n]
		}
		wire = wire[n:]
		if !f.plan.position {
			return f, wire, true
		}
	}
	return encodedField{}, nil, true
}
