package integration

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// The tables of a sealed site plant canaries: texts and numbers that no reader may see, and that are to be found in no
// file of the release's server. The numbers are none that a rounded fraction, such as a loss of 0.7300000000000001, has. Those of few are withheld as they are fewer than k.
const (
	sealedSchema = `
CREATE TABLE wards (code text PRIMARY KEY, name text);
INSERT INTO wards VALUES ('w0', 'publicward'), ('w1', 'other');
CREATE TABLE people (id bigint PRIMARY KEY, card text NOT NULL UNIQUE, age int, zip text, n int NOT NULL, ward text, note text);
ALTER TABLE people ALTER note SET STORAGE EXTERNAL;
INSERT INTO people SELECT 731852946170000000 + i, 'canarycard' || i, i % 7, substr(md5(i::text), 1, 4) || 'canaryzip' || i, 0, 'w' || i % 2, 'publicnote' || repeat('~', i % 3 * 1500) FROM generate_series(1, 200) i;
CREATE TABLE few (id bigint PRIMARY KEY, age int, illness text);
INSERT INTO few VALUES (741852946170000001, 1, 'canaryillness'), (741852946170000002, 2, 'canaryillness too');
CREATE TABLE visits (id bigint PRIMARY KEY, age int, zip text, diagnosis text);
INSERT INTO visits SELECT 721852946170000000 + i, i % 60, substr(md5(i::text), 1, 4) || 'canaryhome' || i, 'publicdiagnosis ' || i % 3 FROM generate_series(1, 120) i;`

	sealedPolicy = `tables:
  public.people:
    updates: immediate
    constraints: [{k: 5}]
    columns:
      card: {role: quasi-identifying, hierarchy: suppression}
      age: {role: quasi-identifying, hierarchy: numeric, publish: range}
      zip: {role: quasi-identifying, hierarchy: prefix}
      n: insensitive
      ward: insensitive
      note: insensitive
  public.few:
    updates: immediate
    constraints: [{k: 5}]
    columns:
      age: {role: quasi-identifying, hierarchy: numeric, publish: range}
      illness: sensitive
  public.visits:
    updates: {mode: guarded, batch: 10, within: 1s}
    constraints: [{k: 5}]
    columns:
      age: {role: quasi-identifying, hierarchy: numeric, publish: range}
      zip: {role: quasi-identifying, hierarchy: prefix}
      diagnosis: sensitive
# more
mirrored:
  public.wards: {columns: [code, name]}
`
	sealSection = "release:\n  seal: {key_file: seal.key}"
)

// sealKey is a line with a key.
func sealKey(of byte) string {
	return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{of}, 32)) + "\n"
}

// sealedSite has source and release on two servers, that of the release its own, and the private store sealed.
func sealedSite(t *testing.T) (*site, *pgserver.Server) {
	t.Helper()
	o := sqlSite(sealedSchema, sealedPolicy)
	o.settings = sealSection
	o.apart = ownServer(t, pgserver.Options{Settings: map[string]string{"log_statement": "all", "log_min_duration_statement": "0", "log_destination": "stderr", "logging_collector": "on"}})
	s := newSite(t, o)
	s.write(t, "seal.key", sealKey(1))
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "check").must(t)
	return s, o.apart
}

// sealedState is what a refused start must not change.
func sealedState(t *testing.T, release *pgx.Conn) string {
	t.Helper()
	return scalar[string](t, release, `SELECT (SELECT array_agg(p::text) FROM kproxy_store.position p)::text || (SELECT array_agg(g::text) FROM kproxy_store.generation g)::text
		|| (SELECT array_agg(s::text) FROM kproxy_store.seal s)::text || (SELECT array_agg(c.oid::text || relfilenode ORDER BY c.oid) FROM pg_class c WHERE relnamespace::regnamespace::text ~ 'kproxy')::text`)
}

