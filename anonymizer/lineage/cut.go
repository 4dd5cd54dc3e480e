package lineage

import "context"

// cutAll cuts the classes that rows have left since they were last looked at.
func (l *Lineage) cutAll(ctx context.Context) error {
	dirty := l.dirty
	l.dirty = nil
	for _, c := range dirty {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.dirty = false
		if c.ghosts == len(c.rows) {
			l.remove(c, ghost)
			delete(l.classes, c.id)
			continue
		}
		if c.disturbed >= c.patience {
			if err := l.cut(ctx, c); err != nil {
				return err
			}
		}
		if len(c.rows) > 0 {
			l.tell(c)
		}
	}
	return nil
}

// cut has the ghosts of a class vanish, and its stale rows published anew as a class
// of their own, as far as every part satisfies the constraints by itself. What is left
// keeps the class's id and what is published for it.
func (l *Lineage) cut(ctx context.Context, c *class) error {
	c.disturbed = 0
	ghosts, changed, rest := l.severable(c, ghost), l.severable(c, stale), l.severable(c, current)
	renew := changed && c.stale > 0 && l.renewable(c)
	vanish := ghosts && c.ghosts > 0
	switch {
	case ghosts && changed && rest && (vanish || renew):
		// Each part stands by itself; what cannot be shown anew stays with the rest.
	case vanish && l.severable(c, stale, current):
		renew = false
	case renew && l.severable(c, ghost, current):
		vanish = false
	default:
		// Counting costs the whole class: the next try waits until a quarter more has left.
		c.patience = max(1, (c.ghosts+c.stale)/4)
		return nil
	}
	c.patience = 1
	if vanish {
		l.remove(c, ghost)
	}
	if renew {
		if err := l.renew(ctx, l.remove(c, stale)); err != nil {
			return err
		}
	}
	if len(c.rows) == 0 {
		delete(l.classes, c.id)
	}
	return nil
}

// renew publishes the records behind rows that were removed together as a class of
// their own, or as several where each satisfies the constraints both as its records
// were published and as they are now.
func (l *Lineage) renew(ctx context.Context, removed []row) error {
	before := make(map[*held]row, len(removed))
	members := make([]*held, len(removed))
	for i, r := range removed {
		before[r.record], members[i] = r, r.record
		l.stale.drop()
	}
	classes := [][]*held{members}
	if crowd := l.options.Crowd * l.k; len(members) >= 2*crowd {
		finer, err := l.divide(ctx, members, l.demands()[0])
		if err != nil {
			return err
		}
		if len(finer) > 0 && l.stoodTogether(finer, before) {
			classes = finer
		}
	}
	for _, members := range classes {
		l.found(members, l.generalize(members))
	}
	return nil
}

// stoodTogether reports whether the rows that the records of each class had before
// satisfy the constraints.
func (l *Lineage) stoodTogether(classes [][]*held, before map[*held]row) bool {
	for _, members := range classes {
		s := l.newSummary()
		for _, h := range members {
			l.addRow(&s, before[h])
		}
		if !l.satisfied(s) {
			return false
		}
	}
	return true
}

// severable reports whether a part of a class, the rows in any of these states, is
// empty or satisfies the constraints by itself.
func (l *Lineage) severable(c *class, states ...state) bool {
	rows := 0
	for _, s := range states {
		switch s {
		case ghost:
			rows += c.ghosts
		case stale:
			rows += c.stale
		case current:
			rows += len(c.rows) - c.ghosts - c.stale
		}
	}
	if rows == 0 {
		return true
	}
	return rows >= l.k && l.satisfied(l.summarize(c, states...))
}

// renewable reports whether the records behind the stale rows of a class satisfy the
// constraints with their new values as well.
func (l *Lineage) renewable(c *class) bool {
	var members []*held
	for _, r := range c.rows {
		if r.state() == stale {
			members = append(members, r.record)
		}
	}
	return l.satisfied(l.summarizeRecords(members))
}

// tell lets the published weight of a class know of its ghosts, if those that it does
// not know of are k persons' or more, or all that are left.
func (l *Lineage) tell(c *class) {
	if c.ghosts == c.told {
		return
	}
	persons := l.summarize(c, ghost).Records
	if c.ghosts > 0 && persons-c.toldOf < l.k {
		return
	}
	c.told, c.toldOf = c.ghosts, persons
	l.changes.Weights[c.id] = c.weight()
}

// weight is the share of the rows that stand for somebody, as far as readers may know.
func (c *class) weight() float64 {
	return float64(len(c.rows)-c.told) / float64(len(c.rows))
}
