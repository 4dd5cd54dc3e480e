package sync

import (
	"fmt"
	"slices"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/internal/verify"
)

// tableCase is a protected table of one test: its definition and what the policy says of
// its columns, by role. Numeric and categorical are quasi-identifying.
type tableCase struct {
	name                   string
	ddl                    string
	numeric, categorical   []string
	sensitive, insensitive []string
	subject                string
	guarded                bool
}

// person is a table case of the plainest shape, with an insensitive note.
func person(name string) tableCase {
	return tableCase{
		name: name, ddl: "CREATE TABLE " + name + " (id int PRIMARY KEY, age int, note text, illness text NOT NULL)",
		numeric: []string{"age"}, sensitive: []string{"illness"}, insensitive: []string{"note"},
	}
}

// with is the case with further definitions behind its own.
func (c tableCase) with(ddl string) tableCase {
	c.ddl += ";" + ddl
	return c
}

func (c tableCase) policy() catalog.TablePolicy {
	p := catalog.TablePolicy{
		Table: catalog.Name{Schema: "public", Relation: c.name}, Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate}, Subject: c.subject,
		Constraints: []privacy.Spec{{Model: privacy.K, K: 3}},
	}
	if len(c.sensitive) > 0 {
		p.Constraints = append(p.Constraints, privacy.Spec{Model: privacy.DistinctL, L: 2, Of: c.sensitive[0]})
	}
	if c.guarded {
		p.Updates = catalog.Updates{Mode: catalog.Guarded, Crowd: 2}
	}
	add := func(role catalog.Role, kind hierarchy.Kind, names []string) {
		for _, name := range names {
			column := catalog.ColumnPolicy{Name: name, Role: role}
			if role == catalog.QuasiIdentifying {
				column.Hierarchy = &hierarchy.Spec{Kind: kind}
			}
			p.Columns = append(p.Columns, column)
		}
	}
	add(catalog.QuasiIdentifying, hierarchy.Numeric, c.numeric)
	add(catalog.QuasiIdentifying, hierarchy.Categorical, c.categorical)
	add(catalog.Sensitive, hierarchy.Numeric, c.sensitive)
	add(catalog.Insensitive, hierarchy.Numeric, c.insensitive)
	return p
}

// tablesBench is a database with the cases' tables and one more, beat, by which the
// bench sees how far the release is.
func tablesBench(t *testing.T, cases ...tableCase) *bench {
	t.Helper()
	server := pgtest.Shared(t)
	return tablesOn(t, server, pgtest.Database(t, server), cases...)
}

func tablesOn(t *testing.T, server *pgserver.Server, dsn string, cases ...tableCase) *bench {
	t.Helper()
	b := &bench{t: t, dsn: dsn}
	b.source = b.connect()
	policy := catalog.Policy{}
	for _, c := range append([]tableCase{person("beat")}, cases...) {
		b.script(c.ddl)
		policy.Tables = append(policy.Tables, c.policy())
	}
	return b.provide(server, policy)
}

// within has the bench fail the given test, one of several that share it, until its end.
func (b *bench) within(t *testing.T) *bench {
	outer := b.t
	b.t = t
	t.Cleanup(func() { b.t = outer })
	return b
}

func publicTable(name string) catalog.Name { return catalog.Name{Schema: "public", Relation: name} }

// fillPersons inserts rows into tables of the plain shape.
func (b *bench) fillPersons(rows int, tables ...string) {
	b.t.Helper()
	for _, table := range tables {
		b.exec(fmt.Sprintf(`INSERT INTO %s (id, age, note, illness) SELECT i, i %% 70, 'note ' || i, 'illness ' || i %% 5 FROM generate_series(1, %d) i`, table, rows))
	}
}

