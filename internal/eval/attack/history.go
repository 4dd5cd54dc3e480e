package attack

import (
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// extent is an inclusive range of positions.
type extent struct{ low, high float64 }

// row is what a reader sees of a published record beside its class: a column that is
// unique and published as it is, and the sensitive value.
type row struct {
	link  int32
	value uint32
}

// element is somebody's sensitive value for as long as it stays the same. Whoever knows
// when values were corrected, but not how, knows the elements.
type element struct {
	record int32
	epoch  int32
}

// view is a class as a reader sees it in the versions from..until-1.
type view struct {
	class       int64
	from, until int
	founded     int // the first version with this class
	bounds      []extent
	rows        []row // in no telling order
	weight      float64

	members  []element // whose the rows are: only some attackers are told
	elements []element // the same, where somebody who came back is who left
	counts   [diagnoses]int
}

// version is one state of the publication that readers can fetch.
type version struct {
	commit, tick int
	table        float64 // what the table's weight makes of those of classes
}

// history is all that was ever published.
type history struct {
	attributes []anonymizer.Attribute
	versions   []version
	views      []*view
	current    map[int64]*view
	same       func(element) element
	// fixed says that what is published for a class never changes, that it gains no
	// row, and that rows can be of former values or of nobody.
	fixed bool
	shown map[int32]int // record: the tick at which it was first published
}

func newHistory(w *world, fixed bool) *history {
	return &history{attributes: w.attributes, same: w.same, fixed: fixed, current: map[int64]*view{}, shown: map[int32]int{}}
}

// begin opens a new version. The weight of the table is lineage.Rated's; 1 where there is none.
func (h *history) begin(commit, tick int, table float64) {
	h.versions = append(h.versions, version{commit, tick, table})
}

func (h *history) now() int { return len(h.versions) - 1 }

// retire ends a class.
func (h *history) retire(class int64) {
	if v, known := h.current[class]; known {
		v.until = h.now()
		delete(h.current, class)
	}
}

// show publishes a class, new or changed.
func (h *history) show(class int64, bounds []extent, rows []row, members []element, weight float64) {
	v := &view{class: class, from: h.now(), until: never, founded: h.now(), bounds: bounds, rows: rows, members: members, weight: weight}
	if former, known := h.current[class]; known {
		v.founded = former.founded
		former.until = h.now()
	}
	for _, r := range rows {
		v.counts[r.value]++
	}
	for _, e := range members {
		v.elements = append(v.elements, h.same(e))
		if _, before := h.shown[e.record]; !before {
			h.shown[e.record] = h.versions[h.now()].tick
		}
	}
	h.current[class] = v
	h.views = append(h.views, v)
}

// at lists what is published in a version.
func (h *history) at(version int) []*view {
	var views []*view
	for _, v := range h.views {
		if v.from <= version && version < v.until {
			views = append(views, v)
		}
	}
	return views
}

// before is the last version that does not know of a commit, -1 for none.
func (h *history) before(commit int) int {
	i, _ := slices.BinarySearchFunc(h.versions, commit, func(v version, c int) int { return v.commit - c })
	return i - 1
}

// span are the versions, first and last, that show the table while the record has its
// last sensitive value.
func (h *history) span(l *life) (first, last int) {
	last = h.now()
	if l.died != never {
		last = h.before(l.died)
	}
	return h.before(l.epochFrom()) + 1, last
}

// bounds reads what is published for a class as ranges of positions.
func bounds(attributes []anonymizer.Attribute, published []hierarchy.Generalization) []extent {
	read := make([]extent, len(published))
	for a, g := range published {
		h := attributes[a].Hierarchy
		switch {
		case g.Hidden || g.Value == hierarchy.Root:
			read[a] = extent{math.Inf(-1), math.Inf(1)}
		case g.Lower != "":
			read[a] = extent{h.Position(h.Encode(g.Lower)), h.Position(h.Encode(g.Upper))}
		default:
			position := h.Position(h.Encode(g.Value))
			read[a] = extent{position, position}
		}
	}
	return read
}

// holds reports whether a record of these values can be in the class.
func (h *history) holds(v *view, cells []hierarchy.Cell) bool {
	for a, b := range v.bounds {
		if position := h.attributes[a].Hierarchy.Position(cells[a]); position < b.low || position > b.high {
			return false
		}
	}
	return true
}

// fits reports whether a record can have its last sensitive value in the class: by its
// values at the time, and by when the class was made.
func (h *history) fits(v *view, l *life) bool {
	if !h.fixed {
		return l.died > h.versions[v.from].commit && h.holds(v, l.at(max(h.versions[v.from].commit, l.born)).cells)
	}
	founded := h.versions[v.founded].commit
	return l.alive(founded) && founded >= l.epochFrom() && h.holds(v, l.at(founded).cells)
}
