// Package verify proves from the database alone that what is published keeps
// its promises.
//
// It shares the reading of a policy with the code that makes releases (the forms of
// constraints and hierarchies, the columns of release and store), but no code that gathers,
// generalizes or counts. It counts constraints by GROUP BY over the published relations, as
// clients see them, and compares the release row by row with the private store. The rows of
// a guarded table can outlive their records: its classes are counted as published, and
// only records that are published as they are now are compared. All checks are set-based and
// linear in the number of records.
//
// Entry point: [Run].
package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

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
	// Records counts the private store; Withheld counts those of them in no equivalence
	// class. In a guarded table these wait for publication, or have expired.
	Records  int64 `json:"records"`
	Withheld int64 `json:"withheld"`
	// Stale counts records that are published with earlier values, Ghosts the rows whose
	// records are gone; 0 unless the table is guarded.
	Stale  int64 `json:"stale"`
	Ghosts int64 `json:"ghosts"`
	// Rows counts the published relation.
	Rows int64 `json:"rows"`
	// Classes counts the equivalence classes of all independent parts.
	Classes int64 `json:"classes"`
	// Smallest is the size of the smallest class in records, or in rows if the table is
	// guarded; 0 without classes.
	Smallest int64 `json:"smallest"`
	Largest  int64 `json:"largest"`
	// Discernibility is the metric DM: the sum of the squared class sizes, plus
	// Records for each withheld record. At least Records; lower is better. With
	// several parts it is the sum over them.
	Discernibility int64 `json:"discernibility"`
	// Mirrored says that the table is not protected, so that there are no classes: Rows are those
	// of the private store, which is not compared with the source.
	Mirrored bool    `json:"mirrored,omitempty"`
	Checks   []Check `json:"checks"`
	// NotAsked are promises that SQL cannot prove, as the private store is sealed.
	NotAsked []string `json:"not_asked,omitempty"`
	// Audiences are those that see the table.
	Audiences []AudienceReport `json:"audiences,omitempty"`
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
	failed := func(c Check) bool { return !c.Passed }
	return !slices.ContainsFunc(t.Checks, failed) &&
		!slices.ContainsFunc(t.Audiences, func(a AudienceReport) bool { return slices.ContainsFunc(a.Checks, failed) })
}

// Passed says whether every promise was kept for every table.
func (r Report) Passed() bool {
	return !slices.ContainsFunc(r, func(t TableReport) bool { return !t.Passed() })
}

// maxExamples bounds the examples of one check.
const maxExamples = 5

// Run verifies the tables on one snapshot of the database. The connection is the
// owner's, outside a transaction. The report has broken promises; the error is for queries
// that failed. If a table is published anew during a failing verification, Run starts again.
func Run(ctx context.Context, conn *pgx.Conn, publications []catalog.Publication, options Options) (Report, error) {
	if conn.PgConn().TxStatus() != 'I' {
		return nil, errors.New("verifying: the connection is in the middle of a transaction")
	}
	for {
		before, err := generations(ctx, conn)
		if err != nil {
			return nil, err
		}
		report, err := verifyAll(ctx, conn, publications, options)
		if (err == nil && report.Passed()) || ctx.Err() != nil {
			return report, err
		}
		// Names are looked up as they are now, whatever snapshot a transaction has.
		if now, moved := generations(ctx, conn); moved != nil || maps.Equal(now, before) {
			return report, errors.Join(err, moved)
		}
	}
}

// generations reads the current and the previous generation of each table.
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

// table is the verification of one table.
type table struct {
	ctx       context.Context
	tx        pgx.Tx
	tell      func(table, check string)
	relations relations
	report    TableReport
}

func (s session) newTable(p catalog.Publication) table {
	return table{ctx: s.ctx, tx: s.tx, tell: s.tell, relations: relations{publication: p, parts: partsOf(p)}, report: TableReport{Table: p.Policy.Table.String()}}
}

// step is a part of the verification of a table, with what it checks in words.
type step struct {
	checks string
	do     func() error
}

// take takes the steps, in their order.
func (t *table) take(steps []step) error {
	for _, step := range steps {
		t.tell(t.report.Table, step.checks)
		if err := step.do(); err != nil {
			return err
		}
	}
	return nil
}

