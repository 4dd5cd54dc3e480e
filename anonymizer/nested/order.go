package nested

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

const (
	// manyAdded is how many new classes there are at least, and manyShare what part of all classes,
	// that are made groups together instead of one by one.
	manyAdded = 64
	manyShare = 4
	// mostLost is how many groups that lost a class are looked at for each new one.
	mostLost = 16
)

// place gives new classes their groups: that by which the table loses least, of those that have just
// lost a class and of those near.
func (g *Groups) place(ctx context.Context, added []incremental.ClassID) error {
	if len(added) == 0 {
		return nil
	}
	if len(g.groups) == 0 || len(added) >= manyAdded && len(added) > g.finer.Classes()/manyShare {
		return g.gather(ctx, added)
	}
	if err := g.measureDue(); err != nil {
		return err
	}
	for i, class := range added {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		labels, size := g.shown(class), g.finer.Size(class)
		u := g.nearest(labels, size, nil)
		if u == nil {
			g.newGroup([]incremental.ClassID{class})
			continue
		}
		g.enter(u, class)
		u.size += size
		g.label(u, unionOf(g.attributes, u.labels, labels))
	}
	return nil
}

// measureDue has groups that changed show what their classes show, and drops those without any.
func (g *Groups) measureDue() error {
	for _, id := range slices.Clone(g.due) {
		if u := g.groups[id]; u != nil && u.stale {
			if err := g.measure(u); err != nil {
				return err
			}
		}
	}
	g.index.refresh()
	return nil
}

// measure has a group show what its classes show; without any it is gone.
func (g *Groups) measure(u *union) error {
	if len(u.classes) == 0 {
		g.remove(u)
		return nil
	}
	u.size, u.stale = 0, false
	parts := make([][]hierarchy.Generalization, len(u.classes))
	for i, class := range u.classes {
		if parts[i] = g.shown(class); parts[i] == nil {
			return fmt.Errorf("class %d of group %d is not in the partition", class, u.id)
		}
		u.size += g.finer.Size(class)
	}
	g.label(u, unionOf(g.attributes, parts...))
	return nil
}

// label has a group show something, and be found by it.
func (g *Groups) label(u *union, labels []hierarchy.Generalization) {
	if u.labels != nil && slices.Equal(u.labels, labels) {
		return
	}
	g.index.drop(u)
	u.labels = labels
	g.index.put(u)
}

// unionOf is what stands for several classes.
func unionOf(attributes []anonymizer.Attribute, parts ...[]hierarchy.Generalization) []hierarchy.Generalization {
	whole, one := make([]hierarchy.Generalization, len(attributes)), make([]hierarchy.Generalization, len(parts))
	for a, attribute := range attributes {
		for i, part := range parts {
			one[i] = part[a]
		}
		whole[a] = hierarchy.Union(attribute.Hierarchy, one)
	}
	return whole
}

// gather makes groups of many classes together.
func (g *Groups) gather(ctx context.Context, classes []incremental.ClassID) error {
	parts, err := g.divide(ctx, classes)
	if err != nil {
		return err
	}
	for _, part := range parts {
		if err := g.measure(g.newGroup(part)); err != nil {
			return err
		}
	}
	g.index.refresh()
	return nil
}

// divide unites some classes to groups that satisfy the constraints; to one where they do not
// together.
func (g *Groups) divide(ctx context.Context, classes []incremental.ClassID) ([][]incremental.ClassID, error) {
	table, finer, err := g.tableOf(classes)
	if err != nil {
		return nil, err
	}
	var counts []privacy.Summary
	if g.o.Counted {
		for _, class := range classes {
			counts = append(counts, g.finer.Summarize(class))
		}
	}
	r, err := uniteCounted(ctx, table, finer, counts, g.constraints, anonymizer.Options{Seed: g.o.Seed})
	if err != nil || len(r.Classes) == 0 {
		return [][]incremental.ClassID{classes}, err
	}
	classOf := make([]int, table.Len())
	for i, class := range finer.Classes {
		for _, record := range class {
			classOf[record] = i
		}
	}
	parts := make([][]incremental.ClassID, len(r.Classes))
	for i, records := range r.Classes {
		for _, record := range records {
			if at := classOf[record]; finer.Classes[at][0] == record {
				parts[i] = append(parts[i], classes[at])
			}
		}
	}
	return parts, nil
}

