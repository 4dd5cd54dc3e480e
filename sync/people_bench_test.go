package sync

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/catalog/provision"
	generated "github.com/kproxy/kproxy/internal/hospital"
	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/internal/verify"
)

// The life of five tables about the same persons, with some 125 rows below each person: they are
// published together, and follow mixed changes at several rates.
//
//	go test ./sync -run xxx -bench 'People/persons=20000$' -benchtime 1x -timeout 1h
//
// A change of a known row replaces what its class and window have, a change of a row that no
// outsider knows replaces that row: rates are measured for changes of all tables, as rows occur, and
// for changes of unknown rows alone.
func BenchmarkPeople(b *testing.B) {
	for _, persons := range []int{2_000, 20_000} {
		b.Run(fmt.Sprintf("persons=%d", persons), func(b *testing.B) {
			for b.Loop() {
				livePeople(b, persons, catalog.Updates{Mode: catalog.Immediate}, peopleLoads)
			}
		})
	}
}

// BenchmarkGuardedPeople is BenchmarkPeople with guarded updates, of which a change replaces nothing:
//
//	go test ./sync -run xxx -bench 'GuardedPeople/persons=20000$' -benchtime 1x -timeout 1h
func BenchmarkGuardedPeople(b *testing.B) {
	for _, persons := range []int{2_000, 20_000} {
		b.Run(fmt.Sprintf("persons=%d", persons), func(b *testing.B) {
			for b.Loop() {
				livePeople(b, persons, catalog.Updates{Mode: catalog.Guarded, Batch: 1000, Within: 5 * time.Second, RowsWithin: 10 * time.Second}, guardedLoads)
			}
		})
	}
}

var guardedLoads = []peopleLoad{{"mixed-100", 0, 100}, {"mixed-500", 0, 500}, {"mixed-2000", 0, 2000}}

// peopleLoads are changes at a rate, each for peopleLast. Changes are those that historyChanges numbers
// from least on.
var peopleLoads = []peopleLoad{{"unknown-500", 7, 500}, {"unknown-2000", 7, 2000}, {"mixed-25", 0, 25}, {"mixed-50", 0, 50}, {"mixed-100", 0, 100}}

type peopleLoad struct {
	name        string
	least, rate int
}

const peopleLast = 20 * time.Second

// histories are a hospital's published tables.
type histories struct {
	b       *testing.B
	persons int
	rows    int
	changes int // so far
	source  *pgx.Conn
	config  Config
}

func livePeople(b *testing.B, persons int, updates catalog.Updates, loads []peopleLoad) {
	b.Helper()
	h := newHistories(b, publicationServer(b), persons, updates)
	before, began, used, served := heap(), time.Now(), userTime(), h.serverTime()
	s, stop := publishing(b, h.config)
	defer stop()
	for t := range h.config.Tables {
		for s.Status().Tables[h.config.Tables[t].Policy.Table].State != Published {
			time.Sleep(5 * time.Millisecond)
		}
	}
	h.wait(s, h.mark().at)
	b.ReportMetric(time.Since(began).Seconds(), "publish-s")
	b.ReportMetric((userTime() - used).Seconds(), "publish-processor-s")
	b.ReportMetric((h.serverTime() - served).Seconds(), "publish-server-processor-s")
	b.ReportMetric(float64(h.rows), "rows")
	b.ReportMetric(perRow(heap()-before, h.rows), "heap-B/row")
	h.verify()
	for _, load := range loads {
		h.follow(s, load.name, load.least, load.rate)
	}
	runtime.KeepAlive(s)
}

// verify measures what kproxy verify takes.
func (h *histories) verify() {
	h.b.Helper()
	conn, err := pgx.ConnectConfig(h.b.Context(), h.config.Owner)
	if err != nil {
		h.b.Fatal(err)
	}
	defer conn.Close(context.Background())
	began := time.Now()
	report, err := verify.Run(h.b.Context(), conn, h.config.Tables, verify.Options{})
	if err != nil || !report.Passed() {
		h.b.Errorf("the verifier found %v %+v", err, report)
	}
	h.b.ReportMetric(time.Since(began).Seconds(), "verify-s")
}

