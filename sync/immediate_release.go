package sync

// writeRelease writes what has changed for the table's own readers and for audiences.
func (s *immediate) writeRelease(batch *visibleStatements) {
	if s.packed != nil {
		s.packed.write(batch, s.changes[0])
		for _, a := range s.audiences {
			a.packed.write(batch, a.changes[0])
		}
		return
	}
	s.crossed().write(batch, s.changes)
	for _, a := range s.audiences {
		a.crossed.write(batch, a.changes)
	}
}
