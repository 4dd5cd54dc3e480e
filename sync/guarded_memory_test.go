package sync

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/catalog"
)

// guardedTable is an empty guarded table of visits, or of persons' visits.
func guardedTable(t *testing.T, subject string) (*table, *guarded) {
	t.Helper()
	of := memoryTable(t, guardedVisits("visits", "rounded-partition", subject, catalog.Updates{Crowd: 1}, ofSize))
	return of, of.mode.(*guarded)
}

// TestReasonsOfGuarded says why nothing of a guarded table is published.
func TestReasonsOfGuarded(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		subject string
		f       lineage.Freshness
		want    string
	}{
		{"", lineage.Freshness{}, "the table has no records, and nothing of it has been published"},
		{"", lineage.Freshness{Waiting: 1}, "1 records wait for others: batches are of 3 records at least"},
		{"person", lineage.Freshness{Waiting: 2}, "2 records wait for others: batches are of 3 persons at least"},
		{"", lineage.Freshness{Withheld: 1}, "1 records are withheld for good: they waited until the deadline, or violated the constraints together"},
		{"", lineage.Freshness{Withheld: 4, Waiting: 2}, "4 records are withheld for good: they waited until the deadline, or violated the constraints together; 2 records wait for others: batches are of 3 records at least"},
	} {
		if _, s := guardedTable(t, test.subject); s.reason(test.f) != test.want {
			t.Errorf("%+v: %s", test.f, s.reason(test.f))
		}
	}
	large := memoryTable(t, guardedVisits("visits", "rounded-partition", "", catalog.Updates{Crowd: 1, Batch: 100, Within: time.Minute}, ofSize))
	want := "30 records wait for others: a batch begins with 100 records (batch), or with 3 and more when one has waited for 1m0s (within)"
	if reason := large.mode.(*guarded).reason(lineage.Freshness{Waiting: 30}); reason != want {
		t.Errorf("%s", reason)
	}
}

// TestGuardedTablesThatCannotBe asks for lineages of tables that none can be of.
func TestGuardedTablesThatCannotBe(t *testing.T) {
	t.Parallel()
	of := memoryTable(t, visitsPolicy("visits", "rounded-partition", "", homes, persons))
	if s, err := newGuarded(of, 1, 1); s != nil || err == nil || transient(err) {
		t.Errorf("a table of two parts is guarded: %v", err)
	}
	of = memoryTable(t, visitsPolicy("visits", "rounded-partition", "", ofSize, models["closeness"][0]))
	stop := (*StopError)(nil)
	if s, err := newGuarded(of, 1, 1); s != nil || !errors.As(err, &stop) || !strings.Contains(stop.Fix, "updates: immediate") {
		t.Errorf("a table whose classes depend on all records is guarded: %v", err)
	}
}

// TestGuardedBegins makes the first batch of a guarded table: how far it is gets told while it is
// made, and all of its classes and rows are given, each once.
func TestGuardedBegins(t *testing.T) {
	t.Parallel()
	of, s := guardedTable(t, "")
	const records = 60
	now := time.UnixMicro(1_700_000_000_000_000)
	for i := range records {
		if _, err := s.insert(incremental.RecordID(i+1), nil, *s.code(of.layout.visitOf(i, i%40, nil)), now); err != nil {
			t.Fatal(err)
		}
	}
	a := memoryApplier()
	var told []Progress
	a.session.syncer.config.Progress = func(p Progress) { told = append(told, p) }
	if err := s.publish(t.Context(), &publisher{table: of, config: &a.session.syncer.config, at: now, total: records}, nil); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(told, func(p Progress) bool { return p.Stage == "anonymizing" && p.Done == records }) {
		t.Errorf("it is told that %+v", told)
	}
	before := len(told)
	if s.progress(1); len(told) != before {
		t.Error("progress is told of a batch that is not the first")
	}
	classes, next := map[int64]bool{}, s.classes(0)
	for {
		row, err := next()
		if err != nil {
			t.Fatal(err)
		}
		if row == nil {
			break
		}
		if id := row[0].(int64); classes[id] || len(row) != 1+len(s.part.generalized) {
			t.Errorf("class %d comes as %v", id, row)
		}
		classes[row[0].(int64)] = true
	}
	given, assignment := map[int64]bool{}, s.assignments()
	for {
		row, err := assignment()
		if err != nil {
			t.Fatal(err)
		}
		if row == nil {
			break
		}
		if id := row[0].(int64); given[id] || row[2] != false || len(row) != 3 {
			t.Errorf("record %d comes as %v", id, row)
		}
		given[row[0].(int64)] = true
	}
	if status := s.status(); len(given) != records || len(classes) < 2 || len(classes) != status.Classes || status.Reason != "" || status.Withheld != 0 {
		t.Errorf("%d records in %d classes are given: %+v", len(given), len(classes), status)
	}
	if row, err := assignment(); row != nil || err != nil {
		t.Errorf("something comes after the end: %v, %v", row, err)
	}
}

