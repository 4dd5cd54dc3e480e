package integration

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Markers of values: raw is in rows, hidden in definitions.
const (
	rawMarker    = "qvzcanary"
	hiddenMarker = "qvzmeta"
)

const canaryTables = `
tables:
  public.people:
    method: rounded-partition
    constraints: [{k: 5}, {l: 2, of: illness}]
    unpublishable: withhold
    columns:
      id: identifying
      name: identifying
      account: {role: quasi-identifying, hierarchy: numeric, publish: value}
      born: {role: quasi-identifying, hierarchy: date, publish: value}
      town: {role: quasi-identifying, hierarchy: categorical}
      postcode: {role: quasi-identifying, hierarchy: prefix}
      illness: sensitive
      cost: sensitive
  public.ledger:
    method: rounded-partition
    constraints: [{k: 5}]
    unpublishable: withhold
    columns:
      holder: identifying
      amount: {role: quasi-identifying, hierarchy: numeric, publish: value}
      kind: sensitive
readable: [public.codes]
`

// attack is one statement of the corpus.
type attack struct {
	place  string // file and line
	sql    string
	refuse bool // it must not be answered
}

// corpus reads the statements: paragraphs, those that must be refused after a
// line "-- refuse".
func corpus(t *testing.T) []attack {
	t.Helper()
	files, err := filepath.Glob("testdata/attacks/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	var attacks []attack
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		line := 1
		for paragraph := range strings.SplitSeq(string(text), "\n\n") {
			sql, refuse := strings.CutPrefix(strings.TrimSpace(paragraph), "-- refuse\n")
			if refuse || !strings.HasPrefix(sql, "--") {
				attacks = append(attacks, attack{fmt.Sprintf("%s:%d", filepath.Base(file), line), sql, refuse})
			}
			line += strings.Count(paragraph, "\n") + 2
		}
	}
	return attacks
}

// canaries are byte sequences that no client may receive, with what they are.
type canaries map[string]string

// rawCanaries collects the raw values of the protected tables, as text and as
// PostgreSQL's binary format shows them. Values that are published by chance
// are left out; there must be next to none.
func rawCanaries(t *testing.T, conn *pgx.Conn) canaries {
	t.Helper()
	c := canaries{rawMarker: "a raw text", fmt.Sprintf("%x", rawMarker): "a raw text in hexadecimal"}
	published := make(map[int64]bool)
	for _, n := range numbers(t, conn, `SELECT account FROM kproxy_store.release_1 UNION SELECT amount FROM kproxy_store.release_2`) {
		published[n] = true
	}
	chance := 0
	for _, n := range numbers(t, conn, "SELECT id FROM people UNION SELECT account FROM people UNION SELECT id FROM ledger UNION SELECT amount FROM ledger") {
		if published[n] {
			chance++
			continue
		}
		c[fmt.Sprint(n)] = "a raw number"
		c[string(binary.BigEndian.AppendUint64(nil, uint64(n)))] = "a raw number in binary"
	}
	published = make(map[int64]bool)
	for _, n := range numbers(t, conn, "SELECT DISTINCT born - date '2000-01-01' FROM kproxy_store.release_1") {
		published[n] = true
	}
	for _, n := range numbers(t, conn, "SELECT born - date '2000-01-01' FROM people") {
		if published[n] {
			chance++
			continue
		}
		c[scalar[string](t, conn, "SELECT (date '2000-01-01' + $1::int)::text", n)] = "a raw date"
		// A field of four bytes: days since 2000.
		c[string(binary.BigEndian.AppendUint32([]byte{0, 0, 0, 4}, uint32(n)))] = "a raw date in binary"
	}
	if chance > 5 || len(c) < 500 {
		t.Fatalf("%d canaries, of which %d more are published", len(c), chance)
	}
	return c
}

