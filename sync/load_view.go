package sync

import (
	"context"
	"fmt"
	"runtime"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
)

// storeView is the private store of a table as one moment shows it: position, records and
// release of the same commit. A large table is read by several connections, which have one
// snapshot. The first of them is the one on which the table is halted where it has to be:
// whatever it is asked for is read to its end. The others are closed with the view.
type storeView struct {
	first     *pgconn.PgConn
	further   []*pgx.Conn
	ranges    []sourceRange // of the records
	records   int           // about as many as the server estimates
	outOfLine bool          // some values of records lie elsewhere
	failpoint func(string)
}

// viewAsItIs is the store as a connection sees it from statement to statement.
func viewAsItIs(conn *pgconn.PgConn) *storeView {
	return &storeView{first: conn, ranges: []sourceRange{{}}, outOfLine: true, failpoint: func(string) {}}
}

func (v *storeView) close() {
	for _, conn := range v.further {
		closeConn(conn)
	}
}

// checkUnchanged makes sure that a transaction sees the generation as it was read: otherwise
// another process has taken over since.
func (s *store) checkUnchanged(ctx context.Context, tx pgx.Tx, g generation) error {
	var now generation
	err := tx.QueryRow(ctx, `SELECT coalesce(max(lsn), (SELECT max(lsn) FROM kproxy_store.position), '0/0')::text, coalesce(max(next_record), 0), coalesce(max(next_class), 0) FROM kproxy_store.generation
		WHERE generation = $1 AND EXISTS (SELECT FROM kproxy_store.position WHERE slot = $2 AND epoch = $3)`, g.number, s.slot, s.epoch).
		Scan(&now.lsn, &now.nextRecord, &now.nextClass)
	if err == nil && (now.lsn != g.lsn || now.nextRecord != g.nextRecord || now.nextClass != g.nextClass) {
		return errFenced
	}
	return err
}

// view has the store of a table seen as a transaction does. Tables with a class for each part
// are read by one connection, as the server sorts their records by class.
func (s *Syncer) view(ctx context.Context, tx pgx.Tx, t *table, generation int64) (*storeView, error) {
	v := viewAsItIs(tx.Conn().PgConn())
	v.failpoint = s.config.Failpoint
	if len(t.parts) > 1 {
		return v, nil
	}
	var blocks int64
	var plain, cut bool
	err := tx.QueryRow(ctx, `SELECT pg_catalog.pg_relation_size(c.oid) / pg_catalog.current_setting('block_size')::bigint,
		greatest(c.reltuples, 0)::bigint, c.relkind = 'r', pg_catalog.current_setting('server_version_num')::int >= 140000,
		c.relkind <> 'r' OR coalesce(pg_catalog.pg_relation_size(nullif(c.reltoastrelid, 0)), 0) > 0
		FROM pg_catalog.pg_class c WHERE c.oid = $1::text::pg_catalog.regclass`, t.recordsOf(generation)).Scan(&blocks, &v.records, &plain, &cut, &v.outOfLine)
	if err != nil {
		return nil, fmt.Errorf("measuring the store of %s: %w", t.layout.name(), err)
	}
	v.records = min(v.records, int(blocks)*maxPerBlock)
	v.records += v.records / 64 // rather too much room than too little, when all would be moved
	if plain && blocks > s.config.ranges.blocks {
		v.cut(blocks, s.config.ranges.blocks, cut)
		err = v.open(ctx, tx, s, t)
	}
	return v, err
}

// maxPerBlock is more records than a block has room for, and bounds an estimate that was made
// of something else.
const maxPerBlock = 300

// cut divides the records into ranges of so many blocks, if they can be read by them.
func (v *storeView) cut(blocks, size int64, can bool) {
	from := int64(0)
	v.ranges = nil
	for ; can && from+size < blocks; from += size {
		v.ranges = append(v.ranges, sourceRange{from: from, to: from + size})
	}
	v.ranges = append(v.ranges, sourceRange{from: from})
}

// open has further connections see what the transaction does, as many as can be had: without
// them it only takes longer.
func (v *storeView) open(ctx context.Context, tx pgx.Tx, s *Syncer, t *table) error {
	connections := s.config.ranges.connections
	if connections == 0 {
		connections = min(maxReaders, max(2, runtime.GOMAXPROCS(0)))
	}
	connections = min(connections, 1+len(v.ranges)) // one for the classes
	if connections < 2 {
		return nil
	}
	var snapshot string
	if err := tx.QueryRow(ctx, "SELECT pg_catalog.pg_export_snapshot()").Scan(&snapshot); err != nil {
		return fmt.Errorf("exporting the snapshot of %s: %w", t.layout.name(), err)
	}
	for range connections - 1 {
		conn, err := s.openAt(ctx, snapshot)
		if err != nil {
			s.config.Logger.Info("the store is read by fewer connections than planned", "relation", t.layout.name(), "connections", 1+len(v.further), "error", withoutValues(err))
			break
		}
		v.further = append(v.further, conn)
	}
	return nil
}

// openAt opens a connection that sees a snapshot.
func (s *Syncer) openAt(ctx context.Context, snapshot string) (*pgx.Conn, error) {
	conn, err := s.open(ctx, ApplierName(s.config.Slot))
	if err != nil {
		return nil, err
	}
	begin := "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT " + catalog.QuoteLiteral(snapshot)
	if _, err := conn.Exec(ctx, begin, pgx.QueryExecModeSimpleProtocol); err != nil {
		closeConn(conn)
		return nil, err
	}
	return conn, nil
}
