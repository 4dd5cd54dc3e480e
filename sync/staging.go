package sync

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// What the server has to know of the classes of a release that is not packed, in order to
// join it with the rows, lies in staging tables for the time of a publication: class<i>, the generalizations of a part's
// classes, and member, what the release shows of a record beside its places.

// stagingClasses is the staging table with the generalizations of one part's classes.
func (p *publisher) stagingClasses(part int) string { return fmt.Sprintf("class%d", part) }

// apart are the marks of the release that are no places of the records.
func (p *publisher) apart() []storeColumn {
	return union(p.table.mode.places(), p.table.mode.marks())[len(p.table.mode.places()):]
}

// createTables makes records, release and the staging tables, empty. What an earlier
// attempt of this process has left of them goes.
func (p *publisher) createTables(ctx context.Context) error {
	places := ""
	for _, c := range p.table.keptPlaces() {
		places += fmt.Sprintf(", NULL::%s AS %s", c.sqlType, c.name)
	}
	records := []string{fmt.Sprintf("CREATE TABLE %s WITH (fillfactor = %d) AS SELECT 0::bigint AS %s, %s%s FROM %s WITH NO DATA", p.table.recordsTable(), recordsFill, recordColumn, p.table.layout.columns.list(""), places, p.table.layout.source().sql())}
	if p.config.isApart() {
		var err error
		if records, err = p.emptyRecords(ctx, places); err != nil {
			return err
		}
	}
	statements := append([]string{p.dropAll()}, records...)
	statements = append(statements, fmt.Sprintf("ALTER TABLE %s ALTER %s SET NOT NULL", p.table.recordsTable(), recordColumn))
	statements = append(statements, p.spreadRecords()...)
	if p.table.layout.isMirrored() {
		return p.fenced(ctx, append(statements, p.table.mirrorView()), "preparing the tables")
	}
	if p.table.isPacked() {
		statements = append(statements, p.createMembers()...)
		if p.config.Distribute { // workers know the type once its table is committed
			if err := p.fenced(ctx, statements, "preparing the tables"); err != nil {
				return err
			}
			statements = nil
		}
		return p.fenced(ctx, append(statements, p.createPacked()...), "preparing the tables")
	}
	for i, part := range p.table.parts {
		columns := append([]string{part.column + " bigint"}, part.generalizedNames("", " text")...)
		statements = append(statements, fmt.Sprintf("CREATE UNLOGGED TABLE %s (%s)", p.stagingTable(p.stagingClasses(i)), strings.Join(columns, ", ")))
	}
	if apart := p.apart(); len(apart) > 0 {
		statements = append(statements, fmt.Sprintf("CREATE UNLOGGED TABLE %s (%s bigint, %s)", p.stagingTable("member"), recordColumn, definitions(apart)))
	}
	statements = append(statements, fmt.Sprintf("CREATE TABLE %s AS %s WITH NO DATA", p.table.release.releaseTable(), p.releaseQuery("true")))
	statements = append(statements, p.spreadRelease()...)
	statements = append(statements, p.createLinkedAudiences()...)
	statements = append(statements, p.createCrossedAudiences()...)
	if p.table.layout.publication.WeighsApart() {
		class, weights := p.table.parts[0].column, p.table.release.weightTable()
		statements = append(statements, weightsTable(weights, class))
		statements = append(statements, p.spread(weights, class)...)
		statements = append(statements, p.table.createCoarser()...)
	}
	return p.fenced(ctx, statements, "preparing the tables")
}

// createLinkedAudiences makes the releases of a linked table for audiences.
func (p *publisher) createLinkedAudiences() (statements []string) {
	if !p.table.layout.isLinked() {
		return nil
	}
	for i := range p.table.layout.audiences {
		a := &p.table.layout.audiences[i]
		release := a.relation("release", p.table.release.generation)
		made := fmt.Sprintf("CREATE TABLE %s AS SELECT %s, %s FROM %s AS l, %s AS r WITH NO DATA",
			release, listed(p.table.mode.marks(), "l."), p.columnsFor(a), p.table.release.releaseTable(), p.table.recordsTable())
		if p.table.layout.isGuarded() {
			made = p.table.createFollowed(a)
		}
		statements = append(statements, made)
		statements = append(statements, p.spread(release, p.table.parts[0].column)...)
		// Whoever counts and verifies finds the records of each release by its name.
		records := fmt.Sprintf("CREATE VIEW %s AS SELECT * FROM %s", a.relation("records", p.table.release.generation), p.table.recordsTable())
		if p.table.layout.isGuarded() {
			records = p.table.placedFor(a)
		}
		statements = append(statements, records)
	}
	return statements
}