func (s session) verifyTable(p catalog.Publication) (TableReport, error) {
	p, err := s.linked(p)
	if err != nil {
		return TableReport{Table: p.Policy.Table.String()}, err
	}
	t := s.newTable(p)
	t.relations.kept = p.Kept("").Columns
	readable, err := t.isReadable()
	if err != nil || !readable {
		return t.report, err
	}
	if t.relations.isMirrored() {
		return t.report, t.verifyMirrored()
	}
	hidden := func() error { return t.checkHidden(p.Policy.Constraints, p.Policy.Hidden) }
	steps := []step{{"counts", t.count}, {"constraints", t.checkConstraints}, {"constraints on hidden columns", hidden}, {"records", t.checkRelease}, {"values", t.checkAttributes}}
	if len(p.Policy.Hidden) == 0 {
		steps = slices.Delete(steps, 2, 3)
	}
	if t.relations.isGuarded() {
		steps[0].do, steps[len(steps)-2].do = t.countGuarded, t.checkLineage
	}
	if t.relations.isSealed() {
		steps = steps[:len(steps)-1]
		t.report.NotAsked = t.relations.sealedPromises()
	}
	if err := t.take(steps); err != nil {
		return t.report, err
	}
	err = t.verifyAudiences()
	return t.report, err
}

// isReadable checks that the table's relations are there, with the columns that they should
// have. If it is false, the data cannot be checked.
func (t *table) isReadable() (bool, error) {
	found, err := t.locate()
	if err != nil || !found {
		return false, err
	}
	complete, err := t.checkShape()
	if err == nil && !complete {
		t.add("the data", 1, []string{"not checked, because columns are missing or of another type"})
	}
	return complete, err
}

func (t *table) add(name string, violations int64, examples []string) {
	t.report.Checks = append(t.report.Checks, Check{Name: name, Passed: violations == 0, Violations: violations, Examples: examples})
}

// locate finds the three relations of the table; one that is missing is a
// failed check.
func (t *table) locate() (found bool, err error) {
	name := t.relations.publication.Policy.Table
	const generation = "SELECT coalesce(previous, generation) FROM kproxy_store.generation WHERE table_schema = $1 AND table_name = $2 AND generation > 0"
	err = t.tx.QueryRow(t.ctx, generation, name.Schema, name.Relation).Scan(&t.report.Generation)
	if errors.Is(err, pgx.ErrNoRows) {
		t.add("is published", 1, []string{"the private store has no generation of the table"})
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading the generation: %w", err)
	}
	audience := t.relations.publication.Policy.Audience
	store, err := t.storedAs()
	if err != nil {
		return false, err
	}
	stored := func(kind string) catalog.Name {
		if audience != "" {
			kind += "_" + store
		}
		return catalog.Name{Schema: catalog.StoreSchema, Relation: fmt.Sprintf("%s_%d", kind, t.report.Generation)}
	}
	type relation struct {
		name catalog.Name
		sql  *string
	}
	of := []relation{{t.relations.publication.Policy.Published(), &t.relations.published}, {stored("records"), &t.relations.records}, {stored("release"), &t.relations.release}}
	if !t.relations.publication.IsSeen() {
		of[0].name = stored("release") // there is no view
	}
	if t.relations.publication.WeighsApart() {
		of = append(of, relation{stored("cellweight"), &t.relations.weights})
	}
	if audience != "" && t.relations.isGuarded() {
		of = append(of, relation{stored("followed"), &t.relations.followed})
		if t.relations.publication.Membership == nil {
			of = append(of, relation{stored("parted"), &t.relations.parted})
		}
	}
	if t.relations.removed { // it has no published relation
		of = of[1:]
	}
	var missing []string
	for _, r := range of {
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
	t.relations.packed = stored("packed").SQL()
	audience = "" // the members of all releases are of one type
	t.relations.copied = stored("copied").SQL()
	if t.relations.isMirrored() {
		t.relations.packed = t.relations.records // the release is a view of these
	}
	if err := t.tx.QueryRow(t.ctx, "SELECT to_regclass($1) IS NOT NULL", t.relations.packed).Scan(&t.relations.isPacked); err != nil {
		return false, fmt.Errorf("looking for %s: %w", t.relations.packed, err)
	}
	return len(missing) == 0, nil
}

// count fills in the figures of the report.
func (t *table) count() error {
	r := &t.report
	totals := fmt.Sprintf("SELECT count(*), count(*) FILTER (WHERE NOT (%s)), (SELECT count(*) FROM %s) FROM %s r", t.relations.inClasses("r"), t.relations.published, t.relations.records)
	if err := t.tx.QueryRow(t.ctx, totals).Scan(&r.Records, &r.Withheld, &r.Rows); err != nil {
		return fmt.Errorf("counting records: %w", err)
	}
	for _, p := range t.relations.parts {
		sizes := fmt.Sprintf("SELECT count(*), coalesce(min(n), 0), coalesce(max(n), 0), coalesce(sum(n * n), 0)::bigint"+
			" FROM (SELECT count(*) AS n FROM %s r WHERE %s GROUP BY r.%s) c", t.relations.records, t.relations.inClasses("r"), p.class)
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
