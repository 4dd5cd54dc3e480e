package chaos

import "slices"

// values are the settings of a session that statements change: indexes of Styles and,
// from 0, of the schemas. The zero value is that at login.
type values struct{ style, path int }

// ledger follows what a transaction, or a savepoint in it, takes back. It is copied by
// assignment.
type ledger struct {
	now    values
	before values // the transaction
	points []savepoint
}

type savepoint struct {
	name   int
	before values
}

// commit keeps all that was set.
func (l *ledger) commit() { l.before, l.points = l.now, nil }

// rollback takes all back that was set in the transaction.
func (l *ledger) rollback() { l.now, l.points = l.before, nil }

func (l *ledger) savepoint(name int) {
	l.points = append(slices.Clone(l.points), savepoint{name, l.now})
}

// find returns the index of the innermost savepoint of a name, or -1.
func (l *ledger) find(name int) int {
	for i, p := range slices.Backward(l.points) {
		if p.name == name {
			return i
		}
	}
	return -1
}

// release ends the i-th savepoint and keeps what was set since.
func (l *ledger) release(i int) { l.points = slices.Clone(l.points[:i]) }

// back takes back what was set since the i-th savepoint, which stays.
func (l *ledger) back(i int) {
	l.now = l.points[i].before
	l.points = slices.Clone(l.points[:i+1])
}