// columnsFor are the columns of an audience's rows: those of the table's own rows, l, and others, of the types of records, r, or of
// the forms in which the audience sees them.
func (p *publisher) columnsFor(a *audience) string {
	return sqlList(a.publication.Columns, func(_ int, c catalog.PublishedColumn) string {
		name := catalog.QuoteIdentifier(c.Name)
		switch {
		case slices.Contains(p.table.layout.publication.Columns, c):
			return "l." + name
		case c.Part == catalog.Copy:
			return fmt.Sprintf("r.%s AS %s", catalog.QuoteIdentifier(c.Source), name)
		}
		return fmt.Sprintf("NULL::%s AS %s", c.Type, name)
	})
}

// dropAll drops whatever the publication has made.
func (p *publisher) dropAll() string {
	tables := append([]string{p.table.recordsTable()}, p.table.allReleaseRows()...)
	if p.table.isPacked() {
		tables = append(tables, p.table.release.copiedTable())
	}
	if p.table.layout.publication.WeighsApart() {
		tables = append(tables, p.table.release.weightTable())
		for i := range p.table.layout.audiences {
			tables = append(tables, p.table.layout.audiences[i].coarserTables(p.table.release.generation)[1:]...)
		}
	}
	// The view that unpacks a release, or mirrors records, goes with it.
	return "DROP TABLE IF EXISTS " + strings.Join(append(tables, p.stagingTables()...), ", ") + " CASCADE"
}

func (p *publisher) stagingTables() []string {
	tables := []string{p.stagingTable("member")}
	if p.stagesCopies() {
		tables = append(tables, p.table.release.copiedTable())
	}
	for i := range p.table.parts {
		tables = append(tables, p.stagingTable(p.stagingClasses(i)))
	}
	return tables
}

// fenced executes statements in a transaction that only the process which applies can
// commit: its tables' numbers are given anew by the next one.
func (p *publisher) fenced(ctx context.Context, statements []string, doing string) error {
	tx, err := p.conn.BeginTx(ctx, pgx.TxOptions{})
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after Commit it has nothing to do
	// Somebody who alters the source waits for the transactions that read it; this one must
	// not wait for him in turn.
	if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '2s'"); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	tag, err := tx.Exec(ctx, "SELECT FROM kproxy_store.position WHERE slot = $1 AND epoch = $2 FOR SHARE", p.config.Slot, p.epoch)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if tag.RowsAffected() != 1 {
		return errFenced
	}
	for _, sql := range statements {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// stageClasses sends the classes' generalizations to the server, and what the release
// shows of records beside.
func (p *publisher) stageClasses(ctx context.Context) error {
	for i := range p.table.parts {
		if err := p.copyIn(ctx, p.conn.PgConn(), p.stagingTable(p.stagingClasses(i)), p.table.mode.classes(i)); err != nil {
			return fmt.Errorf("writing the classes: %w", err)
		}
	}
	if len(p.apart()) > 0 {
		if err := p.copyIn(ctx, p.conn.PgConn(), p.stagingTable("member"), p.table.mode.assignments()); err != nil {
			return fmt.Errorf("writing the assignment: %w", err)
		}
	}
	return nil
}

// releaseQuery joins records and classes into what is stored of the release, of those
// classes of the first part that the condition selects. The texts of a class are read as
// values once.
func (p *publisher) releaseQuery(condition string) string {
	var classes []string
	var joins strings.Builder
	if len(p.apart()) > 0 {
		fmt.Fprintf(&joins, " JOIN %s m USING (%s)", p.stagingTable("member"), recordColumn)
	}
	for i, part := range p.table.parts {
		query := fmt.Sprintf("SELECT %s FROM %s", part.castList(), p.stagingTable(p.stagingClasses(i)))
		if i == 0 {
			query += " WHERE " + condition
		}
		classes = append(classes, fmt.Sprintf("c%d AS MATERIALIZED (%s)", i, query))
		fmt.Fprintf(&joins, " JOIN c%d USING (%s)", i, part.column)
	}
	return fmt.Sprintf("WITH %s SELECT %s, %s FROM %s r%s WHERE %s",
		strings.Join(classes, ", "), listed(p.table.mode.marks(), ""), p.table.releaseList(noPseudonym), p.readableRecords(), joins.String(), condition)
}