// changesSealed changes rows of the source in every way, and waits until readers see that.
func (s *site) changesSealed(t *testing.T, turn int) {
	t.Helper()
	source, conn := connect(t, s.admin), connect(t, s.url())
	execute(t, source, fmt.Sprintf("INSERT INTO visits SELECT 721852946170001000 + i, i %% 60, substr(md5(i::text), 1, 4) || 'canaryhome' || i, 'publicdiagnosis' FROM generate_series(%[1]d * 100, %[1]d * 100 + 12) i", turn))
	execute(t, source, fmt.Sprintf("UPDATE visits SET zip = substr(md5(id::text), 1, 3) || 'canaryhome', age = age + 1 WHERE id %% 7 = %d", turn%7))
	execute(t, source, fmt.Sprintf("DELETE FROM visits WHERE id %% 13 = %d", turn%13))
	execute(t, source, fmt.Sprintf("INSERT INTO people SELECT 731852946170001000 + i, 'canarycard' || i + 1000, i %% 7, substr(md5(i::text), 1, 4) || 'canaryzip', %[1]d, 'w0', 'publicnote' FROM generate_series(%[1]d * 100, %[1]d * 100 + 20) i", turn))
	execute(t, source, fmt.Sprintf("UPDATE people SET n = n + 1 WHERE id %% 5 = %d", turn%5)) // leaves wide notes out of the stream
	execute(t, source, fmt.Sprintf("UPDATE people SET id = id + 100000, zip = substr(md5(id::text), 1, 3) || 'canaryzip', card = 'canarycard moved ' || id WHERE id %% 11 = %d AND id < 731852946170100000", turn%11))
	execute(t, source, fmt.Sprintf("DELETE FROM people WHERE id %% 37 = %d", turn%37))
	want := scalar[string](t, source, "SELECT count(*) || ' ' || sum(n) || ' ' || sum(length(note)) FROM people")
	eventually(t, "the changes are published", func() bool {
		var got string // the table may be published afresh
		return conn.QueryRow(t.Context(), "SELECT count(*) || ' ' || sum(n) || ' ' || sum(length(note)) FROM people").Scan(&got) == nil && got == want
	})
}

// TestSealed goes through the life of a sealed store on a server of its own: it is set up, followed, read and restarted;
// its keys are replaced and lost. No file of the release's server, its log of writes and its messages among them, has
// anything of what is not published.
func TestSealed(t *testing.T) {
	t.Parallel()
	s, server := sealedSite(t)
	release := connect(t, s.release)
	p := s.serve(t)
	s.changesSealed(t, 1)
	if out := psql(t, s.url(), "SELECT w.name, count(*) FROM people p JOIN wards w ON w.code = p.ward GROUP BY 1 ORDER BY 1").must(t); !strings.Contains(out.stdout, "publicward|") {
		t.Errorf("a join says %q", out.stdout)
	}
	s.asksSealed(t)
	s.changesSealed(t, 2)
	again := func(keys string) {
		t.Helper()
		if code := p.end(t, syscall.SIGTERM); code != 0 {
			t.Errorf("the exit code is %d", code)
		}
		s.write(t, "seal.key", keys)
		p = s.serve(t)
	}
	again(sealKey(1))
	s.changesSealed(t, 3)
	p.end(t, syscall.SIGKILL)
	p = s.serve(t)

	t.Log("replace the key")
	s.write(t, "seal.key", sealKey(2)+sealKey(1))
	if out := s.kproxy(t, "check").must(t); !strings.Contains(out.stdout, "the one that applies then seals it with the first one") {
		t.Errorf("check says %s", out.stdout)
	}
	again(sealKey(2) + sealKey(1))
	if out := s.kproxy(t, "check").must(t); strings.Contains(out.stdout, "seal") {
		t.Errorf("after the key was replaced, check says %s", out.stdout)
	}
	again(sealKey(2))
	s.changesSealed(t, 4)

	t.Log("start with another key")
	p.end(t, syscall.SIGTERM)
	before := sealedState(t, release)
	s.write(t, "seal.key", sealKey(1))
	wrong := s.launch(t)
	if code := wrong.wait(t); code == 0 || !strings.Contains(wrong.log.String(), "which is not among those of release.seal") || !strings.Contains(wrong.log.String(), "docs/sealed.md") {
		t.Errorf("with another key kproxy ends with %d: %s", code, wrong.log)
	}
	if out := s.kproxy(t, "check"); out.code == 0 || !strings.Contains(out.stdout+out.stderr, "which is not among those of release.seal") {
		t.Errorf("check: %d, %s%s", out.code, out.stdout, out.stderr)
	}
	if now := sealedState(t, release); now != before {
		t.Errorf("a refused start has changed the store:\n%s\n%s", before, now)
	}

	t.Log("lose the key")
	execute(t, release, "DELETE FROM kproxy_store.seal")
	s.write(t, "seal.key", sealKey(3))
	p = s.serve(t)
	refused := refusal(t, connect(t, s.url()), "TABLE people")
	if refused.Code != "55000" || !strings.Contains(refused.Message, "people") || refused.Hint == "" || strings.Contains(refused.Message+refused.Detail+refused.Hint, "seal") {
		t.Errorf("readers are refused with %s: %s (%s)", refused.Code, refused.Message, refused.Hint)
	}
	if out := s.kproxy(t, "status"); !strings.Contains(out.stdout, "is gone from kproxy_store.seal") || !strings.Contains(out.stdout, "kproxy rebuild public.people") {
		t.Errorf("status says %s", out.stdout)
	}
	s.kproxy(t, "rebuild", "public.people", "public.few", "public.visits", "--new-lineage").must(t)
	s.changesSealed(t, 5)
	s.kproxy(t, "verify").must(t)
	s.kproxy(t, "check").must(t)
	s.holdsNothing(t, server, p, wrong)
}

