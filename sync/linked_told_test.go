package sync

import (
	gosync "sync"
	"testing"
)

// TestReasonsOutlastRestarts: where nothing is published of guarded tables of people, for their own readers or for an audience, a process that starts
// never tells that something is, before its first settling either: readers would see no rows, and no error.
func TestReasonsOutlastRestarts(t *testing.T) {
	t.Parallel()
	const patients = 8
	h := guardedAudienceHospital(t, "1/1y:3", patients)
	s, stop := h.run()
	h.inStep(s)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	var mu gosync.Mutex
	told := map[string]TableStatus{}
	h.config.Changed = func(now Status) {
		mu.Lock()
		defer mu.Unlock()
		for name, of := range now.Tables {
			for audience, seen := range of.Audiences {
				if of.State == Published && seen.Classes == 0 && seen.Reason == "" {
					told[name.Relation+" for "+audience] = of
				}
			}
			if of.State == Published && of.Classes == 0 && of.Reason == "" {
				told[name.Relation] = of
			}
		}
	}
	s, stop = h.run()
	h.inStep(s)
	if status := s.Status().Tables[publicTable("patients")]; status.Classes > 0 || status.Audiences["public"].Classes > 0 {
		t.Fatalf("something is published: %+v", status)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	for of, status := range told {
		t.Errorf("of %s it is told that something is published: %+v", of, status)
	}
}
