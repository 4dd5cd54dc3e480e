package sync

import (
	"testing"

	"github.com/jackc/pglogrepl"
)

// TestTransactionAtTheTablesPosition has transactions begin to commit before the position
// up to which a table has all changes, at it, and behind. Where one commit record follows
// the other without a gap, the second one begins at the end of the first, which is the
// table's position then: a table has what lies before its position, and needs the rest.
func TestTransactionAtTheTablesPosition(t *testing.T) {
	t.Parallel()
	const position = pglogrepl.LSN(0x16B3748)
	for final, wanted := range map[pglogrepl.LSN]bool{position - 1: false, position: true, position + 1: true} {
		in := &transaction{commitAt: final}
		r := &relation{message: &pglogrepl.RelationMessage{RelationID: 1}, table: &table{release: releaseState{position: position}}}
		got, err := in.tableOf(r)
		if err != nil || (got != nil) != wanted {
			t.Errorf("a commit at %s of a table that is at %s: applied %t, %v; want %t", final, position, got != nil, err, wanted)
		}
	}
}
