package sync

import (
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// seen is what readers see of the tables that are not halted.
func (h *hospital) seen() (text string) {
	h.t.Helper()
	err := h.source.QueryRow(h.t.Context(), `SELECT (SELECT string_agg(p::text, ',' ORDER BY p::text) FROM "kproxy_release_public".patients p)
		|| (SELECT string_agg(d::text, ',' ORDER BY d::text) FROM "kproxy_release_public".drugs d)`).Scan(&text)
	if err != nil {
		h.t.Fatal(err)
	}
	return text
}

// TestLinkedTablesSurvive: whatever ends a session, and whatever one of the tables needs,
// readers have all tables of one moment, and in the end all that was committed.
func TestLinkedTablesSurvive(t *testing.T) {
	t.Parallel()
	h := newHospital(t, pgtest.Shared(t), "1/1y:2", faultyPatients)
	h.survive(func() { h.judge() })
}

// TestLinkedGuardedSurvives: so do guarded ones, of which readers see whole groups go and come.
func TestLinkedGuardedSurvives(t *testing.T) {
	t.Parallel()
	h := guardedHospital(t, "1/1y:2", faultyPatients)
	var seen map[string]shownTable
	generation := 0
	h.survive(func() {
		h.checkRelease()
		if now := h.generationOf("drugs"); now != generation { // which the operator has asked for
			generation, seen = now, h.versions()
			return
		}
		seen = h.follows(seen)
	})
}

const faultyPatients = 100

func (h *hospital) survive(judge func()) {
	const patients = faultyPatients
	t := h.t
	s, stop := h.run()
	h.inStep(s)
	some := func() {
		for range 8 {
			h.changeHospital(patients)
		}
	}
	visits := catalog.Name{Schema: "public", Relation: "visits"}
	for name, fault := range map[string]func(){
		"connections are cut": func() {
			some()
			h.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", h.config.Owner.User)
			some()
		},
		"the process ends at once": func() {
			some()
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			some()
			s, stop = h.run()
		},
		"the slot is gone": func() {
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			some()
			await(t, "the slot is dropped", func() bool {
				_, err := h.source.Exec(t.Context(), "SELECT pg_drop_replication_slot($1)", h.config.Slot)
				return err == nil // the server may not have noticed yet that the process has ended
			})
			some()
			s, stop = h.run()
		},
		"one table is made anew": func() {
			some()
			before := h.generationOf("drugs")
			if err := Rebuild(t.Context(), h.config.Owner, h.config.Slot, []catalog.Name{visits}); err != nil {
				t.Fatal(err)
			}
			some()
			await(t, "all tables are made anew", func() bool { return h.generationOf("drugs") > before })
		},
		"one table is halted": func() {
			h.exec("ALTER TABLE visits RENAME ward TO other")
			await(t, "visits are halted", func() bool { return s.Status().Tables[visits].State == Halted })
			before := h.seen()
			h.exec("DELETE FROM patients WHERE patient_id % 7 = 3")
			h.exec("INSERT INTO drugs (visit_id, dose, drug) SELECT visit_id, 20, 'meanwhile' FROM visits LIMIT 20")
			await(t, "the store has the new drugs", func() bool {
				var stored int
				table := storeTable("records", int64(h.generationOf("drugs"))).SQL()
				return h.source.QueryRow(t.Context(), "SELECT count(*) FROM "+table+" WHERE drug = 'meanwhile'").Scan(&stored) == nil && stored == 20
			})
			if now := h.seen(); now != before {
				t.Error("the others are published without visits")
			}
			h.exec("ALTER TABLE visits RENAME other TO ward")
			await(t, "visits are not halted", func() bool { return s.Status().Tables[visits].State != Halted })
			some()
		},
		"all patients go and come": func() {
			h.exec("CREATE TABLE kept AS SELECT * FROM patients; TRUNCATE patients; INSERT INTO patients SELECT * FROM kept; DROP TABLE kept")
			some()
		},
	} {
		t.Log(name)
		fault()
		await(t, "all tables are published", func() bool {
			for _, table := range s.Status().Tables {
				if table.State != Published || table.Preparing {
					return false
				}
			}
			return s.Status().State == Streaming
		})
		h.inStep(s)
		judge()
	}
}
