package sync

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	gosync "sync"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// batched are the rows that a batchWriter cuts from the pieces.
func batched(columns int, pieces ...string) (rows [][]value, err error) {
	w := &batchWriter{columns: columns, fresh: func() *rowBatch { return &rowBatch{} }, give: func(b *rowBatch) error {
		for i := range b.rows {
			row := make([]value, columns)
			for column := range row {
				if row[column], err = b.field(i, column); err != nil {
					return err
				}
				row[column].text = strings.Clone(row[column].text)
			}
			rows = append(rows, row)
		}
		return nil
	}}
	for _, piece := range pieces {
		if _, err := w.Write([]byte(piece)); err != nil {
			return rows, err
		}
	}
	return rows, w.Close()
}

// TestBatchesAreTheRows compares batches with rows that are cut one by one.
func TestBatchesAreTheRows(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	var pieces []string
	for range 20_000 {
		row := []string{`\N`, `a\\b\tc`, "", strings.Repeat("x", random.IntN(40))}
		if random.IntN(5000) == 0 {
			row[3] = strings.Repeat("long ", spoolBytes/2)
		}
		random.Shuffle(len(row), func(i, j int) { row[i], row[j] = row[j], row[i] })
		text := strings.Join(row, "\t") + "\n"
		cut := random.IntN(len(text))
		pieces = append(pieces, text[:cut], text[cut:])
	}
	want, err := rows(4, pieces...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := batched(4, pieces...)
	if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%d rows that differ from the %d expected: %v", len(got), len(want), err)
	}
}

// TestSpools has two take rows of several readers, in the order of the ranges, while batches
// are used again and again.
func TestSpools(t *testing.T) {
	t.Parallel()
	const ranges, readers, rowsOfRange = 7, 3, 9000
	text := func(at, row int) string { return fmt.Sprintf("%d of range %d", row, at) }
	spare := make(chan *rowBatch, 2*spoolAhead*readers)
	var taken [2][]string
	var spools []*spool
	for i := range taken {
		spools = append(spools, newSpool(func(b *rowBatch) error {
			for row := range b.rows {
				v, err := b.field(row, i)
				if err != nil {
					return err
				}
				taken[i] = append(taken[i], strings.Clone(v.text))
			}
			return nil
		}, readers, spare))
	}
	var running gosync.WaitGroup
	for number := range readers {
		running.Go(func() {
			r := &recordReader{spools: spools, number: number, spare: spare}
			for at := number; at < ranges; at += readers {
				w := &batchWriter{columns: 2, fresh: r.fresh, give: func(b *rowBatch) error { return r.give(t.Context(), b) }}
				for row := range rowsOfRange {
					if _, err := fmt.Fprintf(w, "%[1]s\t%[1]s\n", text(at, row)); err != nil {
						t.Error(err)
					}
				}
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for _, to := range spools {
		running.Go(func() {
			if err := to.run(t.Context(), ranges); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	var want []string
	for at := range ranges {
		for row := range rowsOfRange {
			want = append(want, text(at, row))
		}
	}
	for i := range taken {
		if !slices.Equal(taken[i], want) {
			t.Errorf("%d took %d rows that are not the %d of the readers", i, len(taken[i]), len(want))
		}
	}
}

func TestBatchesRefuse(t *testing.T) {
	t.Parallel()
	if got, err := batched(2); err != nil || len(got) > 0 {
		t.Errorf("nothing is read as %v, %v", got, err)
	}
	for name, piece := range map[string]string{
		"too few columns":   "a\n",
		"too many columns":  "a\tb\tc\n",
		"one row for two":   "a\nb\tc\td\n",
		"unfinished row":    "a\tb",
		"unfinished escape": "a\tb\\\n",
		"unknown escape":    "a\tb\\x\n",
	} {
		if got, err := batched(2, piece); err == nil {
			t.Errorf("%s: read as %v", name, got)
		}
	}
}

func TestStoredIDs(t *testing.T) {
	t.Parallel()
	got, err := appendStoredIDs(nil, "{12,3,999999999999999999}")
	if want := []incremental.RecordID{12, 3, 999999999999999999}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := appendStoredIDs(nil, "{}"); err != nil || len(got) > 0 {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "{", "}", "1", "{1", "1}", "{,}", "{1,}", "{,1}", "{1,,2}", "{-1}", "{NULL}", "{1}2}", "{1}}", "{9999999999999999999}"} {
		if got, err := appendStoredIDs(nil, text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

// TestGatheredKeys compares keys that were gathered with keys that came one by one.
func TestGatheredKeys(t *testing.T) {
	t.Parallel()
	for _, repeats := range []bool{false, true} {
		random := rand.New(rand.NewPCG(5, 6))
		gathered, single := newKeys(repeats), newKeys(repeats)
		g := gathered.gather(1000)
		unique := true
		for id := range incremental.RecordID(30_000) {
			key := []byte(fmt.Sprint("key ", id))
			if repeats {
				key = binaryText(random.IntN(20_000))
			}
			g.add(key, id)
			unique = single.add(key, id) && unique
		}
		if got := g.end(); got != unique {
			t.Fatalf("repeating %t: unique %t, want %t", repeats, got, unique)
		}
		for id := range incremental.RecordID(40_000) {
			key := []byte(fmt.Sprint("key ", id))
			if repeats {
				key = binaryText(int(id))
			}
			for {
				want, known := single.find(key)
				if got, found := gathered.find(key); got != want || found != known {
					t.Fatalf("%x leads to %d, %t, want %d, %t", key, got, found, want, known)
				}
				if !known {
					break
				}
				single.remove(key, want)
				gathered.remove(key, want)
			}
		}
	}
	g := newKeys(false).gather(0)
	g.add([]byte("a"), 1)
	g.add([]byte("a"), 2)
	if g.end() {
		t.Error("a key is there twice")
	}
}
