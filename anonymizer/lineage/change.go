package lineage

import "strings"

// change is how a published record differs from its row.
type change struct {
	columns columns // that differ, or differed meanwhile
	// vain says that publishing the change was tried, and violated the constraints.
	vain bool
}

const inVain = "!"

// String is the change as a store keeps it.
func (c change) String() string {
	if c.vain {
		return c.columns.String() + inVain
	}
	return c.columns.String()
}

func parseChange(text string) (c change, err error) {
	text, c.vain = strings.CutSuffix(text, inVain)
	c.columns, err = parseColumns(text)
	return c, err
}

// giveUp has rows stay as they are for good, whose new values violate the constraints
// together. Were they tried again with one person more, then that person's new value
// would be what had been missing. Nor are they tried when they have changed again: they
// may have changed back.
func (l *Lineage) giveUp(c *class, part func(row) bool) {
	for _, r := range c.rows {
		if part(r) {
			given := l.records.parting(r.slot)
			given.change.vain = true
			l.part(r.slot, given)
			l.touch(r.slot)
		}
	}
}
