package sync

import (
	"fmt"
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestPublicationMadeAnew drops the publication and makes it again: what the slot holds from
// before cannot be decoded any more.
func TestPublicationMadeAnew(t *testing.T) {
	t.Parallel()
	b := newBench(t, pgtest.Shared(t), sourceTables)
	b.fill(50)
	s, _ := b.run()
	b.script(`DROP PUBLICATION kproxy; UPDATE people SET age = age + 1 WHERE id < 9;
		CREATE PUBLICATION kproxy FOR TABLE people, "Odd ""Names" WITH (publish = 'insert, update, delete, truncate'); UPDATE people SET age = age + 1 WHERE id > 30`)
	people := b.config.Tables[0].Policy.Table
	await(t, "people is compared", func() bool {
		return s.Status().State == Streaming && s.Status().Tables[people].State == Published && !s.Status().Tables[people].Preparing && b.inStep()
	})
	b.caughtUp(s)
	b.checkStore(s)
}

// inStep tells whether the private store of people has the source's ages.
func (b *bench) inStep() bool {
	var same bool
	sql := "SELECT (SELECT array_agg(age ORDER BY id) FROM people) = (SELECT array_agg(age ORDER BY id) FROM kproxy_store." +
		fmt.Sprintf("records_%d", b.generationOf("people")) + ")"
	if err := b.source.QueryRow(b.t.Context(), sql).Scan(&same); err != nil {
		b.t.Fatal(err)
	}
	return same
}
