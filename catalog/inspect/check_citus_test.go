package inspect

import (
	"strings"
	"testing"
)

// TestWhatCitusLacks names what is missing of a coordinator with workers, and rows that are distributed where none are to be.
func TestWhatCitusLacks(t *testing.T) {
	t.Parallel()
	whole := citusRow{Known: true, Coordinator: true, Workers: 2, Prepared: 100, Distributed: 3}
	for _, test := range []struct {
		at         func(*citusRow)
		distribute bool
		says       string
	}{
		{func(*citusRow) {}, true, ""},
		{func(r *citusRow) { r.Distributed = 0 }, true, ""},
		{func(r *citusRow) { *r = citusRow{} }, false, ""},
		{func(r *citusRow) { r.Distributed = 0 }, false, ""},
		{func(*citusRow) {}, false, "distributed over workers"},
		{func(r *citusRow) { *r = citusRow{} }, true, "no extension citus"},
		{func(r *citusRow) { r.Coordinator = false }, true, "is a worker"},
		{func(r *citusRow) { r.Workers = 0 }, true, "no active worker"},
		{func(r *citusRow) { r.Prepared = 0 }, true, "max_prepared_transactions"},
	} {
		at := whole
		test.at(&at)
		report := judgeCitus(at, test.distribute)
		if (len(report) == 0) != (test.says == "") || len(report) > 0 && (report[0].Severity != Error || !strings.Contains(report[0].What, test.says)) {
			t.Errorf("%+v: %+v", at, report)
		}
	}
}