// differences compares source and private store of a table by the texts of all values,
// which tells more apart than SQL's equality, and compares types that have none.
func (b *bench) differences(p catalog.Publication) (missing, surplus int) {
	b.t.Helper()
	table, err := newTable(p)
	if err != nil {
		b.t.Fatal(err)
	}
	b.scan([]any{&table.release.generation}, "SELECT generation FROM kproxy_store.generation WHERE table_schema = $1 AND table_name = $2",
		table.layout.name().Schema, table.layout.name().Relation)
	// ROW(..)::text is made by the types' output functions; casts to text differ for some.
	row := "SELECT ROW(" + table.layout.columns.list("") + ")::text FROM "
	b.scan([]any{&missing, &surplus}, fmt.Sprintf("SELECT (SELECT count(*) FROM (%[1]s%[2]s EXCEPT ALL %[1]s%[3]s) a), (SELECT count(*) FROM (%[1]s%[3]s EXCEPT ALL %[1]s%[2]s) b)",
		row, table.layout.name().SQL(), table.recordsTable()))
	return missing, surplus
}

// calm waits until every table that is not halted is applied and shown up to now.
func (b *bench) calm(s *Syncer) {
	b.t.Helper()
	for range 2 {
		await(b.t, "nothing is being prepared", func() bool {
			for _, p := range b.config.Tables {
				if status := s.Status().Tables[p.Policy.Table]; status.Preparing || status.State == Unpublished {
					return false
				}
			}
			return s.Status().State == Streaming
		}, s)
		b.caughtUp(s)
	}
}

// chosen are the publications of some tables; no names mean all.
func (b *bench) chosen(tables []string) (chosen []catalog.Publication) {
	for _, p := range b.config.Tables {
		if len(tables) == 0 || slices.Contains(tables, p.Policy.Table.Relation) {
			chosen = append(chosen, p)
		}
	}
	return chosen
}

// settled checks that tables agree with the source, that none is halted, and that the
// verifier agrees with the releases. No names mean all tables.
func (b *bench) settled(s *Syncer, tables ...string) {
	b.t.Helper()
	b.calm(s)
	for _, p := range b.chosen(tables) {
		b.agrees(s, p)
	}
	report, err := verify.Run(b.t.Context(), b.connect(), b.chosen(tables), verify.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	if !report.Passed() {
		var text strings.Builder
		_ = report.WriteText(&text)
		b.t.Errorf("the verifier refuses:\n%s", text.String())
	}
}

// agrees checks one table.
func (b *bench) agrees(s *Syncer, p catalog.Publication) {
	b.t.Helper()
	name := p.Policy.Table
	if status := s.Status().Tables[name]; status.State != Published {
		b.t.Errorf("%s is %s: %s (%s)", name, status.State, status.Problem, status.Fix)
		return
	}
	if missing, surplus := b.differences(p); missing+surplus > 0 {
		b.t.Errorf("%s: the store lacks %d rows of the source and has %d others", name, missing, surplus)
	}
}

// heals waits until tables agree with the source although the stream did not tell how
// they came to be what they are, and checks them. No names mean all tables.
func (b *bench) heals(s *Syncer, tables ...string) {
	b.t.Helper()
	if halted := b.healsOrHalts(s, tables...); halted != "" {
		status := s.Status().Tables[publicTable(halted)]
		b.t.Fatalf("%s is halted: %s (%s)", halted, status.Problem, status.Fix)
	}
}

// healsOrHalts is heals, or the name of a table that is halted.
func (b *bench) healsOrHalts(s *Syncer, tables ...string) (halted string) {
	b.t.Helper()
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		b.calm(s)
		different := ""
		for _, p := range b.chosen(tables) {
			if s.Status().Tables[p.Policy.Table].State == Halted {
				return p.Policy.Table.Relation
			}
			if missing, surplus := b.differences(p); missing+surplus > 0 {
				different = fmt.Sprintf("%s: the store lacks %d rows of the source and has %d others", p.Policy.Table, missing, surplus)
			}
		}
		if different == "" {
			b.settled(s, tables...)
			return ""
		}
		if time.Since(start) > patience {
			b.t.Fatalf("not healed for long: %s", different)
		}
	}
}

