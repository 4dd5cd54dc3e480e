package integration

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/internal/hospital"
	"github.com/kproxy/kproxy/internal/pgserver"
)

var (
	peopleFaults = flag.Int("people.faults", 6, "`number` of faults that TestPeopleSurviveFaults causes")
	peopleSeed   = flag.Uint64("people.seed", 1, "`seed` of TestPeopleSurviveFaults")
)

// TestPeopleSurviveFaults changes the relational demonstration's tables while processes and connections
// are killed. After each fault nothing is lost or doubled, and the joint proof holds; all states that
// readers see meanwhile are whole.
func TestPeopleSurviveFaults(t *testing.T) {
	t.Parallel()
	h := &histories{persons: 150}
	h.survive(t, "updates: immediate", *peopleFaults, h.agree)
}

// TestGuardedPeopleSurviveFaults does so with guarded updates: the store follows the source, the joint proof
// holds, and a row that a client has seen stays as it was for as long as it is published.
func TestGuardedPeopleSurviveFaults(t *testing.T) {
	t.Parallel()
	h := &histories{persons: 300, lineage: "--new-lineage"}
	h.survive(t, "updates: {mode: guarded, within: 1s, rows: 5, rows_within: 2s}", (*peopleFaults+1)/2, h.agreeGuarded)
}

func (h *histories) survive(t *testing.T, updates string, number int, agree func(t *testing.T, when string)) {
	t.Helper()
	persons := h.persons
	o := sqlSite("", strings.Replace(strings.Replace(hospital.HistoriesPolicy, "# The policy of the tables of histories.\n", "", 1), "updates: immediate", updates, 1))
	o.load = func(ctx context.Context, conn *pgx.Conn) error { return hospital.LoadHistories(ctx, conn, persons, 5) }
	o.server = ownServer(t, pgserver.Options{Durable: true})
	s := newSite(t, o)
	s.kproxy(t, "setup").must(t)
	p := s.serve(t)
	h.site, h.rng = s, rand.New(rand.NewPCG(*peopleSeed, 1))
	faults := h.faults(t)
	agree(t, "at first")
	for run := range number {
		fault := faults[h.rng.IntN(len(faults))]
		if run < len(faults) {
			fault = faults[run]
		}
		ctx, cancel := context.WithCancel(t.Context())
		watched, written := make(chan error, 1), make(chan error, 1)
		seed := h.rng.Uint64()
		go func() { watched <- h.watch(ctx) }()
		go func() { written <- h.write(ctx, rand.New(rand.NewPCG(seed, 2))) }()
		p = fault.cause(t, p)
		time.Sleep(time.Duration(h.rng.IntN(300)) * time.Millisecond)
		cancel()
		for _, ended := range []chan error{written, watched} {
			if err := <-ended; err != nil {
				t.Errorf("run %d, %s: %v", run, fault.name, err)
			}
		}
		agree(t, fmt.Sprintf("after run %d, %s", run, fault.name))
		if t.Failed() {
			return
		}
	}
	if h.transactions == 0 || h.states == 0 {
		t.Errorf("%d transactions were committed, and %d states seen", h.transactions, h.states)
	}
	t.Logf("%d faults, %d transactions, %d states", number, h.transactions, h.states)
}

// histories changes the tables of internal/hospital and compares what is published with them.
type histories struct {
	*site
	rng                  *rand.Rand
	persons              int
	next                 int64 // keys that no row has had
	besides              int   // processes that have been beside the first
	transactions, states int

	lineage string           // what rebuild is told, where updates are guarded
	seen    map[int64]string // stays, by their pseudonyms
	release string           // in which they were seen
}

type fault struct {
	name  string
	cause func(*testing.T, *process) *process
}

