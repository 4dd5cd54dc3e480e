package nested

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

const (
	// mostTraders is how many near groups a group trades classes with, and mostOfAll where all groups changed, as at first.
	mostTraders = 4
	mostOfAll   = 12
	// tradeSweeps is how often all classes of two groups are compared at most.
	tradeSweeps = 2
	// enough is a gain that rounding cannot pretend.
	enough = 1e-9
)

// trade has groups that changed exchange classes with near ones that did, too, and give them some, where more is known of classes than
// labels say (Options.Loss). Other groups stay as they are. A group looks at a bounded number of others.
func (g *Groups) trade(ctx context.Context) error {
	if g.o.Loss == nil {
		return nil
	}
	most, traded := mostTraders, make(map[[2]incremental.ClassID]struct{})
	if len(g.changed) == len(g.groups) {
		most = mostOfAll
	}
	for _, id := range slices.Sorted(maps.Keys(g.changed)) {
		u := g.groups[id]
		for _, other := range g.traders(u, most) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			pair := [2]incremental.ClassID{min(id, other.id), max(id, other.id)}
			if _, twice := traded[pair]; twice {
				continue
			}
			traded[pair] = struct{}{}
			if err := g.tradeWith(u, other); err != nil {
				return err
			}
		}
	}
	return nil
}

// traders are so many groups that changed with which a group loses least by what labels say, of those near.
func (g *Groups) traders(u *union, most int) []*union {
	type trader struct {
		*union
		loss float64
	}
	var found []trader
	x := &g.index
	g.searches++
	u.seen = g.searches
	x.near(u.at, func(other *union) {
		if _, altered := g.changed[other.id]; !altered || other.seen == g.searches {
			return
		}
		other.seen = g.searches
		found = append(found, trader{other, float64(u.size+other.size)*x.lossWith(other, u.labels, u.spans) - float64(other.size)*other.loss})
	})
	slices.SortFunc(found, func(a, b trader) int { return cmp.Or(cmp.Compare(a.loss, b.loss), cmp.Compare(a.id, b.id)) })
	traders := make([]*union, min(most, len(found)))
	for i := range traders {
		traders[i] = found[i].union
	}
	return traders
}

// tradeWith has two groups trade.
func (g *Groups) tradeWith(u, other *union) error {
	t := &trading{of: g, one: slices.Sorted(slices.Values(u.classes)), other: slices.Sorted(slices.Values(other.classes))}
	t.first, t.second = g.o.Loss(t.one), g.o.Loss(t.other)
	before := t.first + t.second
	for range tradeSweeps {
		if !t.exchange() && !t.give() { // give where no exchange helps
			break
		}
	}
	if before-t.first-t.second <= enough {
		return nil
	}
	if err := g.have(u, t.one); err != nil {
		return err
	}
	return g.have(other, t.other)
}

// have gives a group other classes, all of which are in groups.
func (g *Groups) have(u *union, classes []incremental.ClassID) error {
	for _, class := range classes {
		if g.of[class] != u.id {
			g.of[class], g.moved[class] = u.id, struct{}{}
		}
	}
	u.classes = classes
	g.changed[u.id] = struct{}{}
	return g.measure(u)
}

// trading is what two groups would have.
type trading struct {
	of            *Groups
	one, other    []incremental.ClassID
	first, second float64 // what they lose
}

// exchange has two classes change places wherever less is lost then.
func (t *trading) exchange() (changed bool) {
	for x := range t.one {
		for y := range t.other {
			t.one[x], t.other[y] = t.other[y], t.one[x]
			if t.allowed(t.one) && t.allowed(t.other) && t.gains(t.one, t.other) {
				changed = true
				continue
			}
			t.one[x], t.other[y] = t.other[y], t.one[x]
		}
	}
	return changed
}

// give has a class go to the other group wherever less is lost then.
func (t *trading) give() (changed bool) {
	for range 2 {
		for x := 0; x < len(t.one) && len(t.one) > 1; {
			fewer, more := slices.Delete(slices.Clone(t.one), x, x+1), append(slices.Clone(t.other), t.one[x])
			if t.allowed(fewer) && t.of.sizeOf(more) < 2*t.of.k && t.gains(fewer, more) {
				t.one, t.other, changed = fewer, more, true
				continue
			}
			x++
		}
		t.one, t.other, t.first, t.second = t.other, t.one, t.second, t.first
	}
	return changed
}

// gains reports whether groups lose less than those so far, and notes what they lose.
func (t *trading) gains(one, other []incremental.ClassID) bool {
	before := t.first + t.second - enough
	first := t.of.o.Loss(one)
	if first >= before {
		return false
	}
	second := t.of.o.Loss(other)
	if first+second >= before {
		return false
	}
	t.first, t.second = first, second
	return true
}

// allowed reports whether classes satisfy the constraints as a group.
func (t *trading) allowed(classes []incremental.ClassID) bool {
	return t.of.satisfied(&union{classes: classes, size: t.of.sizeOf(classes)})
}

func (g *Groups) sizeOf(classes []incremental.ClassID) (records int) {
	for _, class := range classes {
		records += g.finer.Size(class)
	}
	return records
}
