package incremental

import (
	"maps"
	"slices"
)

// Changes says how the classes differ from those at the last Settle.
type Changes struct {
	// Moved gives the class of every record that is new or whose class
	// differs; 0 means withheld. A record that was deleted and inserted again
	// is new. Deleted records are not here.
	Moved map[RecordID]ClassID
	// Rewrite lists the classes whose published rows must be written anew,
	// ascending: members or their values changed, or one was touched. New
	// classes are among them.
	Rewrite []ClassID
	// Retired lists the classes that existed and are gone, ascending.
	Retired []ClassID
}

// move is a record that has moved since the last Settle, and its class then.
type move struct {
	slot int32
	from ClassID
}

// changeLog gathers what has changed since the last Settle.
type changeLog struct {
	moved        []move    // records whose class may differ, once each
	changed      []ClassID // classes that are to be written anew, or have been altered
	retired      []ClassID // classes that existed and are gone
	withoutMoved bool      // see Options.OmitMoved
}

// rewrite notes that the published rows of a class are to be written anew.
func (l *changeLog) rewrite(c *class) {
	c.rewrite = true
	if !c.noted {
		c.noted = true
		l.changed = append(l.changed, c.id)
	}
}

func (l *changeLog) retire(c *class) {
	if c.known {
		l.retired = append(l.retired, c.id)
	}
}

// takeChanges returns what has changed since the last call.
func (m *membership) takeChanges() Changes {
	log := &m.changes
	changes := Changes{Moved: make(map[RecordID]ClassID, len(log.moved)), Retired: log.retired}
	for _, moved := range log.moved {
		m.records.moved.Unset(moved.slot)
		if m.records.at[moved.slot].class == vacant {
			continue
		}
		if class := m.classOf(moved.slot); class != moved.from {
			changes.Moved[m.records.ids[moved.slot]] = class
		}
	}
	for _, id := range log.changed {
		index := m.classes.index(id)
		if index < 0 {
			continue
		}
		c := &m.classes.list[index]
		if c.rewrite {
			changes.Rewrite = append(changes.Rewrite, id)
		}
		c.known, c.noted, c.rewrite, c.altered = true, false, false, false
	}
	slices.Sort(changes.Rewrite)
	slices.Sort(changes.Retired)
	log.moved, log.changed, log.retired = log.moved[:0], log.changed[:0], nil
	return changes
}

// Then joins the changes of two consecutive Settles, for a store that applies both at once.
// Retired may list classes that came and went in between, and Moved records that are gone.
// c may be empty; its map and lists must not be used afterwards.
func (c Changes) Then(next Changes) Changes {
	if c.Moved == nil && c.Rewrite == nil && c.Retired == nil {
		return next
	}
	if c.Moved == nil {
		c.Moved = make(map[RecordID]ClassID, len(next.Moved))
	}
	maps.Copy(c.Moved, next.Moved)
	c.Retired = union(c.Retired, next.Retired)
	c.Rewrite = union(c.Rewrite, next.Rewrite)
	c.Rewrite = slices.DeleteFunc(c.Rewrite, func(id ClassID) bool {
		_, gone := slices.BinarySearch(c.Retired, id)
		return gone
	})
	return c
}

// union joins two ascending lists.
func union(a, b []ClassID) []ClassID {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
