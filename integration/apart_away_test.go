package integration

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// startsAlone starts a process while kproxy is locked out of the source: it serves what was published,
// applies nothing, and says so. Once the source answers, all that was committed meanwhile is published.
func (s *site) startsAlone(t *testing.T) *process {
	t.Helper()
	source, release := connect(t, s.admin), connect(t, s.release)
	login := func(may string) { execute(t, source, "ALTER ROLE source_"+s.database+" "+may) }
	login("NOLOGIN")
	execute(t, source, "DELETE FROM patients WHERE patient_id % 10 = 4")
	left := scalar[int](t, source, "SELECT count(*) FROM patients")
	s.refusesAlone(t)
	p := s.serve(t)
	conn := connect(t, s.url())
	shown := scalar[int](t, conn, "SELECT count(*) FROM patients")
	if shown <= left {
		t.Errorf("%d patients are shown, as if the source had answered", shown)
	}
	for _, words := range []string{"the source is away; serving what was published before", "the source does not answer; readers have what was applied before"} {
		p.awaitLog(t, words)
	}
	if out := psql(t, s.url(), "SELECT name FROM patients"); out.code == 0 {
		t.Error("a column that is not published can be read")
	}
	s.tellsOfAway(t)

	// What the audit can find at the release alone is still found.
	serves := func() bool { return psql(t, s.url(), "SELECT count(*) FROM patients").code == 0 }
	execute(t, release, "GRANT USAGE ON SCHEMA kproxy_store TO "+s.reader+"; GRANT SELECT ON ALL TABLES IN SCHEMA kproxy_store TO "+s.reader)
	eventually(t, "readers are refused", func() bool { return !serves() })
	execute(t, release, "REVOKE USAGE ON SCHEMA kproxy_store FROM "+s.reader+"; REVOKE SELECT ON ALL TABLES IN SCHEMA kproxy_store FROM "+s.reader)

	login("LOGIN")
	p.awaitLog(t, "the source answers and is fit")
	eventually(t, "the deletions are published", func() bool {
		return serves() && scalar[int](t, conn, "SELECT count(*) FROM patients") == left
	})
	out := s.kproxy(t, "status").must(t)
	if strings.Contains(out.stdout, "cannot be asked") {
		t.Errorf("status still tells that the source is away: %s", out.stdout)
	}
	return p
}

// tellsOfAway looks at what commands say while the source is away.
func (s *site) tellsOfAway(t *testing.T) {
	t.Helper()
	out := s.kproxy(t, "status")
	for _, words := range []string{"the source cannot be asked", "it is not known whether the slot is there", "public.patients"} {
		if !strings.Contains(out.stdout, words) {
			t.Errorf("status does not say %q: %s", words, out.stdout)
		}
	}
	if out.code != 3 {
		t.Errorf("status ends with %d: %s", out.code, out.stderr)
	}
	var told struct {
		Replication struct {
			Away string `json:"source_away"`
		} `json:"replication"`
		Tables []struct {
			State string `json:"state"`
		} `json:"tables"`
	}
	if err := json.Unmarshal([]byte(s.kproxy(t, "status", "--json").stdout), &told); err != nil {
		t.Fatal(err)
	}
	if told.Replication.Away == "" || len(told.Tables) == 0 || told.Tables[0].State != "published" {
		t.Errorf("status tells %+v", told)
	}
	proof := s.kproxy(t, "verify").must(t)
	if !strings.Contains(proof.stderr, "the source is away: what is published was verified against the private store") {
		t.Errorf("verify does not say what it could not verify: %s", proof.stderr)
	}
}

// refusesAlone: under a policy that is not in force, a process does not start while the source is away.
func (s *site) refusesAlone(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "kproxy.yaml", strings.Replace(string(text), "readable: []", "readable: [public.others]", 1))
	out := s.kproxy(t, "serve")
	if out.code == 0 || !strings.Contains(out.stderr, "there is nothing of the policy of this configuration") {
		t.Errorf("under another policy, it ends with %d: %s", out.code, out.stderr)
	}
	s.write(t, "kproxy.yaml", string(text))
}
