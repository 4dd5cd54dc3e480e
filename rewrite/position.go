package rewrite

// Position is where in the client's text stands what the database found at a position
// in Statement.SQL, both counted in characters from 1; 0 means unknown.
func (r *Rewriter) Position(string, *Session, int) int { return 0 }