// tableOf is a table of the records of some classes, and its release in these.
func (g *Groups) tableOf(classes []incremental.ClassID) (*anonymizer.Table, *anonymizer.Release, error) {
	cells, finer := make([][]hierarchy.Cell, len(g.attributes)), &anonymizer.Release{}
	sensitive, subjects := make([][]uint32, len(g.finer.Whole().Sensitive)), []uint32{}
	if g.o.Counted {
		sensitive = nil
	}
	var slots []int32
	for _, class := range classes {
		slots = g.finer.AppendSlots(slots[:0], class)
		members := make(anonymizer.EquivalenceClass, len(slots))
		for i, slot := range slots {
			r := g.finer.In(slot)
			members[i] = int32(len(subjects))
			subjects = append(subjects, r.Subject)
			for a, c := range r.Cells {
				cells[a] = append(cells[a], c)
			}
			for s, code := range r.Sensitive {
				sensitive[s] = append(sensitive[s], code)
			}
		}
		finer.Classes = append(finer.Classes, members)
	}
	table, err := anonymizer.NewTable(g.attributes, cells, sensitive)
	if err == nil && g.o.Subjects {
		table, err = table.WithSubjects(subjects)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("uniting classes: %w", err)
	}
	return table.ComparedWith(g.whole), finer, nil
}

// repair has every group that changed satisfy the constraints, by uniting it with that by which least
// is lost, and divides large ones. The whole is feasible, so that it ends with one group of all at the
// latest.
func (g *Groups) repair(ctx context.Context) error {
	if err := g.measureDue(); err != nil {
		return err
	}
	slices.Sort(g.due)
	for i := 0; i < len(g.due); i++ {
		u := g.groups[g.due[i]]
		if u == nil {
			continue
		}
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		u.due = false
		for !g.satisfied(u) {
			other := g.nearest(u.labels, u.size, u)
			if other == nil {
				return fmt.Errorf("group %d: %w", u.id, errAlone)
			}
			u = g.unite(u, other)
		}
		if err := g.split(ctx, u); err != nil {
			return err
		}
	}
	g.due = g.due[:0]
	return nil
}

var errAlone = errors.New("it violates the constraints, and there is no other one")

func (g *Groups) satisfied(u *union) bool {
	if g.sizes {
		return u.size >= g.k
	}
	return g.constraints.Satisfied(g.summarize(u), g.whole)
}

// summarize counts the records of a group, which has a class.
func (g *Groups) summarize(u *union) privacy.Summary {
	summary := g.finer.Summarize(u.classes[0])
	for _, class := range u.classes[1:] {
		summary.Merge(g.finer.Summarize(class))
	}
	return summary
}

// unite merges two groups; the larger one keeps its id.
func (g *Groups) unite(u, other *union) *union {
	if u.size < other.size || u.size == other.size && u.id > other.id {
		u, other = other, u
	}
	labels := unionOf(g.attributes, u.labels, other.labels)
	for _, class := range other.classes {
		u.classes = append(u.classes, class)
		g.of[class], g.moved[class] = u.id, struct{}{}
	}
	u.size, u.stale = u.size+other.size, true
	g.remove(other)
	g.changed[u.id] = struct{}{}
	g.label(u, labels)
	return u
}

// split divides a large group, if that can be done. Where it cannot, the next attempt waits until it
// has grown by a quarter.
func (g *Groups) split(ctx context.Context, u *union) error {
	if _, altered := g.changed[u.id]; !altered || u.size < max(2*g.k, u.splitAt) || len(u.classes) < 2 {
		return nil
	}
	slices.Sort(u.classes)
	parts, err := g.divide(ctx, u.classes)
	if err != nil {
		return err
	}
	if len(parts) < 2 {
		u.splitAt = u.size + max(1, u.size/4)
		return nil
	}
	g.remove(u)
	for _, part := range parts {
		made := g.newGroup(part)
		if err := g.measure(made); err != nil {
			return err
		}
		// Unite has tried to divide it.
		made.splitAt = made.size + max(1, made.size/4)
	}
	return nil
}