func (h *histories) faults(t *testing.T) []fault {
	crash := func(of func(*testing.T, *site, *process, *rand.Rand) *process) func(*testing.T, *process) *process {
		return func(t *testing.T, p *process) *process { return of(t, h.site, p, h.rng) }
	}
	faults := []fault{
		{"kill -9 of kproxy", func(t *testing.T, p *process) *process {
			for range 1 + h.rng.IntN(3) {
				time.Sleep(time.Duration(h.rng.IntN(600)) * time.Millisecond)
				p.end(t, syscall.SIGKILL)
				p = h.serve(t)
			}
			return p
		}},
		{"connections are cut", func(t *testing.T, p *process) *process {
			conn := connect(t, h.admin)
			defer conn.Close(t.Context())
			for range 1 + h.rng.IntN(3) {
				time.Sleep(time.Duration(h.rng.IntN(600)) * time.Millisecond)
				execute(t, conn, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '"+h.owner+"'")
			}
			return p
		}},
		{"restart of kproxy", func(t *testing.T, p *process) *process {
			time.Sleep(time.Duration(h.rng.IntN(600)) * time.Millisecond)
			p.end(t, syscall.SIGTERM)
			return h.serve(t)
		}},
		{"restart of the server", crash(restartServer)},
		{"crash of the server", crash(crashServer)},
		{"all tables are made anew", func(t *testing.T, p *process) *process {
			if h.lineage != "" {
				h.kproxy(t, "rebuild", "public.stays", "--no-wait", h.lineage).must(t)
			} else {
				h.kproxy(t, "rebuild", "public.stays", "--no-wait").must(t)
			}
			time.Sleep(time.Duration(h.rng.IntN(600)) * time.Millisecond)
			return p
		}},
	}
	faults = append(faults, fault{"one table is compared with its source", func(t *testing.T, p *process) *process {
		h.kproxy(t, "resync", "public.stays", "--no-wait").must(t)
		time.Sleep(time.Duration(h.rng.IntN(600)) * time.Millisecond)
		return p
	}}, fault{"the configuration is loaded again", func(t *testing.T, p *process) *process {
		h.kproxy(t, "reload").must(t)
		return p
	}}, fault{"the process is killed while tables are compared", func(t *testing.T, p *process) *process {
		h.kproxy(t, "resync", "public.persons", "public.stays", "public.labs", "--no-wait").must(t)
		time.Sleep(time.Duration(h.rng.IntN(600)) * time.Millisecond)
		p.end(t, syscall.SIGKILL)
		return h.serve(t)
	}})
	faults = append(faults, fault{"another process takes over", func(t *testing.T, p *process) *process {
		h.besides++
		other := h.beside(t, fmt.Sprintf("beside%d.yaml", h.besides)).serve(t)
		if !other.awaitLog(t, "following it") {
			t.Fatal("a second process does not follow")
		}
		time.Sleep(time.Duration(h.rng.IntN(600)) * time.Millisecond)
		p.end(t, []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[h.besides%2])
		eventually(t, "the second process applies", other.applies)
		time.Sleep(time.Duration(h.rng.IntN(600)) * time.Millisecond)
		p = h.serve(t)
		other.end(t, syscall.SIGKILL)
		return p
	}})
	for _, name := range failpoints(t) {
		if strings.Contains(name, "commit") {
			faults = append(faults, fault{"failpoint " + name, func(t *testing.T, p *process) *process {
				p.end(t, syscall.SIGKILL)
				p = h.launch(t, "KPROXY_FAILPOINT="+name)
				if code := p.wait(t); code != -int(syscall.SIGKILL) {
					t.Errorf("failpoint %s: the process ended with %d\n%s", name, code, p.log)
				}
				return h.serve(t)
			}})
		}
	}
	return faults
}

// unchangedColumns are those of each table that are published as they are.
var unchangedColumns = map[string]string{
	"persons": "1", "stays": "days, ward, cost", "diagnoses": "position, code", "prescriptions": "day, drug", "labs": "day, test, value",
}

// joinedHistories are questions whose answers from the release are among those from the source.
var joinedHistories = []string{
	"SELECT sex, ward, cost FROM persons JOIN stays USING (person_id) WHERE sex <> '*'",
	"SELECT ward, cost, code FROM stays JOIN diagnoses USING (stay_id)",
	"SELECT cost, drug, test, value FROM stays JOIN prescriptions USING (stay_id) JOIN labs USING (stay_id)",
}

// agree waits until all tables show all that the source has but what is withheld.
func (h *histories) agree(t *testing.T, when string) {
	t.Helper()
	conn := connect(t, h.admin)
	defer conn.Close(t.Context())
	count := func(sql string) (n int64) {
		if err := conn.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		return n
	}
	released := func(sql string) string {
		for table := range unchangedColumns {
			sql = strings.ReplaceAll(sql, " "+table+" ", ` "kproxy_release_public".`+table+" ")
		}
		return sql
	}
	status := h.status(t)
	for table, columns := range unchangedColumns {
		eventually(t, when+", "+table+" are those of the source", func() bool {
			var withheld int64
			for _, of := range status {
				if of.Table == "public."+table {
					withheld = of.Withheld
				}
			}
			source := "SELECT " + columns + " FROM " + table + " "
			if count("SELECT count(*) FROM ("+released(source)+" EXCEPT ALL "+source+") a") == 0 &&
				count("SELECT count(*) FROM ("+source+" EXCEPT ALL "+released(source)+") a") == withheld {
				return true
			}
			status = h.status(t) // of a table that may have been compared too early
			return false
		})
	}
	for _, sql := range joinedHistories {
		if n := count("SELECT count(*) FROM (" + released(sql) + " EXCEPT ALL " + sql + ") a"); n > 0 {
			t.Errorf("%s, %s has %d rows that the source does not have", when, sql, n)
		}
		if strings.Contains(sql, "sex") { // few persons can all be of a class with both
			continue
		}
		if got, all := count("SELECT count(*) FROM ("+released(sql)+") a"), count("SELECT count(*) FROM ("+sql+") a"); 2*got < all {
			t.Errorf("%s, %s has %d rows, and the source has %d", when, sql, got, all)
		}
	}
	if o := h.kproxy(t, "verify"); o.code != 0 {
		t.Errorf("%s, verify ended with %d:\n%s%s", when, o.code, o.stdout, o.stderr)
	}
}

// agreeGuarded waits until the store has all that the source has, and compares the stays that are published
// with those that were.
func (h *histories) agreeGuarded(t *testing.T, when string) {
	t.Helper()
	conn := connect(t, h.admin)
	defer conn.Close(t.Context())
	stored := func(kind, table string) (name string) {
		sql := fmt.Sprintf("SELECT format('kproxy_store.%s_%%s', generation) FROM kproxy_store.generation WHERE table_name = '%s'", kind, table)
		if err := conn.QueryRow(t.Context(), sql).Scan(&name); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		return name
	}
	const keys = "person_id|stay_id, person_id, admission_date|stay_id, position|prescription_id, stay_id|lab_id, stay_id"
	for i, table := range []string{"persons", "stays", "diagnoses", "prescriptions", "labs"} {
		columns := strings.Split(keys, "|")[i] + ", " + unchangedColumns[table]
		eventually(t, when+", the store has "+table+" as the source has", func() bool {
			source, store := "SELECT "+columns+" FROM "+table, "SELECT "+columns+" FROM "+stored("records", table)
			var different int64
			err := conn.QueryRow(t.Context(), fmt.Sprintf("SELECT count(*) FROM ((%[1]s EXCEPT ALL %[2]s) UNION ALL (%[2]s EXCEPT ALL %[1]s)) a", source, store)).Scan(&different)
			return err == nil && different == 0
		})
	}
	eventually(t, when+", readers have what is in the store", func() bool { return h.shown(t) })
	if o := h.kproxy(t, "verify"); o.code != 0 {
		t.Errorf("%s, verify ended with %d:\n%s%s", when, o.code, o.stdout, o.stderr)
	}
	h.follow(t, conn, stored("release", "stays"), when)
}

// shown reports whether readers have what is in the store of all tables.
func (h *histories) shown(t *testing.T) bool {
	t.Helper()
	return !slices.ContainsFunc(h.status(t), func(of historiesStatus) bool { return of.State != "published" })
}

// follow compares the stays that are published with those that were, in the same lineage.
func (h *histories) follow(t *testing.T, conn *pgx.Conn, release, when string) {
	t.Helper()
	if release != h.release {
		h.release, h.seen = release, make(map[int64]string)
	}
	rows, err := conn.Query(t.Context(), `SELECT stay_id, (to_jsonb(s) - 'kproxy_weight')::text FROM "kproxy_release_public".stays s WHERE stay_id IS NOT NULL`)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	var key int64
	var text string
	n := 0
	_, err = pgx.ForEachRow(rows, []any{&key, &text}, func() error {
		if before, seen := h.seen[key]; seen && before != text {
			t.Errorf("%s, a stay is %s, and was %s", when, text, before)
		}
		h.seen[key] = text
		n++
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	if n < 2*h.persons {
		t.Errorf("%s, %d stays of %d persons have keys", when, n, h.persons)
	}
}

type historiesStatus struct {
	Table    string `json:"table"`
	Withheld int64  `json:"withheld"`
	State    string `json:"state"`
}

func (h *histories) status(t *testing.T) []historiesStatus {
	t.Helper()
	var status struct {
		Tables []historiesStatus `json:"tables"`
	}
	o := h.kproxy(t, "status", "--json")
	if err := json.Unmarshal([]byte(o.stdout), &status); err != nil {
		t.Fatalf("reading the status: %v\n%s%s", err, o.stdout, o.stderr)
	}
	return status.Tables
}

// wholeSQL counts what no state of the release may have: keys that lead nowhere, and persons with
// fewer than k who are published alike.
const wholeSQL = `SELECT (SELECT count(*) FROM stays WHERE person_id NOT IN (SELECT person_id FROM persons)),
	(SELECT count(*) FROM (SELECT stay_id FROM diagnoses UNION ALL SELECT stay_id FROM prescriptions UNION ALL SELECT stay_id FROM labs) a
		WHERE stay_id IS NOT NULL AND stay_id NOT IN (SELECT stay_id FROM stays WHERE stay_id IS NOT NULL)),
	(SELECT count(*) FROM (SELECT FROM persons GROUP BY birth_date_range, sex, postcode HAVING count(*) < 5) a),
	(SELECT count(*) FROM (SELECT FROM stays GROUP BY admission_date_range, stay_id IS NULL HAVING count(*) < 5) a)`

// watch checks every state that a client sees until ctx ends, and lives through lost connections.
func (h *histories) watch(ctx context.Context) error {
	for ctx.Err() == nil {
		conn, err := pgx.Connect(ctx, h.url())
		for err == nil && ctx.Err() == nil {
			began := time.Now()
			var stays, rows, persons, small int
			if err = conn.QueryRow(ctx, wholeSQL).Scan(&stays, &rows, &persons, &small); err != nil {
				break
			}
			h.states++
			if stays+rows+persons+small > 0 {
				_ = conn.Close(ctx)
				return fmt.Errorf("a client saw %d stays and %d rows of stays whose keys lead nowhere, %d classes of fewer than 5 persons, and %d cells of fewer than 5 stays", stays, rows, persons, small)
			}
			rest(ctx, began)
		}
		if conn != nil {
			_ = conn.Close(context.WithoutCancel(ctx))
		}
		pause(ctx)
	}
	return nil
}

// write commits random changes until ctx ends, and lives through lost connections.
func (h *histories) write(ctx context.Context, rng *rand.Rand) error {
	for ctx.Err() == nil {
		conn, err := pgx.Connect(ctx, h.admin)
		for err == nil && ctx.Err() == nil {
			if _, err = conn.Exec(context.WithoutCancel(ctx), h.change(rng)); err == nil {
				h.transactions++
			}
			pause(ctx)
		}
		if conn != nil {
			_ = conn.Close(context.WithoutCancel(ctx))
		}
		if wrong(err) {
			return err
		}
		pause(ctx)
	}
	return nil
}

// wrong tells whether a statement failed by itself: not for a lost connection, a shutdown or
// another transaction.
func wrong(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && !slices.Contains([]string{"57", "08", "40"}, server.Code[:2])
}

// change is a random transaction.
func (h *histories) change(rng *rand.Rand) string {
	h.next += 10
	key, share := 1_000_000+h.next, rng.IntN(40)
	switch rng.IntN(9) {
	case 0: // a person with a stay, and what hangs on it
		return fmt.Sprintf(`INSERT INTO persons SELECT %[1]d, 'N', '%[1]d', birth_date, sex, postcode FROM persons ORDER BY person_id OFFSET %[2]d LIMIT 1;
			INSERT INTO stays VALUES (%[1]d, %[1]d, '2024-05-05', 3, 'surgery', 99.5);
			INSERT INTO diagnoses VALUES (%[1]d, 1, 'I10'), (%[1]d, 2, 'E11');
			INSERT INTO prescriptions VALUES (%[1]d, %[1]d, 1, 'ramipril');
			INSERT INTO labs SELECT %[1]d + i, %[1]d, i, 'HbA1c', 6 FROM generate_series(1, 4) i`, key, share)
	case 1:
		return fmt.Sprintf("DELETE FROM persons WHERE person_id IN (SELECT person_id FROM persons WHERE person_id >= 1000000 ORDER BY 1 LIMIT 1) OR person_id = %d", 1+rng.IntN(20*h.persons))
	case 2:
		return fmt.Sprintf("UPDATE stays SET ward = 'geriatrics', days = days + 1 WHERE stay_id %% 40 = %d", share)
	case 3:
		return fmt.Sprintf("UPDATE stays SET admission_date = admission_date + 200 WHERE stay_id %% 80 = %d AND admission_date < '2030-01-01'", share)
	case 4:
		return fmt.Sprintf("UPDATE stays SET person_id = (SELECT person_id FROM persons ORDER BY person_id DESC OFFSET %d LIMIT 1) WHERE stay_id = (SELECT max(stay_id) FROM stays)", share)
	case 5:
		return fmt.Sprintf("INSERT INTO labs SELECT %d + row_number() OVER (), stay_id, 1, 'sodium', 140 FROM (SELECT stay_id FROM stays ORDER BY stay_id OFFSET %d LIMIT 9) a", key, share)
	case 6:
		return fmt.Sprintf("DELETE FROM prescriptions WHERE prescription_id %% 200 = %d; DELETE FROM labs WHERE lab_id %% 200 = %d", share, share)
	case 7:
		return fmt.Sprintf("UPDATE persons SET birth_date = birth_date + 30 WHERE person_id %% 40 = %d", share)
	}
	return "CREATE TEMPORARY TABLE kept ON COMMIT DROP AS SELECT * FROM diagnoses; TRUNCATE diagnoses; INSERT INTO diagnoses SELECT * FROM kept"
}
