package integration

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// attackTables are protected beside those of the canary's tables.
const attackTables = `
  public.chart:
    method: rounded-partition
    updates: immediate
    constraints: [{k: 5}]
    unpublishable: withhold
    columns:
      qvzcol_ssn: identifying
      qvzcol_insurer: identifying
      age: {role: quasi-identifying, hierarchy: numeric, publish: value}
      ward: sensitive
  public.rare:
    method: rounded-partition
    updates: immediate
    constraints: [{k: 40000}]
    unpublishable: withhold
    columns:
      id: identifying
      holder: identifying
      amount: {role: quasi-identifying, hierarchy: numeric, publish: value}
      kind: sensitive
  public.visits:
    method: rounded-partition
    updates: immediate
    constraints: [{k: 5}]
    unpublishable: withhold
    columns:
      id: identifying
      holder: identifying
      day: {role: quasi-identifying, hierarchy: numeric, publish: value}
      reason: sensitive
readable: [public.codes, public.codes_short, public.staff, public.towns, public.towns_large, public.talking,
  public.operated, public.renamed, public.whole, public.computed, public.filtered, public.ranked, public.beside, public.systemic]
`

// attackSite serves a database full of canaries, as a careless administrator keeps
// it. Its server is its own: attacks count through the identifiers of objects, which
// begin at 16384.
func attackSite(t *testing.T) *site {
	t.Helper()
	var statements strings.Builder
	for _, file := range []string{"testdata/canary.sql", "testdata/attack.sql"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		statements.Write(text)
	}
	o := sqlSite(statements.String(), strings.Replace(canaryTables, "readable: [public.codes]", attackTables, 1))
	o.settings = "timeouts: {statement: 30s}"
	o.server = ownServer(t, pgserver.Options{})
	return ready(t, o)
}

// attackCanaries are all that an attack may not show: raw values, and what the
// database has inside.
func attackCanaries(t *testing.T, conn *pgx.Conn) canaries {
	t.Helper()
	c := rawCanaries(t, conn)
	c = append(c, spellings("definition", "a hidden definition", hiddenMarker)...)
	c = append(c, spellings("column", "a hidden column's name", "qvzcol")...)
	c = append(c, spellings("relation", "a hidden relation's name", "qvzrel")...)
	for _, name := range []string{"people_view", "people_barrier", "people_copy", "ledger_a", "unlisted", "people_seq", "people_partial", "chart_insurer"} {
		c = append(c, canary{kind: "relation", what: "a hidden relation's name", bytes: []byte(name)})
	}
	for _, name := range []string{"kproxy_store", "kproxy_release", "kproxy_catalog", "records_1", "release_1"} {
		c = append(c, canary{kind: "store", what: "a name of kproxy's own", bytes: []byte(name)})
	}
	for _, table := range []string{"rare", "qvzrel_vault"} {
		c = append(c, counted(scalar[int64](t, conn, "SELECT count(*) FROM ONLY "+table))...)
	}
	return c
}

// TestAttacks sends the corpus through all of kproxy's walls, through single ones,
// and through none.
func TestAttacks(t *testing.T) {
	t.Parallel()
	s := attackSite(t)
	audited := time.Now()
	conn := connect(t, s.admin)
	secret := attackCanaries(t, conn)
	s.reveal(t, conn)
	t.Run("rewriting alone", func(t *testing.T) { s.attackByRewritingAlone(t, secret, audited.Add(20*time.Second)) })
	s.hide(t, conn)
	t.Run("all walls", func(t *testing.T) { s.attackThroughKproxy(t, secret, "") })
	t.Run("parameters", func(t *testing.T) { s.attackByParameters(t, secret) })
	t.Run("temporary tables", func(t *testing.T) { s.withTemporaryTables(t).attackThroughKproxy(t, secret, "temporary") })
	s.agrees(t, "people", "id, account, born, town, postcode, illness, cost")
	execute(t, conn, "ALTER ROLE "+s.reader+" SET statement_timeout = '3s'") // kproxy refuses what has no end
	t.Run("grants alone", func(t *testing.T) { s.attackByGrantsAlone(t, secret) })
	s.reveal(t, conn)
	t.Run("no wall", func(t *testing.T) { s.attackWithoutWalls(t, secret) })
}