// asksSealed runs the commands that look at a store. Those that need its values say that they have none.
func (s *site) asksSealed(t *testing.T) {
	t.Helper()
	for _, command := range [][]string{
		{"export", "people", "--out", s.dir + "/people.csv"},
		{"report", "--out", s.dir + "/dossier"},
		{"accept", "--yes"},
		{"explain", "SELECT count(*) FROM people"},
		{"reload"},
		{"reanonymize", "public.people"},
		{"resync"},
		{"check"},
	} {
		s.kproxy(t, command...).must(t)
	}
	if out := s.kproxy(t, "report", "--json").must(t); !strings.Contains(out.stdout, "public.people: its private store is sealed") {
		t.Errorf("the report has no limit of sealed stores: %s", out.stdout)
	}
	if out := s.kproxy(t, "status", "--count"); out.code != 3 || !strings.Contains(out.stdout, "\nthe private store is sealed with key ") || !strings.Contains(out.stdout, "needs you: table public.few is withheld") || strings.Count(out.stdout, "needs you") != 1 {
		t.Errorf("status: %d, %s%s", out.code, out.stdout, out.stderr)
	}
	if out := s.kproxy(t, "verify").must(t); !strings.Contains(out.stdout, "not asked, as the private store is sealed: zip is true of every value") {
		t.Errorf("verify says %s", out.stdout)
	}
}

// holdsNothing looks for canaries in the files of the release's server and in the logs of kproxy.
func (s *site) holdsNothing(t *testing.T, server *pgserver.Server, logs ...*process) {
	t.Helper()
	for _, sql := range []string{"ANALYZE", "CHECKPOINT"} {
		execute(t, connect(t, s.release), sql)
	}
	canaries := []string{"canarycard", "canaryzip", "canaryillness", "canaryhome", "72185294617", "73185294617", "74185294617", strings.TrimSpace(sealKey(1)), strings.TrimSpace(sealKey(2)), strings.TrimSpace(sealKey(3))}
	for of := range byte(3) {
		canaries = append(canaries, strings.Repeat(string(rune(of+1)), 32))
	}
	for _, id := range []uint64{721852946170000041, 721852946170001105, 731852946170000042, 731852946170000043, 731852946170001105, 731852946170100050, 741852946170000001} {
		canaries = append(canaries, string(binary.LittleEndian.AppendUint64(nil, id)), string(binary.BigEndian.AppendUint64(nil, id)))
	}
	for _, canary := range canaries {
		if at := holding(t, server.DataDir(), canary); at != "" {
			content, _ := os.ReadFile(at)
			i := bytes.Index(content, []byte(canary))
			t.Errorf("%s holds %q: %.300q", at, canary, content[max(0, i-200):])
		}
		for _, p := range logs {
			if strings.Contains(p.log.String(), canary) {
				t.Errorf("a log of kproxy holds %q", canary)
			}
		}
	}
	if holding(t, server.DataDir(), "publicdiagnosis") == "" || holding(t, server.DataDir(), "publicnote") == "" || holding(t, server.DataDir(), "publicward") == "" {
		t.Error("the search finds not even what is published")
	}
	execute(t, connect(t, s.admin), "CHECKPOINT")
	for _, canary := range canaries[:4] {
		if holding(t, s.server.DataDir(), canary) == "" {
			t.Errorf("the source's server does not hold %q either", canary)
		}
	}
}

