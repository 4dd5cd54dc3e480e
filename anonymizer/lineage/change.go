package lineage

import "strings"

// change is how a published record differs from its row.
type change struct {
	columns columns // that differ, or differed meanwhile
	// refused says that publishing the change was tried, and violated the constraints.
	refused bool
}

const refusedMark = "!"

// String is the change as a store keeps it.
func (c change) String() string {
	if c.refused {
		return c.columns.String() + refusedMark
	}
	return c.columns.String()
}

func parseChange(text string) (c change, err error) {
	text, c.refused = strings.CutSuffix(text, refusedMark)
	c.columns, err = parseColumns(text)
	return c, err
}
