package sync

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// wholeOf is the whole policy of a bench.
func wholeOf(t *testing.T, p catalog.Policy) Policy {
	t.Helper()
	whole, err := NewPolicy(p, "here")
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// TestPublicationsOutlastText: what a store keeps of publications is what they were, with the same digest.
func TestPublicationsOutlastText(t *testing.T) {
	t.Parallel()
	audiences := newAudienceHospital(t, "1/1y:2", 10)
	for name, tables := range map[string][]catalog.Publication{
		"mirrored":  mirroredBench(t, mirroringPolicy()).config.Tables,
		"audiences": audiences.config.Tables,
		"guarded":   newWard(t, pgtest.Shared(t)).config.Tables,
	} {
		for _, p := range tables {
			text, err := json.Marshal(p)
			var again catalog.Publication
			if err == nil {
				err = json.Unmarshal(text, &again)
			}
			if err != nil {
				t.Fatal(err)
			}
			if retold, err := json.Marshal(again); err != nil || string(retold) != string(text) {
				t.Errorf("%s, %s: %v\n%s\n%s", name, p.Policy.Table, err, text, retold)
			}
			before, err := newTable(p)
			if err != nil {
				t.Fatal(err)
			}
			after, err := newTable(again)
			if err != nil {
				t.Fatal(err)
			}
			if before.layout.digest != after.layout.digest || !reflect.DeepEqual(before.layout.promise, after.layout.promise) {
				t.Errorf("%s, %s: another digest or promise", name, p.Policy.Table)
			}
		}
	}
}

// TestKeptPublications: the store keeps what its releases are made of, of the policy in force alone.
func TestKeptPublications(t *testing.T) {
	t.Parallel()
	policy := mirroringPolicy()
	b := mirroredBench(t, policy)
	b.config.Whole = wholeOf(t, policy)
	l := b.start()
	l.inStep()
	l.stop()
	store := b.store()
	kept := func(of Policy) []catalog.Publication {
		t.Helper()
		found, err := KeptPublications(t.Context(), store, of)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if found := kept(b.config.Whole); len(found) != len(b.config.Tables) {
		t.Errorf("%d publications of %d are kept", len(found), len(b.config.Tables))
	}
	if found := kept(Policy{Fingerprint: "another"}); len(found) != 0 {
		t.Errorf("%d publications are kept of a policy that is not in force", len(found))
	}
	if found := kept(Policy{}); len(found) != 0 {
		t.Errorf("%d publications are kept of no policy", len(found))
	}
	for _, spoil := range []string{
		"UPDATE kproxy_store.generation SET policy_digest = 'another' WHERE table_name = 'people'",
		"UPDATE kproxy_store.generation SET publication = '{' WHERE table_name = 'codes'",
		"UPDATE kproxy_store.generation SET followed = 'another' WHERE table_name = 'rooms'",
	} {
		before := len(kept(b.config.Whole))
		if _, err := store.Exec(t.Context(), spoil); err != nil {
			t.Fatal(err)
		}
		if found := kept(b.config.Whole); len(found) != before-1 {
			t.Errorf("%s: %d publications are kept of %d", spoil, len(found), before)
		}
	}
}

// TestUnprovedAppliesNothing: without a proof of the source, a process tells what the store has and does not
// connect to the source; after one, it applies what was committed meanwhile.
func TestUnprovedAppliesNothing(t *testing.T) {
	t.Parallel()
	policy := mirroringPolicy()
	b := mirroredBench(t, policy)
	b.config.Whole = wholeOf(t, policy)
	l := b.start()
	l.inStep()
	const made = "SELECT generation FROM kproxy_store.generation WHERE table_name = 'people'"
	var generation, now int
	if err := b.store().QueryRow(t.Context(), made).Scan(&generation); err != nil {
		t.Fatal(err)
	}
	l.stop()
	tables, source := b.config.Tables, b.config.Source
	kept, err := KeptPublications(t.Context(), b.store(), b.config.Whole)
	if err != nil {
		t.Fatal(err)
	}
	away := source.Copy()
	away.Host, away.Port = "127.0.0.1", 1 // nobody listens there
	b.config.Source, b.config.Unproved = away, true
	b.config.Tables = append(b.config.Tables[:0:0], kept...)
	for i, p := range b.config.Tables {
		if p.Policy.Table == publicTable("codes") {
			b.config.Tables[i] = catalog.Publication{Policy: p.Policy} // of which nothing is known
		}
	}
	l = b.start()
	<-l.Published()
	status := l.Status()
	if status.State != Reconnecting || status.Stale.IsZero() || status.Position == 0 || status.Reason == "" || status.Fix == "" {
		t.Errorf("it tells %+v", status)
	}
	for _, p := range kept {
		want := Published
		if p.Policy.Table == publicTable("codes") {
			want = Halted
		}
		if got := status.Tables[p.Policy.Table]; got.State != want {
			t.Errorf("%s: %+v", p.Policy.Table, got)
		}
	}
	b.exec("UPDATE people SET age = age + 1")
	if status := l.Status(); status.State != Reconnecting {
		t.Errorf("it tells %+v", status)
	}
	b.config.Source, b.config.Tables = source, tables
	l.LogInAs(b.config.Owner, source, nil)
	l.ReloadAs(tables, b.config.Whole, false)
	l.inStep()
	if err := b.store().QueryRow(t.Context(), made).Scan(&now); err != nil || now != generation {
		t.Errorf("a table was published afresh: %v", err)
	}
	if status := l.Status(); !status.Stale.IsZero() {
		t.Errorf("it tells that it stands since %v", status.Stale)
	}
}
