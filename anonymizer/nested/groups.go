package nested

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Options of maintained groups; the zero value is valid.
type Options struct {
	// Seed of the divisions. Same seed and changes, same groups.
	Seed uint64
	// FirstGroup is the next id to hand out; below 1 means 1. Loaded groups raise it.
	FirstGroup incremental.ClassID
	// Subjects is that of the partition's options.
	Subjects bool
	// OmitMoved leaves Changes.Moved empty.
	OmitMoved bool
	// Counted says that a record can have several values of an attribute, or none: Finer.Summarize counts them, and
	// Finer.In has none. How often a class has a value decides about nothing but whether constraints are satisfied.
	Counted bool
	// Loss is what classes lose as a group, summed over records, where more is known of classes than their labels say: groups that change
	// trade classes with each other by it. It is a function of what the finer release shows. Nil where labels say all.
	Loss func(classes []incremental.ClassID) float64
}

// Finer is a maintained release that groups are unions of: a partition, or other groups.
type Finer interface {
	Classes() int
	ClassAt(place int) incremental.ClassID
	// Generalize, Size and Summarize say what is published of a class.
	Generalize(class incremental.ClassID) []hierarchy.Generalization
	Size(class incremental.ClassID) int
	Summarize(class incremental.ClassID) privacy.Summary
	// Whole counts all records; see incremental.Partition.
	Whole() privacy.Summary
	AppendSlots(list []int32, class incremental.ClassID) []int32
	SlotOf(id incremental.RecordID) int32
	InSlot(slot int32) incremental.RecordID
	In(slot int32) incremental.Record
}

// Groups maintains the coarser release over a maintained partition: after each Settle of that,
// Settle brings the groups into order, and says which have changed. Ids of groups are those of
// classes of the coarser release, and of their own numbering; they are never used again.
//
// Which class goes where follows from what is published of the classes and groups, never from which
// record was in which class. All classes are in groups or none is. Not safe for concurrent use.
//
// Time: of the classes and groups that change, and a search of a bounded number of groups for each;
// now and then, when their number has doubled, of all groups. Where a constraint compares groups with
// the whole table, each Settle after which the table differs looks at all groups.
type Groups struct {
	finer       Finer
	attributes  []anonymizer.Attribute
	constraints privacy.ConstraintSet
	k           int
	sizes       bool // the constraints count nothing but records
	o           Options
	next        incremental.ClassID
	of          map[incremental.ClassID]incremental.ClassID // the group of each class
	groups      map[incremental.ClassID]*union
	index       index
	whole       *privacy.Population
	due         []incremental.ClassID
	searches    uint64                // how many searches of the nearest group there were
	lost        []incremental.ClassID // groups that lost a class since the last Settle
	moved       map[incremental.ClassID]struct{}
	changed     map[incremental.ClassID]struct{}
	retired     []incremental.ClassID
	placed      []incremental.ClassID // ids of all groups, for ClassAt
}

// union is a maintained group.
type union struct {
	id      incremental.ClassID
	classes []incremental.ClassID
	size    int
	labels  []hierarchy.Generalization
	spans   []hierarchy.Span // of the labels, on the axes of the index
	loss    float64          // of each record, the sum over all attributes
	at      *place           // by which it is found
	seen    uint64           // the last search that looked at it
	place   int              // in Groups.placed
	splitAt int
	known   bool // it existed at the last Settle
	due     bool
	stale   bool // its classes are others, or show other things, than when it was measured
}

// NewGroups returns no groups over the classes of a partition, or over other groups. Constraints are the effective ones:
// those of the audience and of all finer ones. Attributes are those of the finer release, with hierarchies
// of hierarchy.Coarser or hierarchy.Following.
func NewGroups(finer Finer, attributes []anonymizer.Attribute, constraints privacy.ConstraintSet, o Options) *Groups {
	g := &Groups{
		finer: finer, attributes: attributes, constraints: constraints, k: max(1, constraints.K()), sizes: !o.Subjects,
		o: o, next: max(1, o.FirstGroup),
		of: map[incremental.ClassID]incremental.ClassID{}, groups: map[incremental.ClassID]*union{},
		moved: map[incremental.ClassID]struct{}{}, changed: map[incremental.ClassID]struct{}{},
	}
	for _, c := range constraints {
		_, size := c.(privacy.KAnonymity)
		g.sizes = g.sizes && size
	}
	g.index.of = g
	return g
}

// ErrLoaded says that a class is in a group already.
var ErrLoaded = errors.New("class is in a group already")

// Load takes over what a store says: a class and its group. It is meant for the start; all count as
// known, and the next Settle looks at all groups once. The error is ErrLoaded, or about ids that are
// not positive.
func (g *Groups) Load(class, group incremental.ClassID) error {
	if class < 1 || group < 1 {
		return fmt.Errorf("loading class %d of group %d: ids are positive", class, group)
	}
	if _, twice := g.of[class]; twice {
		return fmt.Errorf("loading class %d of group %d: %w", class, group, ErrLoaded)
	}
	u := g.groups[group]
	if u == nil {
		g.next = max(g.next, group+1)
		u = g.found(group)
		u.known = true
		delete(g.changed, group)
	}
	u.classes, u.stale = append(u.classes, class), true
	g.of[class] = group
	g.examine(u)
	return nil
}

