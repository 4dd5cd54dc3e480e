package sync

// A scan without ORDER BY shows rows where they lie, and so, to some degree, which were written
// last, and thereby the class that a record has just joined or left. So rows that have not
// changed are drawn at random and written with those that have, in the same transaction and
// in random order: of a packed release packedPlan.cover draws them, of several parts
// touchCover.

// coverRows bounds the rows that are written with a change of a table with several parts.
const coverRows = 1000

// rowsOfChange is about how many rows are written for the change of one record.
func (s *immediate) rowsOfChange() int {
	rows := 0
	for part, p := range s.parts {
		classes := p.partition.Classes()
		for _, a := range s.audiences {
			if n := a.groups[part].Classes(); n > 0 {
				classes = n // the coarsest has the fewest
			}
		}
		rows += p.partition.Len() / max(1, classes)
	}
	return max(1, rows)
}

// coverK is the greatest k of any release.
func (s *immediate) coverK() int {
	k := s.t.layout.constraints.K()
	for _, a := range s.t.layout.audiences {
		k = max(k, a.constraints.K())
	}
	return k
}

// touchCover has further classes written if a table has several parts. A changed record alone
// would be in a written class of every part, and so be distinguishable among the rows that
// are written. As many others as k demands are therefore written with it, drawn at random, as
// far as coverRows allows.
func (s *immediate) touchCover() {
	t := s.t
	if len(s.parts) == 1 {
		return
	}
	others := s.coverK() - len(t.pending.rows) - len(t.pending.deleted)
	for range min(others, max(1, coverRows/s.rowsOfChange())) {
		s.touchRandom()
	}
}
