package config

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kproxy/kproxy/catalog"
)

const pacePolicy = `
tables:
  public.patients: {columns: {born: {role: quasi-identifying, hierarchy: date}}}
  public.visits: {columns: {day: {role: quasi-identifying, hierarchy: date}}}
people:
  patient:
    root: public.patients
    key: id
    knows: %s
    updates: %s
    tables: {public.visits: {person: patient_id, order: day}}
    constraints: [{k: 5}]
`

// TestPace: a pace sets what is not written.
func TestPace(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, c := range []struct {
		knows, updates string
		crowd          int
		within         time.Duration
		wrong          string
	}{
		{"{rows: 1, per: 1y}", "guarded", 8, 60 * day, ""},
		{"{rows: 1}", "{mode: guarded, pace: months}", 8, 60 * day, ""},
		{"{rows: 1, per: 1y}", "{mode: guarded, pace: weeks}", 16, 30 * day, ""},
		{"{rows: 1, per: 1mo}", "{mode: guarded, pace: days}", 64, 10 * day, ""},
		{"{rows: 1, crowd: 3}", "{mode: guarded, pace: days}", 3, 10 * day, ""},
		{"{rows: 1}", "{mode: guarded, pace: days, rows_within: 5d}", 64, 5 * day, ""},
		{"all", "{mode: guarded, rows_within: 5d}", 0, 5 * day, ""},
		{"all", "{mode: guarded, pace: days}", 0, 0, "a pace goes with knows: {rows: 1}"},
		{"{rows: 1}", "{mode: immediate, pace: days}", 0, 0, "updates are immediate, but something is said that only guarded ones have"},
		{"{rows: 1}", "{mode: guarded, pace: years}", 0, 0, "write one of months, weeks, days"},
	} {
		policy, err := ParsePolicy("policy.yaml", fmt.Appendf(nil, pacePolicy, c.knows, c.updates))
		if c.wrong != "" || err != nil {
			if err == nil || !strings.Contains(err.Error(), c.wrong) || c.wrong == "" {
				t.Errorf("%s, %s: %v, want %q", c.knows, c.updates, err, c.wrong)
			}
			continue
		}
		knows, updates := policy.People[0].Knows, catalog.Updates{}
		for _, of := range policy.Policy().Tables {
			if updates = of.Updates; updates.RowsWithin != c.within {
				t.Errorf("%s, %s: %s waits for %v", c.knows, c.updates, of.Table, updates.RowsWithin)
			}
		}
		if knows.Crowd != c.crowd {
			t.Errorf("%s, %s: crowd %d, want %d", c.knows, c.updates, knows.Crowd, c.crowd)
		}
	}
}