// healsWithFix is heals, where the table may also be halted with a fix that helps.
func (b *bench) healsWithFix(s *Syncer, table string) {
	b.t.Helper()
	if b.healsOrHalts(s, table) == "" {
		return
	}
	status := s.Status().Tables[publicTable(table)]
	b.t.Logf("%s is halted: %s (%s)", table, status.Problem, status.Fix)
	halted := []string{table}
	for _, p := range b.config.Tables { // the others have to heal as well
		if other := p.Policy.Table.Relation; other != table && b.healsOrHalts(s, other) != "" {
			halted = append(halted, other)
		}
	}
	b.goesOn(s, halted...)
	switch {
	case strings.Contains(status.Fix, "'kproxy resync'"):
		if err := Resynchronize(b.t.Context(), b.config.Owner, b.config.Slot, []catalog.Name{publicTable(table)}); err != nil {
			b.t.Fatal(err)
		}
		b.answered()
	case strings.Contains(status.Fix, "'kproxy reload'"):
		b.reload(s)
	default:
		b.t.Fatal("the fix names no command")
	}
	b.heals(s, table)
}

// answered waits until what was asked for is done.
func (b *bench) answered() {
	b.t.Helper()
	await(b.t, "what was asked for is done", func() bool {
		var asked int
		b.scan([]any{&asked}, "SELECT count(*) FROM kproxy_store.generation WHERE asked IS NOT NULL")
		return asked == 0
	})
}

// halts waits until a table is halted, with a reason and a fix that names a command, and
// checks that the others go on.
func (b *bench) halts(s *Syncer, table string) TableStatus {
	b.t.Helper()
	await(b.t, table+" is halted", func() bool { return s.Status().Tables[publicTable(table)].State == Halted })
	status := s.Status().Tables[publicTable(table)]
	if status.Problem == "" || !strings.Contains(status.Fix, "kproxy ") {
		b.t.Errorf("%s is halted without a reason or a fix that names a command: %+v", table, status)
	}
	b.goesOn(s, table)
	return status
}

// goesOn checks that all tables but those given follow the source.
func (b *bench) goesOn(s *Syncer, but ...string) {
	b.t.Helper()
	b.calm(s)
	for _, p := range b.config.Tables {
		if !slices.Contains(but, p.Policy.Table.Relation) {
			b.agrees(s, p)
		}
	}
}

// reload has kproxy look at the tables afresh, as after a correction.
func (b *bench) reload(s *Syncer) {
	b.t.Helper()
	policy := catalog.Policy{}
	for _, p := range b.config.Tables {
		policy.Tables = append(policy.Tables, p.Policy)
	}
	b.config.Tables = b.publications(policy, b.config.Reader)
	s.Reload(b.config.Tables)
}

// accept has the operator accept what a table is now.
func (b *bench) accept(s *Syncer, table string) {
	b.t.Helper()
	b.reload(s)
	var one []catalog.Publication
	for _, p := range b.config.Tables {
		if p.Policy.Table.Relation == table {
			one = append(one, p)
		}
	}
	found, err := FindUnaccepted(b.t.Context(), b.source, b.source, one)
	if err != nil || len(found) != 1 {
		b.t.Fatalf("%v, %v", found, err)
	}
	b.t.Logf("accepted of %s: %v", table, found[0].Changes)
	if err := Accept(b.t.Context(), b.source, found); err != nil {
		b.t.Fatal(err)
	}
	b.reload(s)
}

// viewOf is the published relation of a table.
func viewOf(table string) string { return catalog.ReleaseSchema("public") + "." + table }

// answersOf polls a query of one snapshot until it is stopped, and returns every answer
// that differs from the one before.
func (b *bench) answersOf(sql string) (stop func() [][]any) {
	b.t.Helper()
	conn, done, first := b.connect(), make(chan struct{}), make(chan struct{})
	answered := make(chan [][]any, 1)
	ask := func() (row []any, err error) {
		rows, err := conn.Query(b.t.Context(), sql)
		if err != nil {
			return nil, err
		}
		return pgx.CollectExactlyOneRow(rows, func(r pgx.CollectableRow) ([]any, error) { return r.Values() })
	}
	go func() {
		var answers [][]any
		begun := gosync.OnceFunc(func() { close(first) })
		defer func() {
			begun()
			answered <- answers
		}()
		for {
			row, err := ask()
			if err != nil {
				b.t.Errorf("%s: %v", sql, err)
				return
			}
			if len(answers) == 0 || fmt.Sprint(answers[len(answers)-1]) != fmt.Sprint(row) {
				answers = append(answers, row)
			}
			begun()
			select {
			case <-done:
				return
			default:
			}
		}
	}()
	<-first
	return func() [][]any {
		close(done)
		return <-answered
	}
}
