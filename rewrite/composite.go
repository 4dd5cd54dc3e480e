package rewrite

// composite is what is known of a value's columns before the server sees the statement.
// Of a nil one nothing is known. What it claims holds whatever the server finds; what it
// leaves open, attribute.go does not rely on.
type composite struct {
	// order are the columns that are known, as far as they are known in their order.
	order []string
	// columns are those columns with what is known of their values.
	columns map[string]*composite
	// complete says that there are no others.
	complete bool
	// row says that it is a row for certain, and stored that it is one of a relation, which
	// has others only if they were added since its columns were read.
	row, stored bool
}

// plainValue is a value that is no row.
var plainValue = &composite{complete: true}

// unvisited is a subquery in FROM that has not been visited yet, so that no expression that
// has been can see it.
var unvisited = &composite{}

// maxColumns is more than a row can have (MaxTupleAttributeNumber of PostgreSQL's
// access/htup_details.h), so that nested queries cannot make one grow without bound.
const maxColumns = 2000

// columnState says whether a name is that of a column.
type columnState int

const (
	unknownColumn columnState = iota
	knownColumn
	noColumn
)

// has says whether the value has a column of the name, and what is known of that.
func (c *composite) has(name string) (columnState, *composite) {
	if c == nil {
		return unknownColumn, nil
	}
	if value, ok := c.columns[name]; ok {
		return knownColumn, value
	}
	if c.complete {
		return noColumn, nil
	}
	return unknownColumn, nil
}

// add adds a column. Of two of one name nothing is known, and no query can tell them
// apart.
func (c *composite) add(name string, value *composite) {
	if len(c.order) >= maxColumns {
		c.complete = false
		return
	}
	if c.columns == nil {
		c.columns = make(map[string]*composite)
	}
	if _, twice := c.columns[name]; twice {
		value = nil
	}
	c.order, c.columns[name] = append(c.order, name), value
}

// addAll adds the columns of another value; one that is not all known leaves the rest
// open.
func (c *composite) addAll(other *composite) {
	if other == nil {
		c.complete = false
		return
	}
	for _, name := range other.order {
		c.add(name, other.columns[name])
	}
	c.complete = c.complete && other.complete
}

// renamed is the value under an alias that gives its first columns other names.
func (c *composite) renamed(to []string) *composite {
	if len(to) == 0 {
		return c
	}
	next := &composite{complete: c != nil && c.complete, row: c != nil && c.row}
	for i, name := range to {
		var value *composite
		if next.complete && i < len(c.order) {
			value = c.columns[c.order[i]]
		}
		next.add(name, value)
	}
	if next.complete {
		for _, name := range c.order[min(len(to), len(c.order)):] {
			next.add(name, c.columns[name])
		}
	}
	return next
}
