package sync

import (
	"context"
	"fmt"
	"strings"
	gosync "sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// write fills records from the source, range by range, and the release from the records,
// both on all connections at once; indexes come last, when all rows are there.
func (p *publisher) write(ctx context.Context) error {
	if err := p.createTables(ctx); err != nil {
		return err
	}
	filled, err := p.identify(ctx)
	if err != nil {
		return err
	}
	if err := p.fillAndStage(ctx, filled); err != nil {
		return err
	}
	p.durations.records = p.durations.lap()
	p.config.Failpoint(FailRecordsFilled)
	if !p.table.isPacked() && !p.table.layout.isMirrored() {
		if err := p.stageCopies(ctx, filled); err != nil {
			return err
		}
		if err := p.fillRelease(ctx, filled); err != nil {
			return err
		}
	}
	p.durations.release = p.durations.lap()
	if err := p.index(ctx); err != nil {
		return err
	}
	p.durations.indexes = p.durations.lap()
	if err := p.fillAudiences(ctx, filled); err != nil {
		return err
	}
	if err := p.finish(ctx, filled); err != nil {
		return err
	}
	p.table.mode.written()
	p.config.Logger.Info("a table was published", "relation", p.table.layout.name(), "records", p.total, "connections", len(p.readers), "reading", p.durations.reading,
		"anonymizing", p.durations.anonymizing, "storing", p.durations.records, "releasing", p.durations.release, "indexes", p.durations.indexes)
	return nil
}

// finish does what needs the indexes, and drops what is not needed any more.
func (p *publisher) finish(ctx context.Context, made targets) error {
	if p.table.isPacked() {
		if err := p.packRest(ctx, made); err != nil {
			return err
		}
		p.config.Failpoint(FailBeforePublication)
		return p.storeSummary(ctx)
	}
	p.config.Failpoint(FailBeforePublication)
	return p.fenced(ctx, []string{"DROP TABLE IF EXISTS " + strings.Join(p.stagingTables(), ", ")}, "dropping the stages")
}

// fillingSettings keep every statement on a path whose cost grows with the rows alone: a
// hash table for each join, whatever the server believes of tables that were never
// analyzed, and rows read in the order in which they lie. Several connections are
// enough; each needs none of the server's parallel workers, and compiling the same
// statement for each range takes longer than it saves.
const fillingSettings = `SET LOCAL jit = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_nestloop = off; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off;
	SET LOCAL enable_bitmapscan = off; SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL work_mem = '64MB'`

// targets are the tables that are filled, by their OIDs: releases as allReleaseRows has them.
type targets struct {
	records  uint32
	releases []uint32
}

func (p *publisher) identify(ctx context.Context) (f targets, err error) {
	releases := p.table.allReleaseRows()
	f.releases = make([]uint32, len(releases))
	err = p.conn.QueryRow(ctx, "SELECT $1::pg_catalog.regclass::oid, $2::pg_catalog.regclass::oid", p.table.recordsTable(), releases[0]).Scan(&f.records, &f.releases[0])
	for i := 1; i < len(releases) && err == nil; i++ {
		err = p.conn.QueryRow(ctx, "SELECT $1::pg_catalog.regclass::oid", releases[i]).Scan(&f.releases[i])
	}
	if err != nil {
		return f, fmt.Errorf("preparing the tables: %w", err)
	}
	return f, nil
}

// claim makes sure, until the transaction ends, that the table is the one which was
// made: after another process has taken over, it can be that one's.
func claim(ctx context.Context, tx pgx.Tx, table string, made uint32) error {
	if _, err := tx.Exec(ctx, "LOCK TABLE "+table+" IN ROW EXCLUSIVE MODE"); err != nil {
		return fmt.Errorf("claiming a table: %w", err)
	}
	var found uint32
	if err := tx.QueryRow(ctx, "SELECT $1::pg_catalog.regclass::oid", table).Scan(&found); err != nil {
		return fmt.Errorf("claiming a table: %w", err)
	}
	if found != made {
		return errFenced
	}
	return nil
}

// together runs a function with each transaction concurrently, and commits them. The first error
// cancels the others, which may break their connections, and is returned.
func (p *publisher) together(ctx context.Context, on []pgx.Tx, do func(ctx context.Context, i int, tx pgx.Tx) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running gosync.WaitGroup
	for i, tx := range on {
		running.Go(func() {
			err := guard(p.config.Logger, func() error {
				if err := do(ctx, i, tx); err != nil {
					return err
				}
				return tx.Commit(ctx)
			})
			if err != nil {
				cancel(err) // the others are in vain
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

// anew is together with new transactions, on the first connections that write.
func (p *publisher) anew(ctx context.Context, connections int, do func(ctx context.Context, i int, tx pgx.Tx) error) error {
	var on []pgx.Tx
	for _, writer := range p.writers[:connections] {
		tx, err := writer.Begin(ctx)
		if err != nil {
			return err
		}
		defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after Commit it has nothing to do
		on = append(on, tx)
	}
	return p.together(ctx, on, do)
}

// fillAndStage fills the records while the classes are sent, those of a packed release
// with their members: both only read what is known of them.
func (p *publisher) fillAndStage(ctx context.Context, made targets) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	staged := make(chan struct{})
	go func() {
		defer close(staged)
		err := guard(p.config.Logger, func() error {
			if p.table.isPacked() {
				return p.fillPacked(ctx, made)
			}
			return p.stageClasses(ctx)
		})
		if err != nil {
			cancel(err) // the records are in vain
		}
	}()
	if err := p.fillRecords(ctx, made); err != nil {
		cancel(err)
	}
	<-staged
	return context.Cause(ctx)
}

// fillRecords inserts the source's rows with their records' numbers and places. The
// transactions that see the snapshot end with it.
func (p *publisher) fillRecords(ctx context.Context, made targets) error {
	var done atomic.Int64
	fill := func(ctx context.Context, i int, tx pgx.Tx) error {
		if err := claim(ctx, tx, p.table.recordsTable(), made.records); err != nil {
			return err
		}
		for at := i; at < len(p.extent.ranges); at += len(p.readers) {
			var err error
			if p.config.isApart() {
				err = p.sendRange(ctx, p.readers[i], tx, p.extent.ranges[at])
			} else {
				err = p.fillRange(ctx, tx, p.extent.ranges[at])
			}
			if err != nil {
				return err
			}
			p.reportWritten(int(done.Add(int64(p.extent.ranges[at].rows))), 0)
		}
		return nil
	}
	var err error
	if p.config.isApart() {
		err = p.anew(ctx, len(p.writers), fill)
		for _, reader := range p.readers { // the source need not keep what they see any more
			_ = reader.Rollback(context.WithoutCancel(ctx))
		}
	} else {
		err = p.together(ctx, p.readers, fill)
	}
	if err != nil {
		return fmt.Errorf("storing the records: %w", err)
	}
	return nil
}

// reportWritten tells how much is written: each record once into each of the two tables, a packed
// release while the records are stored.
func (p *publisher) reportWritten(records, released int) {
	p.progressing.Lock()
	defer p.progressing.Unlock()
	if p.table.isPacked() || p.table.layout.isMirrored() {
		released = records
	}
	p.progress("publishing", (records+released)/2)
}

// fillRange inserts one range. Its rows come in the order in which they were read.
func (p *publisher) fillRange(ctx context.Context, tx pgx.Tx, from sourceRange) error {
	places := p.table.keptPlaces()
	numbered := fmt.Sprintf("SELECT row_number() OVER (%s) AS %s, %s FROM %s WHERE %s", rowOrder, recordColumn, p.table.layout.columns.list(""), p.table.layout.source().sql(), from.condition())
	sql := fmt.Sprintf("INSERT INTO %s (%[2]s, %[3]s) SELECT $1::bigint + %[2]s - 1, %[3]s FROM (%[4]s) s", p.table.recordsTable(), recordColumn, p.table.layout.columns.list(""), numbered)
	arguments := []any{pgx.QueryExecModeDescribeExec, int64(from.first)}
	if len(places) > 0 {
		sql = fmt.Sprintf(`INSERT INTO %[1]s (%[2]s, %[3]s, %[4]s) SELECT $1::bigint + s.%[2]s - 1, %[3]s, %[4]s
			FROM (%[5]s) s LEFT JOIN ROWS FROM (%[6]s) WITH ORDINALITY AS u(%[3]s, kproxy_ordinal) ON u.kproxy_ordinal = s.%[2]s`,
			p.table.recordsTable(), recordColumn, listed(places, ""), p.table.layout.columns.list(""), numbered, unnests(2, places))
		ids := make([]incremental.RecordID, from.rows)
		for i := range ids {
			ids[i] = incremental.RecordID(from.first + i)
		}
		arguments = append(arguments, p.table.mode.place(ids)...)
	}
	tag, err := tx.Exec(ctx, sql, arguments...)
	if err != nil {
		return err
	}
	if tag.RowsAffected() != int64(from.rows) {
		return fmt.Errorf("%w: %d rows were read, and %d afterwards", errRewritten, from.rows, tag.RowsAffected())
	}
	return nil
}

// unnests is "unnest($first::type[]), ..." with the columns' types.
func unnests(first int, columns []storeColumn) string {
	return sqlList(columns, func(i int, c storeColumn) string { return fmt.Sprintf("unnest($%d::%s[])", first+i, c.sqlType) })
}

// fillRelease joins the classes with the records, each connection another share of the
// classes: members of a class lie together, in random order. Meanwhile the records get
// their key.
func (p *publisher) fillRelease(ctx context.Context, made targets) error {
	var done atomic.Int64
	classes, shares := int64(p.table.mode.nextClass()), len(p.writers)
	err := p.anew(ctx, shares, func(ctx context.Context, i int, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, fillingSettings); err != nil {
			return err
		}
		if err := claim(ctx, tx, p.table.releaseRows(), made.releases[0]); err != nil {
			return err
		}
		condition := fmt.Sprintf("%[1]s >= %[2]d AND %[1]s < %[3]d", p.table.parts[0].column, classes*int64(i)/int64(shares), classes*int64(i+1)/int64(shares))
		_, err := tx.Exec(ctx, fmt.Sprintf("INSERT INTO %s %s ORDER BY 1, random()", p.table.releaseRows(), p.releaseQuery(condition)))
		if err != nil {
			return err
		}
		p.reportWritten(p.total, int(done.Add(1))*p.total/shares)
		return nil
	})
	if err != nil {
		return fmt.Errorf("making the release: %w", err)
	}
	return nil
}

// index makes the indexes and gathers statistics, of both tables at once where there is
// more than one connection.
func (p *publisher) index(ctx context.Context) error {
	primary := fmt.Sprintf("ALTER TABLE %s ADD PRIMARY KEY (%s)", p.table.recordsTable(), recordColumn)
	work := [][]string{{primary}, nil}
	if p.table.layout.isMirrored() && p.table.showsKey() {
		work[0] = append(work[0], fmt.Sprintf("CREATE INDEX ON %s (%s)", p.table.recordsTable(), p.table.layout.columns.listOf(p.table.layout.key)))
	}
	work[0] = append(work[0], "ANALYZE "+p.table.recordsTable())
	for _, rows := range p.table.allReleaseRows() {
		for _, column := range p.table.mode.indexed() {
			work[1] = append(work[1], fmt.Sprintf("CREATE INDEX ON %s (%s)", rows, column))
		}
		if !p.table.layout.isMirrored() { // the records are what there is
			work[1] = append(work[1], "ANALYZE "+rows)
		}
	}
	shares := min(len(work), len(p.writers))
	err := p.anew(ctx, shares, func(ctx context.Context, i int, tx pgx.Tx) error {
		for at := i; at < len(work); at += shares {
			for _, sql := range work[at] {
				if _, err := tx.Exec(ctx, sql); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("indexing: %w", err)
	}
	return nil
}
