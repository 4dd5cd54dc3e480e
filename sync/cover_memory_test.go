package sync

import (
	"fmt"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

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
		if rows := settleAndSend(t, of).packedRows(t, of); len(rows) > 0 {
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
			if !written[partition.ClassOf(1)] || len(written) != len(rows) || len(rows) < test.least || len(rows) > test.most {
				t.Fatalf("%+v: class %d is written with %d rows of %d classes", test, partition.ClassOf(1), len(rows), len(written))
			}
		}
		if len(drawn) < min(test.classes, 4*test.classes/10) {
			t.Errorf("%+v: %d classes are drawn ever", test, len(drawn))
		}
	}
}

// TestCoversOfParts has the classes of both parts written in which the drawn records lie, so
// that they look as the changed one does; and with each change, as many others as k demands.
func TestCoversOfParts(t *testing.T) {
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
}

// TestEmptyTableIsNotCovered has a table lose its last class.
func TestEmptyTableIsNotCovered(t *testing.T) {
	t.Parallel()
	of := memoryTable(t, sizeOnly(3))
	fillMemory(t, of, 1, 1, 1)
	if err := of.delete(of.layout.visitOf(1, 1, nil)); err != nil {
		t.Fatal(err)
	}
	if err := of.endTransaction(nil); err != nil {
		t.Fatal(err)
	}
	rows := settleAndSend(t, of).packedRows(t, of)
	if partsOf(of)[0].partition.Classes() > 0 || len(rows) > 0 {
		t.Errorf("of a table without classes, %d rows are written", len(rows))
	}
}
