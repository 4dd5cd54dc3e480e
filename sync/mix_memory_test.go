package sync

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// rewritten are the classes of a part that a settling writes, which must each have been
// written once.
func rewritten(t *testing.T, of *table, part int) []incremental.ClassID {
	t.Helper()
	s := of.mode.(*immediate)
	if err := s.settle(t.Context(), of.clock()); err != nil {
		t.Fatal(err)
	}
	classes := slices.Clone(s.changes[part].Rewrite)
	of.written()
	return classes
}

// TestCovers changes one class of many: it is written with others that are drawn anew each time,
// at least coverLeast where there are so many, and none is written again. Where nothing has
// changed, nothing is written.
func TestCovers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ k, classes, changed, least, most int }{
		{3, 100, 1, coverLeast + 1, coverLeast + 1},
		{3, 100, 10, 19, 20},
		{3, 200, 60, 60 + coverMost - 4, 60 + coverMost}, // as many as are drawn, some of them twice
		{3, 2, 1, 1, 2},
		{3, 1, 1, 1, 1},
	} {
		of := memoryTable(t, sizeOnly(test.k))
		fillMemory(t, of, agesOf(test.classes, test.k)...)
		partition := partsOf(of)[0].partition
		if rows := settleAndSend(t, of).packedRows(t, of); len(rows) > 0 || of.mode.mix() {
			t.Errorf("nothing has changed, and %d rows are written", len(rows))
		}
		drawn := map[incremental.ClassID]bool{}
		for i := range 40 {
			of.changeAll(t, test.k, test.changed, fmt.Sprint(i))
			written := map[incremental.ClassID]bool{}
			rows := settleAndSend(t, of).packedRows(t, of)
			for _, row := range rows {
				written[row.class], drawn[row.class] = true, true
			}
			if of.mode.mix() {
				t.Fatal("the classes are to be written once more")
			}
			if !written[partition.ClassOf(1)] || len(written) != len(rows) || len(rows) < test.least || len(rows) > test.most {
				t.Fatalf("%+v: class %d is written with %d rows of %d classes", test, partition.ClassOf(1), len(rows), len(written))
			}
		}
		if len(drawn) < min(test.classes, 4*test.classes/10) {
			t.Errorf("%+v: %d classes are drawn ever", test, len(drawn))
		}
	}
}