// TestSealedReload has a running kproxy read another release.seal: it says that this takes effect at the next start, and
// the store stays sealed, or not, until then. What cannot be sealed is refused as a whole.
func TestSealedReload(t *testing.T) {
	t.Parallel()
	s, server := sealedSite(t)
	p := s.serve(t)
	s.changesSealed(t, 1)
	release := connect(t, s.release)
	plain := func() int {
		return scalar[int](t, release, "SELECT count(*) FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid WHERE relnamespace = 'kproxy_store'::regnamespace AND relname ~ '^stored_' AND attname = 'zip'")
	}
	sealed := func() string {
		return scalar[string](t, release, "SELECT coalesce(string_agg(s::text, ' ' ORDER BY generation), '') FROM kproxy_store.seal s")
	}

	s.write(t, "seal.key", sealKey(2)+sealKey(1))
	was := sealed()
	if out := s.kproxy(t, "reload").must(t); !strings.Contains(out.stdout, "at the next start only: release.seal") {
		t.Errorf("reload with another key says %s", out.stdout)
	}
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	p.awaitLog(t, `settings were changed that take effect when kproxy is started again.*release.seal`)
	s.changesSealed(t, 2)
	if now := sealed(); now != was {
		t.Errorf("the keys are %s, and were %s", now, was)
	}

	s.replace(t, sealSection, "", "zip: {role: quasi-identifying, hierarchy: prefix}", "zip: {role: quasi-identifying, hierarchy: suppression}")
	if out := s.kproxy(t, "reload").must(t); !strings.Contains(out.stdout, "at the next start only: release.seal") || !strings.Contains(out.stdout, "changed: public.people\n") {
		t.Errorf("reload without the section says %s", out.stdout)
	}
	eventually(t, "the table is published afresh", func() bool { return sealed() != was })
	s.changesSealed(t, 3)
	if plain() != 0 {
		t.Error("the store is not sealed any more")
	}
	s.replace(t, "public.few:\n    updates: immediate", "public.few:\n    updates: immediate\n    summary: stored")
	if out := s.kproxy(t, "reload"); out.code == 0 || !strings.Contains(out.stderr, "the private store of table public.few has a stored summary, and cannot be sealed yet (fix: restart kproxy without release.seal, or remove summary)") {
		t.Errorf("reload of what cannot be sealed: %d, %s%s", out.code, out.stdout, out.stderr)
	}
	s.replace(t, "public.few:\n    updates: immediate\n    summary: stored", "public.few:\n    updates: immediate")
	s.holdsNothing(t, server, p)

	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	s.serve(t)
	if out := s.kproxy(t, "status"); !strings.Contains(out.stdout, "kproxy rebuild public.visits --new-lineage") {
		t.Errorf("a guarded table whose store is not to be sealed any more does not wait for a new lineage: %s", out.stdout)
	}
	s.kproxy(t, "rebuild", "public.visits", "--new-lineage").must(t)
	eventually(t, "the store is not sealed", func() bool { return plain() > 0 && sealed() == "" })
	s.replace(t, "# more\n", sealSection+"\n")
	if out := s.kproxy(t, "reload").must(t); !strings.Contains(out.stdout, "at the next start only: release.seal") || strings.Contains(out.stdout, "changed:") {
		t.Errorf("reload with the section says %s", out.stdout)
	}
	s.changesSealed(t, 4)
	if plain() == 0 {
		t.Error("the store is sealed, without a start with a key")
	}
}
