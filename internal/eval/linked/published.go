package linked

import "github.com/kproxy/kproxy/anonymizer/people"

// published is a release as analysts read it: rows by pseudonym, with ranges.
type published struct {
	*world
	release *people.Release
	// root is where each pseudonym's root record lies on the axis of the bands; rooted
	// where it is published.
	root   []moment
	rooted []bool
	cell   [][]int32  // table, row: the row's cell; -1 where it has no key
	when   [][]moment // table, cell: the dates, of tables that have some
	known  [][]bool   // table, cell: whether there is a date
	window [][]int32  // table, row
}

func (w *world) publish(r *people.Release) published {
	n := w.data.Root.Len()
	p := published{world: w, release: r, root: make([]moment, n), rooted: make([]bool, n)}
	for _, class := range r.Classes {
		var at moment
		known := false
		if w.attribute >= 0 {
			at, known = momentOf(w.data.Root.Attributes()[w.attribute].Hierarchy, w.data.Root.Project([]int{w.attribute}).Generalize(class)[0])
		}
		for _, person := range class {
			p.root[person], p.rooted[person] = at, known
		}
	}
	for i := range w.data.Tables {
		p.addTable(i)
	}
	return p
}

func (p *published) addTable(table int) {
	t := p.data.Tables[table]
	cell := make([]int32, t.Rows.Len())
	for row := range cell {
		cell[row] = -1
	}
	cells := p.release.Tables[table].Cells
	when, known := make([]moment, len(cells)), make([]bool, len(cells))
	for n, c := range cells {
		for _, row := range c.Rows {
			cell[row] = int32(n)
		}
		if p.dated[table].table == table {
			alone := t.Rows.Project([]int{t.Order})
			when[n], known[n] = momentOf(alone.Attributes()[0].Hierarchy, alone.Generalize(c.Rows)[0])
		}
	}
	window := t.Window
	if window == nil {
		window = make([]int32, t.Rows.Len())
		for row, of := range t.Of {
			if t.Parent != people.Root && of != people.Nobody {
				window[row] = p.window[t.Parent][of]
			}
		}
	}
	p.cell, p.when, p.known, p.window = append(p.cell, cell), append(p.when, when), append(p.known, known), append(p.window, window)
}

// owner is whose pseudonym a row carries; false where it has no key.
func (p *published) owner(e event, row int32) (int32, bool) {
	person := p.personOf(e, row)
	if person == people.Nobody || len(p.release.Withheld) > 0 {
		return 0, false
	}
	if e.table == people.Root {
		return person, true
	}
	if p.cell[e.table][row] < 0 {
		return 0, false
	}
	if e.during != nil {
		if at, known := p.date(e, row); !known || !e.during.holds(at.middle) {
			return 0, false
		}
	}
	window := int32(0)
	if len(p.release.Aliases) > 1 {
		window = p.window[e.table][row]
	}
	return p.release.Aliases[window][person], true
}

// holders lists the rows of an event by pseudonyms.
func (p *published) holders(e event) [][]int32 {
	return owners(p.data.Root.Len(), e, func(row int32) (int32, int32, bool) {
		owner, linked := p.owner(e, row)
		return owner, row, linked
	})
}

// date is when a linked row is published to have happened.
func (p *published) date(e event, row int32) (at moment, known bool) {
	from := p.dated[e.table]
	cell := p.cell[from.table][from.rows[row]] // a linked row's parent is linked
	return p.when[from.table][cell], p.known[from.table][cell]
}

// dates are those of an event's rows by pseudonyms.
func (p *published) dates(e event) [][]dated {
	return owners(p.data.Root.Len(), e, func(row int32) (int32, dated, bool) {
		owner, linked := p.owner(e, row)
		if !linked {
			return 0, dated{}, false
		}
		at, known := p.date(e, row)
		return owner, p.datedBy(e, row, at), known
	})
}
