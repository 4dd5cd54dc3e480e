// Package verify proves from the database alone that what is published keeps
// its promises.
//
// It shares with what makes the release how a policy is read (the forms of constraints
// and hierarchies, and which columns release and store have), and nothing that gathers,
// generalizes or counts: constraints are counted by GROUP BY over the published relations as clients see them, and the release is
// compared row by row with the private store. Of a guarded table, whose rows can
// show what is no more, every class is counted as it is published, and records that
// are published as they are are compared. All checks are set-based and linear in the
// number of records.
//
// Entry point: [Run].
package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// Report is the proof for every table, in the order in which they were given.
type Report []TableReport

// TableReport is the proof for one protected table. It never holds a value of a
// row: classes are named by number.
type TableReport struct {
	Table      string `json:"table"`
	Generation int64  `json:"generation"`
	// Records are those in the private store, Withheld those among them that
	// belong to no equivalence class: of a guarded table, those that wait and those
	// that waited in vain.
	Records  int64 `json:"records"`
	Withheld int64 `json:"withheld"`
	// Stale are the records that are published as they were, and Ghosts the rows that
	// stand for nobody; 0 unless the table is guarded.
	Stale  int64 `json:"stale"`
	Ghosts int64 `json:"ghosts"`
	// Rows are those of the published relation.
	Rows int64 `json:"rows"`
	// Classes are those of all parts that are divided apart from each other.
	Classes int64 `json:"classes"`
	// Smallest is how many records the smallest class has, or rows if the table is
	// guarded; 0 without classes.
	Smallest int64 `json:"smallest"`
	Largest  int64 `json:"largest"`
	// Discernibility is the metric DM: the sum of the squared class sizes, plus
	// Records for each withheld record. At least Records; lower is better. With
	// several parts it is the sum over them.
	Discernibility int64   `json:"discernibility"`
	Checks         []Check `json:"checks"`
}

// Check is one promise.
type Check struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	// Violations counts the groups, classes or columns that break the promise.
	Violations int64 `json:"violations"`
	// Examples describe the first few violations.
	Examples []string `json:"examples,omitempty"`
}

// Passed says whether every promise was kept.
func (t TableReport) Passed() bool {
	for _, c := range t.Checks {
		if !c.Passed {
			return false
		}
	}
	return true
}

// Passed says whether every promise was kept for every table.
func (r Report) Passed() bool {
	for _, t := range r {
		if !t.Passed() {
			return false
		}
	}
	return true
}

// maxExamples bounds the examples of one check.
const maxExamples = 5

// begin pins what the text form of values depends on, and the names' meaning, and
// lets grouping stay in memory.
const begin = "SET LOCAL search_path = pg_catalog; SET LOCAL extra_float_digits = 1; " +
	"SET LOCAL DateStyle = 'ISO'; SET LOCAL TimeZone = 'UTC'; SET LOCAL jit = off; SET LOCAL work_mem = '128MB'"

// Run verifies the tables on one snapshot of the database. The connection is the
// owner's, outside of a transaction. A broken promise is in the report; the
// error is for what could not be asked.
//
// What is published anew meanwhile is verified as it is then.
func Run(ctx context.Context, conn *pgx.Conn, publications []catalog.Publication) (Report, error) {
	if conn.PgConn().TxStatus() != 'I' {
		return nil, errors.New("verifying: the connection is in the middle of a transaction")
	}
	for {
		before, err := generations(ctx, conn)
		if err != nil {
			return nil, err
		}
		report, err := verifyAll(ctx, conn, publications)
		if (err == nil && report.Passed()) || ctx.Err() != nil {
			return report, err
		}
		// Names are looked up as they are now, whatever snapshot a transaction has.
		if now, moved := generations(ctx, conn); moved != nil || maps.Equal(now, before) {
			return report, errors.Join(err, moved)
		}
	}
}

// generations are those of all tables, by the tables' names.
func generations(ctx context.Context, conn *pgx.Conn) (map[catalog.Name][2]int64, error) {
	rows, _ := conn.Query(ctx, "SELECT table_schema, table_name, generation, coalesce(previous, 0) FROM kproxy_store.generation") // the rows carry its error
	found := make(map[catalog.Name][2]int64)
	var name catalog.Name
	var generation [2]int64
	_, err := pgx.ForEachRow(rows, []any{&name.Schema, &name.Relation, &generation[0], &generation[1]}, func() error {
		found[name] = generation
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the generations: %w", err)
	}
	return found, nil
}

// verifyAll verifies on one snapshot.
func verifyAll(ctx context.Context, conn *pgx.Conn, publications []catalog.Publication) (report Report, err error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, fmt.Errorf("verifying: %w", err)
	}
	defer func() {
		if failed := tx.Rollback(context.WithoutCancel(ctx)); failed != nil && !errors.Is(failed, pgx.ErrTxClosed) {
			err = errors.Join(err, fmt.Errorf("ending the verification: %w", failed))
		}
	}()
	if _, err := conn.PgConn().Exec(ctx, begin).ReadAll(); err != nil {
		return nil, fmt.Errorf("verifying: %w", err)
	}
	for _, p := range publications {
		t, err := verifyTable(ctx, tx, p)
		if err != nil {
			return nil, fmt.Errorf("verifying %s: %w", p.Policy.Table, err)
		}
		report = append(report, t)
	}
	return report, nil
}