// found makes an empty group.
func (g *Groups) found(id incremental.ClassID) *union {
	u := &union{id: id, place: len(g.placed)}
	g.groups[id] = u
	g.placed = append(g.placed, id)
	g.changed[id] = struct{}{}
	return u
}

func (g *Groups) newGroup(classes []incremental.ClassID) *union {
	u := g.found(g.next)
	g.next++
	for _, class := range classes {
		g.enter(u, class)
	}
	return u
}

func (g *Groups) enter(u *union, class incremental.ClassID) {
	u.classes = append(u.classes, class)
	g.of[class], g.moved[class] = u.id, struct{}{}
	g.rewrite(u)
}

func (g *Groups) rewrite(u *union) {
	g.changed[u.id] = struct{}{}
	u.stale = true
	g.examine(u)
}

func (g *Groups) examine(u *union) {
	if !u.due {
		u.due = true
		g.due = append(g.due, u.id)
	}
}

// remove ends a group; its classes have left it.
func (g *Groups) remove(u *union) {
	g.index.drop(u)
	if u.known {
		g.retired = append(g.retired, u.id)
	}
	last := len(g.placed) - 1
	g.placed[u.place] = g.placed[last]
	g.groups[g.placed[u.place]].place = u.place
	g.placed = g.placed[:last]
	delete(g.groups, u.id)
	delete(g.changed, u.id)
}

// Settle follows a Settle of the partition, of which it is given the changes, or several of them
// joined. What it returns is in the same form: Moved gives the groups of records, Rewrite and Retired
// name groups. Where the records of all classes together do not satisfy the constraints, all groups
// are retired. The error is the context's; the groups must not be used any more then.
func (g *Groups) Settle(ctx context.Context, changes incremental.Changes) (incremental.Changes, error) {
	if !g.Satisfiable() {
		return g.Withhold(changes), ctx.Err()
	}
	for _, class := range changes.Retired {
		g.leave(class)
	}
	added := g.follow(changes)
	if err := g.place(ctx, added); err != nil {
		return incremental.Changes{}, err
	}
	if err := g.repair(ctx); err != nil {
		return incremental.Changes{}, err
	}
	if err := g.trade(ctx); err != nil {
		return incremental.Changes{}, err
	}
	return g.take(changes), ctx.Err()
}

// Recount has the next Settle look at the group of a class whose values count otherwise although it shows the same.
func (g *Groups) Recount(class incremental.ClassID) {
	if u := g.groups[g.of[class]]; u != nil {
		g.examine(u)
	}
}

// Withhold is Settle where nothing is to be published of the groups: all are retired. Settle makes new ones later.
func (g *Groups) Withhold(changes incremental.Changes) incremental.Changes {
	for _, class := range changes.Retired {
		g.leave(class)
	}
	g.withholdAll()
	return g.take(changes)
}

// leave takes a class that is gone out of its group.
func (g *Groups) leave(class incremental.ClassID) {
	u := g.groups[g.of[class]]
	delete(g.of, class)
	delete(g.moved, class)
	if u == nil {
		return
	}
	u.classes = slices.DeleteFunc(u.classes, func(c incremental.ClassID) bool { return c == class })
	g.lost = append(g.lost, u.id)
	g.rewrite(u)
}

// Satisfiable reports whether there are classes, and all records together satisfy the constraints: then one group
// of all does. The partition, or the finer groups, have followed all changes.
func (g *Groups) Satisfiable() bool {
	if g.finer.Classes() == 0 {
		return false
	}
	whole := g.finer.Whole()
	if g.constraints.Relative() || g.whole == nil {
		all := privacy.Summary{Records: whole.Records}
		for _, counts := range whole.Sensitive {
			all.Sensitive = append(all.Sensitive, maps.Clone(counts))
		}
		if g.whole == nil || !slices.EqualFunc(all.Sensitive, g.whole.Sensitive, maps.Equal[map[uint32]int]) || all.Records != g.whole.Records {
			g.whole = privacy.NewPopulation(all)
			for _, id := range slices.Sorted(maps.Keys(g.groups)) {
				g.examine(g.groups[id])
			}
		}
	}
	return g.constraints.Satisfied(whole, g.whole)
}

func (g *Groups) withholdAll() {
	for _, id := range slices.Sorted(maps.Keys(g.groups)) {
		u := g.groups[id]
		for _, class := range u.classes {
			delete(g.of, class)
			g.moved[class] = struct{}{}
		}
		g.remove(u)
	}
	g.due, g.whole = nil, nil
	clear(g.changed)
}

