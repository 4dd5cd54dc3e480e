package rewrite

import (
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Position is the place in the client's text that a place in the text that was sent for
// it stands for: both are counted in characters from 1, as in the protocol's error
// fields. It is 0 where the text does not lead there. The places that a parse tree
// knows, to which nearly all of PostgreSQL's messages point, are found exactly; any
// other is taken for the last one before it.
//
// The text is rewritten once more for that: errors are rare, and a map of positions
// would cost every text.
func (r *Rewriter) Position(sql string, s *Session, sent int) int {
	if sent <= 0 {
		return 0
	}
	done, err := r.rewrite(sql, s, r.current.Load().snapshot)
	if err != nil {
		return 0
	}
	again, err := pg.Parse(done.statement.SQL)
	if err != nil {
		return 0
	}
	found := nearest{to: byteOffset(done.statement.SQL, sent)}
	found.pair(done.tree.ProtoReflect(), again.ProtoReflect(), 0)
	if found.client <= 0 || int(found.client) > len(sql) {
		return 0
	}
	return utf8.RuneCountInString(sql[:found.client]) + 1
}

// byteOffset is where the n-th character of a text begins, counted from 1.
func byteOffset(text string, n int) int32 {
	for i := range text {
		if n--; n == 0 {
			return int32(i)
		}
	}
	return int32(len(text))
}

// nearest looks for the last place before one in the text that was sent.
type nearest struct {
	to int32
	// sent and client are the best pair so far, as byte offsets.
	sent, client int32
}

// pair goes through a checked tree and that of the text that was written for it, which
// are the same but for their places. What kproxy put into the tree has the place of
// what it stands for, which is above it. Of several nodes at one place (a + b begins
// where a does) the innermost counts: it is the one that messages point at.
func (f *nearest) pair(checked, sent protoreflect.Message, above int32) {
	if checked.Descriptor() != sent.Descriptor() {
		return
	}
	if field := checked.Descriptor().Fields().ByName("location"); field != nil {
		client, here := clientLocation(int32(checked.Get(field).Int())), int32(sent.Get(field).Int())
		if client <= 0 {
			client = above
		}
		if client > 0 && here >= 0 && here <= f.to && here >= f.sent {
			f.sent, f.client = here, client
		}
		above = client
	}
	for _, inner := range innerFields(checked) {
		switch {
		case !checked.Has(inner.field) || !sent.Has(inner.field):
		case !inner.list:
			f.pair(checked.Get(inner.field).Message(), sent.Get(inner.field).Message(), above)
		default:
			a, b := checked.Get(inner.field).List(), sent.Get(inner.field).List()
			for i := range min(a.Len(), b.Len()) {
				f.pair(a.Get(i).Message(), b.Get(i).Message(), above)
			}
		}
	}
}

// keepLocation gives a node that took the place of a call or a cast the location of
// that. It hands on the error of what was done in between.
func keepLocation(n *pg.Node, location int32, err error) error {
	switch n := n.GetNode().(type) {
	case *pg.Node_SubLink:
		n.SubLink.Location = locationOr(n.SubLink.Location, location)
	case *pg.Node_FuncCall:
		n.FuncCall.Location = locationOr(n.FuncCall.Location, location)
	case *pg.Node_TypeCast:
		n.TypeCast.Location = locationOr(n.TypeCast.Location, location)
	case *pg.Node_AConst:
		n.AConst.Location = locationOr(n.AConst.Location, location)
	}
	return err
}

// leftmost is where a cast begins: value::type has the place of its colons.
func leftmost(n *pg.TypeCast) int32 {
	if value := placeOf(n.GetArg()); value >= 0 {
		return min(value, n.GetLocation())
	}
	return n.GetLocation()
}

// locationOr is a location, or the other where there is none.
func locationOr(location, other int32) int32 {
	if location == 0 {
		return other
	}
	return location
}