// reveal opens all tables to the reader role; hide closes them again.
func (s *site) reveal(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	execute(t, conn, "GRANT USAGE ON SCHEMA other, kproxy_store TO "+s.reader)
	execute(t, conn, "GRANT SELECT ON ALL TABLES IN SCHEMA public, other, kproxy_store TO "+s.reader)
}

func (s *site) hide(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	execute(t, conn, "REVOKE USAGE ON SCHEMA other, kproxy_store FROM "+s.reader)
	execute(t, conn, "REVOKE SELECT ON ALL TABLES IN SCHEMA public, other, kproxy_store FROM "+s.reader)
	execute(t, conn, "GRANT SELECT ON codes, codes_short, staff TO "+s.reader)
	// An audit that began before can end with what it has found then.
	const ended = 10 * time.Second
	var since time.Time
	eventually(t, "kproxy serves, and goes on to", func() bool {
		w, _, err := dial(t.Context(), s.url())
		if err != nil || w.Close() != nil {
			since = time.Time{}
			return false
		}
		if since.IsZero() {
			since = time.Now()
		}
		return time.Since(since) > ended
	})
}

// withTemporaryTables serves the same database once more, to clients who may make
// temporary tables.
func (s *site) withTemporaryTables(t *testing.T) *site {
	t.Helper()
	second := *s
	second.address = freeAddress(t)
	second.config = s.edit(t, "temporary.yaml", s.address, second.address, "timeouts:", "temporary_tables: allow\ntimeouts:")
	second.kproxy(t, "setup").must(t)
	second.serve(t)
	return &second
}

// ofOlder is what servers before goldenMajor, whose refusals the corpus has, say themselves of an attack, in place of a refusal or
// an answer: that there is no such function or catalog, or an error of another class.
var ofOlder = regexp.MustCompile(`^(fails|is refused otherwise|an internal error): \["(42883 function .* does not exist|42703 column .* does not exist|42P01 relation \\"pg_catalog\.pg_|` +
	`54000 requested character too large|XX000 invalid memory alloc request size)`)

// ofLater is the same of servers after goldenMajor: 18 has a class of its own for errors of XPath.
var ofLater = regexp.MustCompile(`^is refused otherwise: \["10608 could not create XPath object`)

// attackThroughKproxy: in every manner, each attack comes to what it must come to,
// no byte of any canary is received, and the session goes on.
func (s *site) attackThroughKproxy(t *testing.T, secret canaries, folder string) {
	for _, m := range manners {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			lost := s.attack(t, m, m.share(corpus(t, folder)), s.url(), nil, func(a attack, answers []answer, received []byte) {
				for _, wrong := range m.judge(a, answers, received, secret) {
					major := s.server.Version().Major
					if major < goldenMajor && ofOlder.MatchString(wrong) || major > goldenMajor && ofLater.MatchString(wrong) {
						continue
					}
					t.Errorf("%s: %.100q %s", a.place, a.text(), wrong)
				}
			})
			if lost != nil {
				t.Errorf("sessions are lost by %q", lost)
			}
		})
	}
}

// attackByGrantsAlone goes straight to PostgreSQL as the reader role, with kproxy's
// other walls gone. No raw value may come at all. What else comes, and why grants
// cannot hold it, is testdata/attack_grants.golden.
func (s *site) attackByGrantsAlone(t *testing.T, secret canaries) {
	seen := make(map[string][]string)
	see := func(a attack, answers []answer, received []byte) {
		kinds := secret.kinds(received, a.sent())
		canceled := func(err string) bool { return strings.HasPrefix(err, "57014 ") }
		if slices.ContainsFunc(answers, func(a answer) bool { return slices.ContainsFunc(a.errs, canceled) }) {
			// On a slow machine a time limit ends it, and the error tells in which function of kproxy's.
			kinds = slices.DeleteFunc(kinds, func(kind string) bool { return kind == "store" })
		}
		if slices.Contains(kinds, "value") {
			t.Errorf("%s: %.100q shows a raw value", a.place, a.text())
		}
		if len(kinds) > 0 {
			seen[a.entry()] = slices.Compact(slices.Sorted(slices.Values(append(seen[a.entry()], kinds...))))
		}
	}
	// As kproxy's sessions are, and as those of somebody who knows where to look.
	s.attack(t, manners[0], corpus(t, ""), s.readerURL(), nil, see)
	s.attack(t, manners[2], corpus(t, ""), s.readerURL(), []string{"SET default_transaction_read_only = off", "SET search_path = public, other"}, see)
	leaks := make(map[string]string, len(seen))
	for entry, kinds := range seen {
		leaks[entry] = strings.Join(kinds, " ")
	}
	checkExceptions(t, "testdata/attack_grants.golden", leaks)
}