// newHistories fills a database with persons, each with the rows of about three of the
// generator's.
func newHistories(b *testing.B, server *pgserver.Server, persons int, updates catalog.Updates, audiences ...catalog.AudiencePolicy) *histories {
	b.Helper()
	h := &histories{b: b, persons: persons}
	var err error
	if h.source, err = pgx.Connect(b.Context(), pgtest.Database(b, server)); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = h.source.Close(context.Background()) })
	if err := generated.LoadHistories(b.Context(), h.source, persons*16/5, 1); err != nil {
		b.Fatal(err)
	}
	h.exec(fmt.Sprintf("UPDATE stays SET person_id = 1 + person_id %% %d", persons))
	h.exec(fmt.Sprintf("DELETE FROM persons WHERE person_id > %d", persons))
	h.exec("CREATE INDEX ON prescriptions (stay_id, prescription_id); CREATE SEQUENCE added START 1000000000")
	h.exec("VACUUM FULL ANALYZE")
	h.exec("CHECKPOINT")
	people, policy := historiesPeople()
	input := provision.Input{
		Publication: "kproxy",
		Owner:       provision.Login{Name: "bench_owner", Password: "owner"}, Reader: provision.Login{Name: "bench_reader", Password: "reader"},
	}
	for _, a := range audiences {
		policy.Audiences = append(policy.Audiences, catalog.Audience{Name: a.Audience, Roles: []string{a.Role}})
		input.Readers = append(input.Readers, provision.Login{Name: a.Role, Password: "reader"})
	}
	for i := range policy.Tables {
		policy.Tables[i].Audiences = audiences
	}
	input.Policy = policy
	if err := provision.Apply(b.Context(), h.source, input); err != nil {
		b.Fatal(err)
	}
	relations, err := inspect.Relations(b.Context(), h.source, "bench_reader")
	if err != nil {
		b.Fatal(err)
	}
	owner := h.source.Config().Copy()
	owner.User, owner.Password = "bench_owner", "owner"
	h.config = Config{Owner: owner, Reader: "bench_reader", Publication: "kproxy", Slot: "bench", Seed: 1, Logger: slog.New(slog.DiscardHandler)}
	policies, byName := make(map[catalog.Name]catalog.TablePolicy), make(map[catalog.Name]catalog.Relation)
	for _, t := range policy.Tables {
		t.Updates = updates
		policies[t.Table] = t
	}
	for _, r := range relations {
		byName[r.Name] = r
	}
	p, problems := catalog.PublishPeople(people, policies, byName)
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	h.config.Tables = append([]catalog.Publication{p.Root}, p.Tables...)
	for _, t := range policy.Tables {
		var rows int
		h.ask("SELECT count(*) FROM "+t.Table.SQL(), &rows)
		h.rows += rows
	}
	return h
}

