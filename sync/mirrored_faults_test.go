package sync

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestMirroredDies ends a Syncer at every failpoint that changes pass, while it applies what was committed
// long before, in groups, and what is committed meanwhile. After a restart the mirrored tables are the source's to the byte,
// repeated rows as often as there.
func TestMirroredDies(t *testing.T) {
	t.Parallel()
	b := mirroredBench(t, mirroringPolicy())
	b.quiet()
	r := rand.New(rand.NewPCG(7, 0))
	_, stop := b.run()
	for pass, point := range []string{FailBeforeCommit, FailAfterCommit, FailSpilled, FailBeforeCommit, FailBeforeAcknowledge, FailAfterCommit} {
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		for range 25 {
			b.transactionWith(r, func() { b.changeMirrored(r) })
		}
		if point == FailSpilled {
			b.script(`UPDATE wards SET note = 'all'; INSERT INTO codes SELECT 'c' || i % 7, 'many' FROM generate_series(1, 2500) i;
				DELETE FROM codes WHERE ctid IN (SELECT ctid FROM codes WHERE meaning = 'many' LIMIT 1000); UPDATE rooms SET floor = floor + 1`)
		}
		time.Sleep(2 * groupTime) // it lags behind from now on
		h := b.holdAtPass(point, 1+pass%3)
		if point == FailSpilled {
			h = b.holdAt(point)
		}
		l := b.start()
		for start, held := time.Now(), false; !held; {
			select {
			case <-h.reached:
				held = true
			case <-time.After(20 * time.Millisecond):
				b.transactionWith(r, func() { b.changeMirrored(r) })
			}
			if time.Since(start) > patience {
				t.Fatalf("%s is not passed", point)
			}
		}
		l.cancel()
		h.free()
		<-l.done
		b.config.Failpoint = nil
		b.transactionWith(r, func() { b.changeMirrored(r) })
		s, end := b.run()
		b.caughtUp(s)
		b.checkStore(s)
		stop = end
	}
}
