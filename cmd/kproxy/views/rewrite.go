package views

import (
	"crypto/sha256"
	"fmt"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/rewrite"
)

// rewritings keep what views' definitions were rewritten to: views are looked at every
// few seconds, and hardly ever change.
type rewritings struct {
	rewriter *rewrite.Rewriter
	// snapshot is the one whose types and functions definitions may name.
	snapshot   *catalog.Snapshot
	last, next map[[sha256.Size]byte]rewriting
}

// rewriting is what came of one definition.
type rewriting struct {
	published rewrite.PublishedView
	err       error
}

// under are the rewritings that hold with a rewriter and the snapshot it was given.
func (r rewritings) under(rewriter *rewrite.Rewriter, snapshot *catalog.Snapshot) rewritings {
	if r.rewriter != rewriter || r.snapshot != snapshot {
		return rewritings{rewriter: rewriter, snapshot: snapshot}
	}
	return r
}

// rewrite is [rewrite.Rewriter.RewriteView], once for everything that it depends on.
func (r *rewritings) rewrite(v catalog.View, relations map[catalog.Name]rewrite.ViewRelation) (rewrite.PublishedView, error) {
	on := fmt.Appendf(nil, "%q %q", v.Definition, v.Columns)
	for _, name := range v.Reads {
		if relation, given := relations[name]; given {
			on = fmt.Appendf(on, " %q %q %q %q %q", name.SQL(), relation.Target.SQL(), relation.Columns, relation.Published, relation.Query)
		}
	}
	key := sha256.Sum256(on)
	known, is := r.last[key]
	if !is {
		known.published, known.err = r.rewriter.RewriteView(v.Definition, v.Columns, relations)
	}
	if r.next == nil {
		r.next = make(map[[sha256.Size]byte]rewriting)
	}
	r.next[key] = known
	return known.published, known.err
}

// forget leaves out what was not asked for since it was called last.
func (r *rewritings) forget() { r.last, r.next = r.next, nil }