// attackByRewritingAlone goes through kproxy while the reader role may read every
// table. No raw value may come. The audit would find the grants half a minute after it
// last passed and end the sessions: what the corpus has beyond until is left out.
func (s *site) attackByRewritingAlone(t *testing.T, secret canaries, until time.Time) {
	sent, answered := 0, 0
	w := dialed(t, s.url())
	for _, a := range corpus(t, "") {
		answers, err := manners[0].send(w, a.steps)
		if err == nil {
			err = w.settle()
		}
		if slices.Contains(secret.kinds(w.drain(), a.sent()), "value") {
			t.Errorf("%s: %.100q shows a raw value", a.place, a.text())
		}
		if err != nil || time.Now().After(until) {
			break
		}
		sent++
		if answers[len(answers)-1].rows > 0 {
			answered++
		}
	}
	if sent < 100 || answered < sent/20 {
		t.Errorf("only %d attacks were sent, and %d answered with rows", sent, answered)
	}
}

// attackWithoutWalls proves that the checks can fail: the corpus goes past kproxy as
// a role that may read everything, in the place of a gate that lets everything pass.
// Canaries of every kind must be found, and refusals missed.
func (s *site) attackWithoutWalls(t *testing.T, secret canaries) {
	m, kinds, missed := manners[0], make(map[string]int), 0
	s.attack(t, m, corpus(t, ""), s.readerURL(), nil, func(a attack, answers []answer, received []byte) {
		for _, kind := range secret.kinds(received, a.sent()) {
			kinds[kind]++
		}
		for _, wrong := range m.judge(a, answers, received, secret) {
			if strings.HasPrefix(wrong, "is answered") {
				missed++
			}
		}
	})
	for kind, least := range map[string]int{"value": 150, "definition": 50, "column": 10, "relation": 10, "store": 10, "count": 5} {
		if kinds[kind] < least {
			t.Errorf("canaries of kind %s are found in %d answers only", kind, kinds[kind])
		}
	}
	if missed < 300 {
		t.Errorf("only %d answers were told from refusals", missed)
	}
	for _, sql := range []string{
		"SELECT upper(name) FROM people", "SELECT encode(name::bytea, 'base64') FROM people", "SELECT reverse(name) FROM people",
		"SELECT account::float8 FROM people", "SELECT account::numeric FROM people", "SELECT to_hex(id) FROM people", "SELECT born FROM people",
		"COPY people (born) TO STDOUT (FORMAT binary)", "SELECT x FROM (SELECT repeat('x', n) || name AS x FROM people, generate_series(1, 3) n) s",
	} {
		for _, m := range manners[:4] {
			w := dialed(t, s.readerURL())
			if _, err := m.send(w, []string{sql}); err != nil || !slices.Contains(secret.kinds(w.drain(), ""), "value") {
				t.Errorf("%s, %s: no canary is found (%v)", sql, m.name, err)
			}
			_ = w.Close()
		}
	}
}

// attack sends attacks in one manner and shows what came for each attack. Every
// session begins with the given statements. It returns how sessions were lost.
func (s *site) attack(t *testing.T, m manner, attacks []attack, url string, first []string, see func(attack, []answer, []byte)) (lost []string) {
	t.Helper()
	begin := func(w *wire) error {
		for _, sql := range first {
			if _, err := w.simple(sql); err != nil {
				return err
			}
		}
		return nil
	}
	w := dialed(t, url)
	err := begin(w)
	for _, a := range attacks {
		if err != nil {
			_ = w.Close()
			w = dialed(t, url)
			if err = begin(w); err != nil {
				t.Fatal(err)
			}
		}
		w.drain()
		var answers []answer
		if answers, err = m.send(w, a.steps); err == nil {
			err = w.settle()
		}
		if err == nil { // settling has discarded what the session began with
			err = begin(w)
		}
		see(a, answers, w.drain())
		if err != nil {
			lost = append(lost, a.place+": "+a.text()+": "+err.Error())
		}
	}
	return lost
}
