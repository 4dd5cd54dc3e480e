package daemon

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	ksync "github.com/kproxy/kproxy/sync"
)

// TestTheLogCallsWellWhatIsPublished: a halted table that replication looks at again is
// called neither well nor withdrawn once more.
func TestTheLogCallsWellWhatIsPublished(t *testing.T) {
	t.Parallel()
	a := catalog.Name{Schema: "public", Relation: "a"}
	log := &bytes.Buffer{}
	policy := catalog.Policy{Tables: []catalog.TablePolicy{{Table: a}}}
	s := served{logger: slog.New(slog.NewTextHandler(log, nil))}
	for i, c := range []struct {
		now             ksync.TableStatus
		withdrawn, well int
	}{
		{ksync.TableStatus{}, 0, 0},
		{ksync.TableStatus{State: ksync.Published}, 0, 0},
		{ksync.TableStatus{State: ksync.Halted, Problem: "swapped"}, 1, 0},
		{ksync.TableStatus{}, 1, 0},
		{ksync.TableStatus{State: ksync.Halted, Problem: "swapped"}, 1, 0},
		{ksync.TableStatus{}, 1, 0},
		{ksync.TableStatus{State: ksync.Halted, Problem: "gone"}, 2, 0},
		{ksync.TableStatus{}, 2, 0},
		{ksync.TableStatus{State: ksync.Published}, 2, 1},
		{ksync.TableStatus{}, 2, 1},
		{ksync.TableStatus{State: ksync.Published}, 2, 1},
		{ksync.TableStatus{State: ksync.Halted, Problem: "gone"}, 3, 1},
	} {
		s.log(policy, ksync.Status{Tables: map[catalog.Name]ksync.TableStatus{a: c.now}})
		if withdrawn, well := strings.Count(log.String(), "is withdrawn"), strings.Count(log.String(), "is well again"); withdrawn != c.withdrawn || well != c.well {
			t.Errorf("step %d: withdrawn %d times, well again %d times, want %d and %d:\n%s", i, withdrawn, well, c.withdrawn, c.well, log)
		}
	}
}

// TestOneCauseIsLoggedOnce: what a check finds of a table that is halted is not logged as another withdrawal.
func TestOneCauseIsLoggedOnce(t *testing.T) {
	t.Parallel()
	a := catalog.Name{Schema: "public", Relation: "a"}
	log := &bytes.Buffer{}
	s := served{logger: slog.New(slog.NewTextHandler(log, nil))}
	halted := ksync.Status{Tables: map[catalog.Name]ksync.TableStatus{a: {State: ksync.Halted, Problem: "column 2 was age, is now years"}}}
	policy := catalog.Policy{Tables: []catalog.TablePolicy{{Table: a}}}
	s.log(policy, halted)
	s.broken = map[catalog.Name]inspect.Report{a: {{Severity: inspect.Error, Table: a, What: "no such column"}}}
	s.log(policy, halted)
	if lines := strings.Count(log.String(), "is withdrawn"); lines != 1 || !strings.Contains(log.String(), "is now years") {
		t.Errorf("the log is\n%s", log)
	}
}
