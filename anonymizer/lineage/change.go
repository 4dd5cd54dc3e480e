package lineage

import "strings"

// change is how a published record differs from its row.
type change struct {
	columns columns // that differ, or differed meanwhile
	// vain says that publishing the change was tried, and violated the constraints.
	// It is not tried again before what constraints count has changed again for all
	// whom that is true of in the class: then nothing is known of what is tried.
	vain  bool
	since columns // that have changed since then
}

// with adds what one more modification changes.
func (c change) with(before, after Record) change {
	c.columns = c.columns.with(before, after)
	if c.vain {
		c.since = c.since.with(before, after)
	}
	return c
}

const inVain = "!"

// String is the change as a store keeps it.
func (c change) String() string {
	if c.vain {
		return c.columns.String() + inVain + c.since.String()
	}
	return c.columns.String()
}

func parseChange(text string) (c change, err error) {
	text, since, vain := strings.Cut(text, inVain)
	if c.columns, err = parseColumns(text); err != nil {
		return change{}, err
	}
	c.vain = vain
	c.since, err = parseColumns(since)
	return c, err
}

// giveUp has rows stay as they are, whose new values violate the constraints together.
// Were they tried again with one person more, then that person's new value would be what
// had been missing.
func (l *Lineage) giveUp(c *class, part func(row) bool) {
	for _, r := range c.rows {
		if part(r) {
			r.record.change.vain = true
			l.touch(r.record.record.ID)
		}
	}
}

// revive has what was tried in vain tried again, once it is about other values.
func (l *Lineage) revive(c *class) {
	var vain []*held
	for _, r := range c.rows {
		if !r.isStale() || !r.record.change.vain {
			continue
		}
		if change := r.record.change; !l.counted(change.columns).within(change.since) {
			return
		}
		vain = append(vain, r.record)
	}
	for _, h := range vain {
		h.change = change{columns: h.change.columns}
		l.touch(h.record.ID)
	}
}