// historiesPeople is the policy of the demonstration, histories.yaml.
func historiesPeople() (catalog.People, catalog.Policy) {
	name := func(table string) catalog.Name { return catalog.Name{Schema: "public", Relation: table} }
	knows, err := catalog.ParseKnowledge("1/1y")
	if err != nil {
		panic(err)
	}
	policy := catalog.Policy{}
	add := func(table string, kinds map[string]hierarchy.Kind, roles map[string]catalog.Role) {
		t := catalog.TablePolicy{
			Table: name(table), Method: "bottom-up", Updates: catalog.Updates{Mode: catalog.Immediate},
			Constraints: []privacy.Spec{{Model: privacy.K, K: 5}},
		}
		for column, kind := range kinds {
			t.Columns = append(t.Columns, catalog.ColumnPolicy{Name: column, Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: kind}})
		}
		for column, role := range roles {
			t.Columns = append(t.Columns, catalog.ColumnPolicy{Name: column, Role: role})
		}
		policy.Tables = append(policy.Tables, t)
	}
	const identifying, sensitive, insensitive = catalog.Identifying, catalog.Sensitive, catalog.Insensitive
	add("persons", map[string]hierarchy.Kind{"birth_date": hierarchy.Date, "sex": hierarchy.Categorical, "postcode": hierarchy.Prefix}, map[string]catalog.Role{"name": identifying, "national_id": identifying})
	add("stays", map[string]hierarchy.Kind{"admission_date": hierarchy.Date}, map[string]catalog.Role{"days": sensitive, "ward": sensitive, "cost": sensitive})
	add("diagnoses", nil, map[string]catalog.Role{"position": insensitive, "code": sensitive})
	add("prescriptions", nil, map[string]catalog.Role{"prescription_id": identifying, "day": insensitive, "drug": sensitive})
	add("labs", nil, map[string]catalog.Role{"lab_id": identifying, "day": insensitive, "test": sensitive, "value": sensitive})
	below := func(table string) catalog.PeopleTable {
		return catalog.PeopleTable{Table: name(table), Through: name("stays"), By: []string{"stay_id"}, Unknown: true}
	}
	return catalog.People{
		Kind: "person", Root: name("persons"), Key: []string{"person_id"}, Knows: knows,
		Tables: []catalog.PeopleTable{
			{Table: name("stays"), Person: []string{"person_id"}, Key: []string{"stay_id"}, Order: "admission_date"},
			below("diagnoses"), below("prescriptions"), below("labs"),
		},
		Constraints: []privacy.Spec{{Model: privacy.K, K: 5}},
	}, policy
}

// historyChanges makes %[2]d changes after %[1]d before them, of %[3]d persons, each in its own
// transaction. Of 100 changes one is of a person, six are of stays and the others of what is
// below them, as rows occur. Those before %[4]d of each 100 are made below stays.
const historyChanges = `DO $$
DECLARE kind integer; person integer; stay bigint; lab bigint;
BEGIN
	FOR c IN %[1]d .. %[1]d + %[2]d - 1 LOOP
		person := 1 + (c::bigint * 7919) %% %[3]d;
		kind := (c * 37) %% 100;
		IF kind < %[4]d THEN kind := kind + 20; END IF;
		SELECT stay_id INTO stay FROM stays WHERE person_id = person LIMIT 1;
		IF kind = 0 THEN
			UPDATE persons SET postcode = (10000 + c %% 80000)::text WHERE person_id = person;
		ELSIF kind < 4 THEN
			INSERT INTO stays VALUES (nextval('added'), person, date '2023-01-01' + c %% 1095, 3, 'A', 1000);
		ELSIF kind < 6 THEN
			UPDATE stays SET cost = cost + 1 WHERE stay_id = stay;
		ELSIF kind = 6 THEN
			DELETE FROM stays WHERE stay_id = stay;
		ELSIF stay IS NULL THEN
			NULL;
		ELSIF kind < 16 THEN
			INSERT INTO diagnoses SELECT stay, 1 + max(position), 'I10' FROM diagnoses WHERE stay_id = stay;
		ELSIF kind < 32 THEN
			INSERT INTO prescriptions VALUES (nextval('added'), stay, 1, 'aspirin');
		ELSIF kind < 60 THEN
			INSERT INTO labs VALUES (nextval('added'), stay, 1, 'sodium', 140);
		ELSE
			SELECT lab_id INTO lab FROM labs WHERE stay_id = stay LIMIT 1;
			IF kind < 80 THEN UPDATE labs SET value = value + 1 WHERE lab_id = lab;
			ELSE DELETE FROM labs WHERE lab_id = lab; END IF;
		END IF;
		COMMIT;
	END LOOP;
END $$`