// table is the verification of one table.
type table struct {
	ctx         context.Context
	tx          pgx.Tx
	publication catalog.Publication
	parts       []part
	// published, records and release are the three relations, quoted.
	published, records, release string
	// packed holds the rows of a packed release, which then is a view that unpacks them, and
	// copied is the type of their members. Other releases are tables without these.
	packed, copied string
	isPacked       bool
	report         TableReport
}

func verifyTable(ctx context.Context, tx pgx.Tx, p catalog.Publication) (TableReport, error) {
	t := table{ctx: ctx, tx: tx, publication: p, parts: partsOf(p), report: TableReport{Table: p.Policy.Table.String()}}
	found, err := t.locate()
	if err != nil || !found {
		return t.report, err
	}
	complete, err := t.checkShape()
	if err != nil {
		return t.report, err
	}
	if !complete {
		t.add("the data", 1, []string{"not looked at, because columns are missing or of another type"})
		return t.report, nil
	}
	steps := []func() error{t.count, t.checkConstraints, t.checkRelease, t.checkAttributes}
	if t.isGuarded() {
		steps = []func() error{t.countGuarded, t.checkConstraints, t.checkLineage, t.checkAttributes}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return t.report, err
		}
	}
	return t.report, nil
}

func (t *table) add(name string, violations int64, examples []string) {
	t.report.Checks = append(t.report.Checks, Check{Name: name, Passed: violations == 0, Violations: violations, Examples: examples})
}

// locate finds the three relations of the table; one that is missing is a
// failed check.
func (t *table) locate() (found bool, err error) {
	name := t.publication.Policy.Table
	const generation = "SELECT coalesce(previous, generation) FROM kproxy_store.generation WHERE table_schema = $1 AND table_name = $2"
	err = t.tx.QueryRow(t.ctx, generation, name.Schema, name.Relation).Scan(&t.report.Generation)
	if errors.Is(err, pgx.ErrNoRows) {
		t.add("is published", 1, []string{"the private store has no generation of the table"})
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading the generation: %w", err)
	}
	stored := func(kind string) catalog.Name {
		return catalog.Name{Schema: catalog.StoreSchema, Relation: fmt.Sprintf("%s_%d", kind, t.report.Generation)}
	}
	var missing []string
	for _, r := range []struct {
		name catalog.Name
		sql  *string
	}{
		{catalog.Published(name), &t.published}, {stored("records"), &t.records}, {stored("release"), &t.release},
	} {
		*r.sql = r.name.SQL()
		var exists bool
		if err := t.tx.QueryRow(t.ctx, "SELECT to_regclass($1) IS NOT NULL", r.name.SQL()).Scan(&exists); err != nil {
			return false, fmt.Errorf("looking for %s: %w", r.name, err)
		}
		if !exists {
			missing = append(missing, "there is no relation "+r.name.String())
		}
	}
	t.add("is published", int64(len(missing)), missing)
	t.packed, t.copied = stored("packed").SQL(), stored("copied").SQL()
	if err := t.tx.QueryRow(t.ctx, "SELECT to_regclass($1) IS NOT NULL", t.packed).Scan(&t.isPacked); err != nil {
		return false, fmt.Errorf("looking for %s: %w", t.packed, err)
	}
	return len(missing) == 0, nil
}

// count fills in the report's figures.
func (t *table) count() error {
	r := &t.report
	totals := fmt.Sprintf("SELECT count(*), count(*) FILTER (WHERE NOT (%s)), (SELECT count(*) FROM %s) FROM %s r", t.inClasses("r"), t.published, t.records)
	if err := t.tx.QueryRow(t.ctx, totals).Scan(&r.Records, &r.Withheld, &r.Rows); err != nil {
		return fmt.Errorf("counting records: %w", err)
	}
	for _, p := range t.parts {
		sizes := fmt.Sprintf("SELECT count(*), coalesce(min(n), 0), coalesce(max(n), 0), coalesce(sum(n * n), 0)::bigint"+
			" FROM (SELECT count(*) AS n FROM %s r WHERE %s GROUP BY r.%s) c", t.records, t.inClasses("r"), p.class)
		var classes, smallest, largest, discernibility int64
		if err := t.tx.QueryRow(t.ctx, sizes).Scan(&classes, &smallest, &largest, &discernibility); err != nil {
			return fmt.Errorf("counting classes: %w", err)
		}
		if r.Classes == 0 || smallest < r.Smallest {
			r.Smallest = smallest
		}
		r.Classes += classes
		r.Largest = max(r.Largest, largest)
		r.Discernibility += discernibility + r.Withheld*r.Records
	}
	return nil
}

// violations runs a query whose rows are violations, each described by its one
// text column, and adds the check. The query is numbered by the server, so that
// few rows are sent however many there are.
func (t *table) violations(name, query string, arguments ...any) error {
	limited := fmt.Sprintf("SELECT count(*) OVER (), v.described FROM (%s) AS v(described) ORDER BY 2 LIMIT %d", query, maxExamples)
	rows, err := t.tx.Query(t.ctx, limited, arguments...)
	if err != nil {
		return fmt.Errorf("checking %s: %w", name, err)
	}
	var total int64
	var examples []string
	var described string
	if _, err := pgx.ForEachRow(rows, []any{&total, &described}, func() error {
		examples = append(examples, described)
		return nil
	}); err != nil {
		return fmt.Errorf("checking %s: %w", name, err)
	}
	t.add(name, total, examples)
	return nil
}