// TestBatchesThatAreNotMade ends the making of a batch, the first one or another.
func TestBatchesThatAreNotMade(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	now := time.UnixMicro(1_700_000_000_000_000)
	for name, end := range map[string]func(of *table, s *guarded) error{
		"published": func(of *table, s *guarded) error {
			return s.publish(ctx, &publisher{table: of, config: &memoryApplier().session.syncer.config, at: now}, nil)
		},
		"settled": func(_ *table, s *guarded) error { return s.settle(ctx, now.Add(time.Hour)) },
	} {
		of, s := guardedTable(t, "")
		for i := range 60 {
			if _, err := s.insert(incremental.RecordID(i+1), nil, *s.code(of.layout.visitOf(i, i%40, nil)), now); err != nil {
				t.Fatal(err)
			}
		}
		if err := end(of, s); !errors.Is(err, context.Canceled) {
			t.Errorf("a batch that was not made is %s: %v", name, err)
		}
	}
}

// TestStoredPlaces tells what the store notes of a record: since when it waits, or is published
// as it was, and what has changed of it then.
func TestStoredPlaces(t *testing.T) {
	t.Parallel()
	now := time.UnixMicro(5)
	for _, test := range []struct {
		at      lineage.Place
		changed bool
	}{
		{lineage.Place{Row: 1, Since: now, Changed: "a"}, true}, {lineage.Place{Row: 1, Changed: "a"}, false}, {lineage.Place{Since: now, Changed: "a"}, false}, {lineage.Place{Row: 1, Since: now}, true},
	} {
		if got := storedChange(test.at); (got != nil) != test.changed || got != nil && *got != test.at.Changed {
			t.Errorf("of %+v, %v is noted", test.at, got)
		}
	}
	if storedTime(time.Time{}) != nil || !storedTime(now).Equal(now) {
		t.Error("another time is noted")
	}
}

// TestGuardedStoresThatDoNotFit loads stores of a guarded table in which something cannot be.
func TestGuardedStoresThatDoNotFit(t *testing.T) {
	t.Parallel()
	const columns = "1\t30\t10115\tf\tnurse\tflu\t12"
	record := func(id, class, row, since, changed, expired string) string {
		return strings.Join([]string{id, class, row, since, changed, expired, columns}, "\t") + "\n"
	}
	null := `\N`
	waits := record("1", null, null, "1700000000000000", null, "f")
	const row = "5\t9\t0\tf\n"
	for name, test := range map[string]struct {
		records, rows, weights string
		fits                   bool
	}{
		"one that waits":              {records: waits, fits: true},
		"one that was waited for":     {records: record("1", null, null, "1700000000000000", null, "t"), fits: true},
		"of no number":                {records: record("x", null, null, null, null, "f")},
		"of no class":                 {records: record("1", "x", "9", null, null, "f"), rows: row},
		"of no row":                   {records: record("1", "5", "x", null, null, "f"), rows: row},
		"of no time":                  {records: record("1", null, null, "x", null, "f")},
		"cut short":                   {records: "1\t5\n"},
		"of a broken escape":          {records: record("1", null, null, `\x`, null, "f")},
		"of a broken value":           {records: strings.Replace(waits, "nurse", `\x`, 1)},
		"of a broken key":             {records: strings.Replace(waits, "\t1\t30", "\t\\x\t30", 1)},
		"twice":                       {records: waits + strings.Replace(waits, "\t1\t30", "\t2\t30", 1)},
		"two of one key":              {records: waits + strings.Replace(waits, "1", "2", 1)},
		"a row without a class":       {records: waits, rows: strings.Replace(row, "5", "x", 1)},
		"a row without a number":      {records: waits, rows: strings.Replace(row, "9", "x", 1)},
		"a row of no person":          {records: waits, rows: strings.Replace(row, "0", "x", 1)},
		"a weight":                    {records: waits, weights: "0\t7\t7\t0.5\n", fits: true},
		"a weight that is none":       {records: waits, weights: "0\t7\t7\tx\n"},
		"a weight of nothing":         {records: waits, weights: "x\t7\t7\t0.5\n"},
		"a row that is there twice":   {records: waits, rows: row + row},
		"a record in a row of nobody": {records: record("1", "5", "9", null, null, "f"), rows: strings.Replace(row, "9", "8", 1)},
	} {
		lines := func(text string) (all [][]any) {
			for line := range strings.Lines(text) {
				all = append(all, []any{line})
			}
			return all
		}
		of, _ := guardedTable(t, "")
		m := newMemoryServer(t, answer{words: "extract(epoch FROM", rows: lines(test.records)}, answer{words: catalog.SealedColumn, rows: lines(test.rows)}, answer{words: catalog.DiscountedColumn, rows: lines(test.weights)})
		err := of.mode.load(t.Context(), viewAsItIs(m.session().store.conn.PgConn()), func(int) {})
		if (err == nil) != test.fits || err != nil && transient(err) {
			t.Errorf("%s: it is loaded: %v", name, err)
		}
	}
	of, _ := guardedTable(t, "")
	m := newMemoryServer(t, answer{words: catalog.SealedColumn, state: insufficientPrivilege})
	if err := of.mode.load(t.Context(), viewAsItIs(m.session().store.conn.PgConn()), func(int) {}); err == nil {
		t.Error("a release that cannot be read is loaded")
	}
}