// follow has changes made at a rate, and measures how long each takes until readers see it.
func (h *histories) follow(s *Syncer, name string, least, rate int) {
	h.b.Helper()
	conn, err := pgx.ConnectConfig(h.b.Context(), h.source.Config())
	if err != nil {
		h.b.Fatal(err)
	}
	defer conn.Close(context.Background())
	began, used, served, done := time.Now(), userTime(), h.serverTime(), make(chan int, 1)
	go func() { done <- h.commitAt(conn, least, rate) }()
	m := marks{every: 50 * time.Millisecond}
	made := -1
	for made < 0 || len(m.waiting) > 0 {
		select {
		case made = <-done:
		case <-time.After(time.Millisecond):
		}
		if made < 0 {
			m.set(h.mark)
		}
		m.passed(s.Status().Position)
	}
	took := time.Since(began)
	h.b.ReportMetric(float64(made)/took.Seconds(), name+"-changes/s")
	h.b.ReportMetric(percentile(m.lags, 0.5).Seconds()*1000, name+"-p50-ms")
	h.b.ReportMetric(percentile(m.lags, 0.99).Seconds()*1000, name+"-p99-ms")
	h.b.ReportMetric(slices.Max(m.lags).Seconds()*1000, name+"-max-ms")
	h.b.ReportMetric((userTime()-used).Seconds()/took.Seconds(), name+"-processors")
	h.b.ReportMetric((h.serverTime()-served).Seconds()/took.Seconds(), name+"-server-processors")
}

// commitAt makes changes at the rate, and returns how many.
func (h *histories) commitAt(conn *pgx.Conn, least, rate int) (done int) {
	block := max(1, rate/50)
	began := time.Now()
	for time.Since(began) < peopleLast {
		time.Sleep(time.Until(began.Add(time.Duration(done) * time.Second / time.Duration(rate))))
		if _, err := conn.Exec(h.b.Context(), fmt.Sprintf(historyChanges, h.changes, block, h.persons, least), pgx.QueryExecModeSimpleProtocol); err != nil {
			h.b.Error(err)
			return done
		}
		h.changes += block
		done += block
	}
	return done
}

// mark commits something behind the position of the mark.
func (h *histories) mark() (mark committed) {
	h.b.Helper()
	h.ask("SELECT pg_current_wal_insert_lsn()::text", &mark.at)
	mark.from = time.Now()
	h.exec("UPDATE prescriptions SET day = day WHERE prescription_id = 1")
	return mark
}

// wait waits until readers see what was committed up to a position.
func (h *histories) wait(s *Syncer, at pglogrepl.LSN) {
	h.b.Helper()
	for s.Status().Position < at {
		if s.Status().State == Stopped {
			h.b.Fatalf("the syncer stopped: %s", s.Status().Reason)
		}
		time.Sleep(time.Millisecond)
	}
}

func (h *histories) exec(sql string) {
	h.b.Helper()
	if _, err := h.source.Exec(h.b.Context(), sql); err != nil {
		h.b.Fatalf("%s: %v", sql, err)
	}
}

func (h *histories) ask(sql string, result any) {
	h.b.Helper()
	if err := h.source.QueryRow(h.b.Context(), sql).Scan(result); err != nil {
		h.b.Fatalf("%s: %v", sql, err)
	}
}

// serverTime is the processor time of the server, of ended backends as well.
func (h *histories) serverTime() (total time.Duration) {
	var directory string
	h.ask("SHOW data_directory", &directory)
	text, err := os.ReadFile(filepath.Join(directory, "postmaster.pid"))
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n")
	postmaster, _ := strconv.Atoi(first)
	ticks := processTicks(postmaster, 4)
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", postmaster))
	for child := range strings.FieldsSeq(string(children)) {
		pid, _ := strconv.Atoi(child)
		ticks += processTicks(pid, 2)
	}
	return time.Duration(ticks) * 10 * time.Millisecond // Linux has 100 a second
}

// processTicks sums figures of /proc/<pid>/stat: user and system time, those of children then.
func processTicks(pid, figures int) (ticks int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 15 {
		return 0
	}
	for _, field := range fields[11 : 11+figures] {
		n, _ := strconv.Atoi(field)
		ticks += n
	}
	return ticks
}