// TestMixingOfParts has the classes of both parts written in which the drawn records lie, so
// that they look as the changed one does; and with each change, as many others as k demands.
func TestMixingOfParts(t *testing.T) {
	t.Parallel()
	of := memoryTable(t, visitsPolicy("visits", "rounded-partition", "", homes, persons))
	jobs := []string{"nurse", "clerk", "cook", "smith", "baker", "judge"}
	for i := range 240 {
		row := of.layout.visitOf(i+1, i%60, map[string]string{"job": jobs[i/7%len(jobs)], "sex": []string{"f", "m"}[i%2]})
		if err := of.insert(row); err != nil {
			t.Fatal(err)
		}
	}
	settleAndSend(t, of)
	s := of.mode.(*immediate)
	const changes = 100
	sum := 0
	for i := range changes {
		if err := of.change(1+i, i%60, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		if err := s.settle(t.Context(), of.clock()); err != nil {
			t.Fatal(err)
		}
		// Records that may be the changed one: those in a class of each part that is written.
		hidden := map[incremental.RecordID]int{}
		for part, p := range partsOf(of) {
			for _, class := range s.changes[part].Rewrite {
				for _, id := range p.partition.Members(class) {
					hidden[id]++
				}
			}
		}
		for _, parts := range hidden {
			if parts == len(partsOf(of)) {
				sum++
			}
		}
		of.written()
	}
	if among := float64(sum) / changes; among < float64(homes.K) { // two of those drawn may be one
		t.Errorf("the changed record is one of %.1f", among)
	}
	for _, p := range partsOf(of) {
		p.recent = p.recent[:0]
	}
	if err := of.change(1, 0, "last"); err != nil {
		t.Fatal(err)
	}
	rewritten(t, of, 0)
	if !of.mode.mix() {
		t.Fatal("nothing is mixed")
	}
	if err := s.settle(t.Context(), of.clock()); err != nil {
		t.Fatal(err)
	}
	for part, p := range partsOf(of) {
		if written := len(s.changes[part].Rewrite); written < min(4, p.partition.Classes()) {
			t.Errorf("of part %d, %d classes are mixed", part, written)
		}
	}
}

// TestEmptyTableIsNotMixed has a table lose its last class.
func TestEmptyTableIsNotMixed(t *testing.T) {
	t.Parallel()
	of := memoryTable(t, sizeOnly(3))
	fillMemory(t, of, 1, 1, 1)
	if err := of.delete(of.layout.visitOf(1, 1, nil)); err != nil {
		t.Fatal(err)
	}
	if err := of.endTransaction(nil); err != nil {
		t.Fatal(err)
	}
	settleAndSend(t, of)
	if partsOf(of)[0].partition.Classes() > 0 || of.mode.mix() {
		t.Error("a table without classes is mixed")
	}
}

// TestRecentClassesAreTheLast keeps the classes that were written last.
func TestRecentClassesAreTheLast(t *testing.T) {
	t.Parallel()
	p := &maintained{}
	var all []incremental.ClassID
	for class := incremental.ClassID(1); class < 3*mixRecent; class += 5 {
		more := []incremental.ClassID{class, class + 1, class + 2, class + 3, class + 4}
		all = append(all, more...)
		p.rememberWritten(more)
		if want := all[max(0, len(all)-mixRecent):]; !slices.Equal(p.recent, want) {
			t.Fatalf("%v are remembered, not %v", p.recent, want)
		}
	}
}

// TestMixingIsDue has changes come again and again: classes are mixed when there was none for
// mixIdle, and mixLatest after the first of them at the latest.
func TestMixingIsDue(t *testing.T) {
	t.Parallel()
	for _, pace := range []time.Duration{mixIdle / 3, mixIdle + time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			m, began := newMixer(), time.Now()
			defer m.timer.Stop()
			next := time.NewTicker(pace)
			defer next.Stop()
			m.changed(began)
			for {
				select {
				case <-next.C:
					m.changed(time.Now())
					continue
				case <-m.timer.C:
				}
				break
			}
			want := mixLatest
			if pace > mixIdle {
				want = mixIdle
			}
			if after := time.Since(began); after != want {
				t.Errorf("with a change every %v, classes are mixed after %v, not %v", pace, after, want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		m := newMixer()
		select {
		case <-m.timer.C:
			t.Error("classes are mixed before any change")
		case <-time.After(time.Hour):
		}
	})
}

// TestMixingWaitsForABoundary looks at what is mixed where the stream does not pause: the
// classes are written with the group that departs once they have waited for long enough.
func TestMixingWaitsForABoundary(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		of := memoryTable(t, visitsPolicy("visits", "rounded-partition", "", homes, persons))
		fillMemory(t, of, agesOf(20, homes.K)...)
		a := &applier{session: &session{tables: []*table{of}}, mixer: newMixer()}
		defer a.mixer.timer.Stop()
		a.mixer.touchIfLate(a.session.tables)
		if of.pending.dirty {
			t.Fatal("nothing has changed, and classes are mixed")
		}
		a.mixer.changed(time.Now())
		time.Sleep(mixLatest)
		a.mixer.touchIfLate(a.session.tables)
		if of.pending.dirty {
			t.Fatal("classes are mixed too early")
		}
		time.Sleep(time.Millisecond)
		a.transaction.open = true
		if err := a.mix(t.Context()); err != nil || of.pending.dirty {
			t.Fatalf("classes are mixed within a transaction: %v", err)
		}
		if a.mixer.touchIfLate(a.session.tables); !of.pending.dirty || !a.mixer.until.IsZero() {
			t.Fatal("classes are not mixed with what departs")
		}
		if classes := rewritten(t, of, 0); len(classes) < 5 {
			t.Errorf("%v are mixed", classes)
		}
	})
}