// follow notes what changed and gives the classes without a group, in an order that follows from what
// is published of them.
func (g *Groups) follow(changes incremental.Changes) []incremental.ClassID {
	var added []incremental.ClassID
	for _, class := range changes.Rewrite {
		if u := g.groups[g.of[class]]; u != nil {
			g.rewrite(u)
		} else {
			added = append(added, class)
		}
	}
	if len(g.of)+len(added) != g.finer.Classes() { // at the start, and after all were withheld
		added = added[:0]
		for place := range g.finer.Classes() {
			if class := g.finer.ClassAt(place); g.of[class] == 0 {
				added = append(added, class)
			}
		}
	}
	looks := make(map[incremental.ClassID]string, len(added))
	for _, class := range added {
		looks[class] = fmt.Sprintf("%v %d", g.finer.Generalize(class), g.finer.Size(class))
		if !g.o.Counted {
			looks[class] += fmt.Sprintf(" %v", g.finer.Summarize(class).Sensitive)
		}
	}
	slices.SortFunc(added, func(x, y incremental.ClassID) int { return cmp.Or(cmp.Compare(looks[x], looks[y]), cmp.Compare(x, y)) })
	return added
}

// shown is what the groups' readers may see of a class; nil for an unknown one.
func (g *Groups) shown(class incremental.ClassID) []hierarchy.Generalization {
	labels := g.finer.Generalize(class)
	if labels == nil {
		return nil
	}
	shown := make([]hierarchy.Generalization, len(labels))
	for a, label := range labels {
		shown[a] = hierarchy.Show(g.attributes[a].Hierarchy, label)
	}
	return shown
}

// take returns what has changed since the last call.
func (g *Groups) take(changes incremental.Changes) incremental.Changes {
	told := incremental.Changes{Moved: map[incremental.RecordID]incremental.ClassID{}, Retired: g.retired}
	if !g.o.OmitMoved {
		for id, class := range changes.Moved {
			told.Moved[id] = g.of[class]
		}
		var slots []int32
		for class := range g.moved {
			for _, slot := range g.finer.AppendSlots(slots[:0], class) {
				told.Moved[g.finer.InSlot(slot)] = g.of[class]
			}
		}
	}
	for id := range g.changed {
		told.Rewrite = append(told.Rewrite, id)
		g.groups[id].known = true
	}
	slices.Sort(told.Rewrite)
	slices.Sort(told.Retired)
	g.retired, g.lost = nil, g.lost[:0]
	clear(g.moved)
	clear(g.changed)
	return told
}

// Classes is the number of groups.
func (g *Groups) Classes() int { return len(g.placed) }

// ClassAt names the group at a place from 0 to Classes()-1; see Partition.ClassAt.
func (g *Groups) ClassAt(place int) incremental.ClassID { return g.placed[place] }

// NextClass is the id that the next new group will get; a store keeps it for Options.FirstGroup.
func (g *Groups) NextClass() incremental.ClassID { return g.next }

// GroupOf is the group of a class, 0 for none.
func (g *Groups) GroupOf(class incremental.ClassID) incremental.ClassID { return g.of[class] }

// Members are the classes of a group, ascending.
func (g *Groups) Members(group incremental.ClassID) []incremental.ClassID {
	u := g.groups[group]
	if u == nil {
		return nil
	}
	return slices.Sorted(slices.Values(u.classes))
}

// AppendSlots appends the slots of a group's records; see Partition.AppendSlots.
func (g *Groups) AppendSlots(list []int32, group incremental.ClassID) []int32 {
	if u := g.groups[group]; u != nil {
		for _, class := range u.classes {
			list = g.finer.AppendSlots(list, class)
		}
	}
	return list
}

// SlotOf is the slot of a record, InSlot the record in a slot: those of the partition.
func (g *Groups) SlotOf(id incremental.RecordID) int32 { return g.finer.SlotOf(id) }

// InSlot names the record in a slot that is in use.
func (g *Groups) InSlot(slot int32) incremental.RecordID { return g.finer.InSlot(slot) }

// In returns a copy of the record in a slot that is in use, and Whole counts all records.
func (g *Groups) In(slot int32) incremental.Record { return g.finer.In(slot) }

// Whole counts all records, withheld ones included; see Partition.Whole.
func (g *Groups) Whole() privacy.Summary { return g.finer.Whole() }

// Size is the number of records of a group.
func (g *Groups) Size(group incremental.ClassID) int {
	if u := g.groups[group]; u != nil {
		return u.size
	}
	return 0
}

// Summarize counts the records of a group for constraints.
func (g *Groups) Summarize(group incremental.ClassID) privacy.Summary {
	u := g.groups[group]
	if u == nil || len(u.classes) == 0 {
		return g.finer.Summarize(0)
	}
	return g.summarize(u)
}

// Feasible returns nil, or why there are no groups although there are classes.
func (g *Groups) Feasible() error {
	if len(g.groups) == 0 && g.finer.Classes() > 0 {
		return fmt.Errorf("all records together do not satisfy %v", g.constraints)
	}
	return nil
}

// Generalize gives what is published for a group: what stands for all that is published of its
// classes; nil for an unknown one.
func (g *Groups) Generalize(group incremental.ClassID) []hierarchy.Generalization {
	u := g.groups[group]
	if u == nil {
		return nil
	}
	return slices.Clone(u.labels)
}