func numbers(t *testing.T, conn *pgx.Conn, sql string) []int64 {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// found names the first canary in received bytes.
func (c canaries) found(received []byte) string {
	lower := bytes.ToLower(received)
	for canary, what := range c {
		within := received
		if strings.HasPrefix(canary, "qvz") { // functions may change the case
			within = lower
		}
		if bytes.Contains(within, []byte(canary)) {
			return fmt.Sprintf("%s (%q)", what, canary)
		}
	}
	return ""
}

// canarySite serves the canary's tables.
func canarySite(t *testing.T) *site {
	t.Helper()
	statements, err := os.ReadFile("testdata/canary.sql")
	if err != nil {
		t.Fatal(err)
	}
	return ready(t, sqlSite(string(statements), canaryTables))
}

// manner is one way to send a statement.
type manner struct {
	name string
	send func(*wire, string) (answer, error)
	// before is how many rows come before the statement's own.
	before int
}

var manners = []manner{
	{"simple", (*wire).simple, 0},
	{"extended", func(w *wire, sql string) (answer, error) { return w.extended(0, sql) }, 0},
	{"extended, binary", func(w *wire, sql string) (answer, error) { return w.extended(1, sql) }, 0},
	{"second in a pipeline", func(w *wire, sql string) (answer, error) { return w.extended(0, "SELECT 1", sql) }, 1},
	{"second in a query", func(w *wire, sql string) (answer, error) { return w.simple("SELECT 1;\n" + sql) }, 1},
	{"simple in a transaction", func(w *wire, sql string) (answer, error) {
		if _, err := w.simple("BEGIN"); err != nil {
			return answer{}, err
		}
		return w.simple(sql)
	}, 0},
	{"extended in a transaction", func(w *wire, sql string) (answer, error) {
		if _, err := w.simple("BEGIN"); err != nil {
			return answer{}, err
		}
		return w.extended(0, sql)
	}, 0},
}

// recover leaves whatever transaction is open and does something harmless.
func (w *wire) recover() error {
	if _, err := w.simple("ROLLBACK"); err != nil {
		return err
	}
	for _, again := range []func() (answer, error){
		func() (answer, error) { return w.simple("SELECT 40 + 2") },
		func() (answer, error) { return w.extended(0, "SELECT 40 + 2") },
	} {
		a, err := again()
		if err != nil {
			return err
		}
		if a.rows != 1 || a.last != "42" || len(a.errs) > 0 || a.status != 'I' {
			return fmt.Errorf("a harmless statement is answered by %+v", a)
		}
	}
	return nil
}

// TestCanary sends the corpus through kproxy in every manner.
func TestCanary(t *testing.T) {
	t.Parallel()
	s := canarySite(t)
	attacks := corpus(t)
	if len(attacks) < 150 {
		t.Fatalf("the corpus has only %d statements", len(attacks))
	}
	secret := rawCanaries(t, connect(t, s.admin))
	secret[hiddenMarker] = "a hidden definition"
	checkCanaries(t, s, secret)
	t.Run("corpus", func(t *testing.T) {
		for _, m := range manners {
			t.Run(m.name, func(t *testing.T) {
				t.Parallel()
				w := dialed(t, s.url())
				for _, attack := range attacks {
					if err := m.attack(t, w, attack, secret); err != nil {
						t.Errorf("%s: after %.80q the session is lost: %v", attack.place, attack.sql, err)
						w = dialed(t, s.url())
					}
				}
			})
		}
	})
	s.agrees(t, "people", "id, account, born, town, postcode, illness, cost")
}

// checkCanaries has the superuser read what clients must not: the canaries must
// be found in every form.
func checkCanaries(t *testing.T, s *site, secret canaries) {
	t.Helper()
	for _, sql := range []string{
		"SELECT name FROM people", "SELECT upper(name) FROM people", "SELECT encode(name::bytea, 'hex') FROM people",
		"SELECT id FROM ledger", "SELECT account FROM people", "SELECT born FROM people",
		"SELECT obj_description('people'::regclass)", "COPY people (account) TO STDOUT", "COPY people (born) TO STDOUT (FORMAT binary)",
	} {
		for _, m := range manners {
			w := dialed(t, s.admin)
			if _, err := m.send(w, sql); err != nil || secret.found(w.drain()) == "" {
				t.Errorf("%s, %s: no canary is found (%v)", sql, m.name, err)
			}
			_ = w.Close()
		}
	}
}

// attack sends one statement and judges all that came back. The error says that
// the session cannot go on.
func (m manner) attack(t *testing.T, w *wire, attack attack, secret canaries) error {
	t.Helper()
	a, err := m.send(w, attack.sql)
	if err == nil {
		err = w.recover()
	}
	if what := secret.found(w.drain()); what != "" {
		t.Errorf("%s: %.80q shows %s", attack.place, attack.sql, what)
	}
	if err != nil {
		return err
	}
	// Of several statements, those before the refused one may be answered.
	answered := a.rows > m.before && !strings.Contains(attack.sql, ";")
	if attack.refuse && (len(a.errs) == 0 || answered) {
		t.Errorf("%s: %.80q is answered: %d rows, errors %q", attack.place, attack.sql, a.rows, a.errs)
	}
	if slices.ContainsFunc(a.errs, func(e string) bool { return strings.HasPrefix(e, "XX") }) {
		t.Errorf("%s: %.80q is an internal error: %q", attack.place, attack.sql, a.errs)
	}
	return nil
}

// TestCanaryByGrantsAlone sends the corpus straight to PostgreSQL as the reader
// role: with kproxy's other walls gone, no raw value may come either. Hidden
// definitions are not looked for: every role of PostgreSQL can read the system
// catalogs, with comments, defaults, constraints and the texts of views and
// functions, so that they are behind the other walls alone.
func TestCanaryByGrantsAlone(t *testing.T) {
	t.Parallel()
	s := canarySite(t)
	secret := rawCanaries(t, connect(t, s.admin))
	for _, m := range manners[:3] {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			w := dialed(t, s.readerURL())
			for _, attack := range attacksOnGrants(t) {
				_, err := m.send(w, attack.sql)
				if err == nil {
					_, err = w.simple("ROLLBACK")
				}
				if err == nil {
					_, err = w.simple("DISCARD ALL")
				}
				if what := secret.found(w.drain()); what != "" {
					t.Errorf("%s: %.80q shows %s", attack.place, attack.sql, what)
				}
				if err != nil {
					w = dialed(t, s.readerURL())
				}
			}
		})
	}
}

// attacksOnGrants is the corpus, and once more with the search path of a client
// who knows nothing of published relations.
func attacksOnGrants(t *testing.T) []attack {
	t.Helper()
	attacks := corpus(t)
	for _, a := range corpus(t) {
		a.sql = "SET default_transaction_read_only = off; SET search_path = public, other; " + a.sql
		attacks = append(attacks, a)
	}
	return attacks
}
