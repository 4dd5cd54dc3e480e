package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/verify"
)

// comparer compares the store with the oracle, and the release with the store.
type comparer struct {
	*bench
	logged                func() string // what the children have logged
	admin, source, reader *pgx.Conn
	states                int // compared
	last                  standing
}

func (c *comparer) close(ctx context.Context) {
	for _, conn := range []*pgx.Conn{c.admin, c.source, c.reader} {
		if conn != nil {
			_ = conn.Close(ctx)
		}
	}
}

// run compares at random moments until stop is closed.
func (c *comparer) run(ctx context.Context, rng *rand.Rand, stop <-chan struct{}) error {
	for {
		pause(ctx, time.Duration(20+rng.IntN(150))*time.Millisecond)
		select {
		case <-stop:
			return nil
		default:
		}
		if err := c.compare(ctx, false); err != nil && !passing(err) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// passing are the reasons to try again: the server was away, nothing is published, or a
// generation was dropped between two statements.
func passing(err error) bool {
	server := (*pgconn.PgError)(nil)
	undefined := errors.As(err, &server) && (server.Code == "42P01" || server.Code == "42501" || server.Code == "3F000")
	return errors.Is(err, errNothingYet) || undefined || survivable(err)
}

// moment is one table as one snapshot shows it.
type moment struct {
	placed
	publication catalog.Publication
	source      [][]datum // of the source; only where it was asked for
	records     [][]datum // of the store: the classes, then what stored names
	seen        [][]datum // what readers see of a mirrored table
	image       *image    // nil while readers see an earlier generation
}

// compare looks at one snapshot. The final comparison looks at the sources as well, and
// wants every table to be shown.
func (c *comparer) compare(ctx context.Context, final bool) error {
	if err := c.connect(ctx); err != nil {
		return err
	}
	tampered := c.plan.tampered.Load()
	acknowledged, err := c.acknowledged(ctx)
	if err != nil {
		return err
	}
	if tampered {
		acknowledged = 0
	}
	now, moments, err := c.look(ctx, final)
	if err != nil {
		return err
	}
	if c.oracle != nil {
		if err := c.moves(now, acknowledged); err != nil {
			return err
		}
		if err := c.oracle.catchUp(ctx); err != nil {
			return err
		}
	}
	for _, m := range moments {
		if m.lost && final {
			return errNothingYet // what the watcher saw last has it compared with its source once more
		}
		if m.lost {
			continue
		}
		if err := c.check(m, final); err != nil {
			return fmt.Errorf("the position being %s, table %s %+v: %w", now.position, m.publication.Policy.Table, m.placed, err)
		}
	}
	if final && len(moments) < len(c.tables) {
		return &mistake{fmt.Sprintf("%d of %d tables are published at the end", len(moments), len(c.tables))}
	}
	c.states++
	return nil
}

func (c *comparer) connect(ctx context.Context) (err error) {
	if c.admin == nil || c.admin.IsClosed() {
		if c.admin, err = connect(ctx, c.store.DSN(c.database)); err != nil {
			c.admin = nil
			return err
		}
	}
	if c.source == nil || c.source.IsClosed() {
		if c.source, err = connect(ctx, c.server.DSN(c.database)); err != nil {
			c.source = nil
			return err
		}
	}
	if c.reader == nil || c.reader.IsClosed() {
		if c.reader, err = connect(ctx, c.readerDSN()); err != nil {
			c.reader = nil
			return err
		}
	}
	return nil
}

// acknowledged is what the server has been told is stored; 0 without a slot.
func (c *comparer) acknowledged(ctx context.Context) (lsn pglogrepl.LSN, err error) {
	err = c.source.QueryRow(ctx, "SELECT coalesce(max(confirmed_flush_lsn), '0/0')::text FROM pg_replication_slots WHERE slot_name = $1", c.slot()).Scan(&lsn)
	return lsn, err
}

// undecodable tells whether the server failed to decode what its slot held, as PostgreSQL
// does now and then of relations that were rewritten: kproxy has made the slot anew then,
// and whatever it was told of the new one may be lost before it is recorded.
func (c *comparer) undecodable() bool {
	return strings.Contains(c.logged(), "the server cannot decode what")
}

// moves checks that no table goes back, and that acknowledging never ran ahead: what had
// been acknowledged before the snapshot must be in it.
func (c *comparer) moves(now standing, acknowledged pglogrepl.LSN) error {
	if acknowledged > now.position && !c.undecodable() {
		return &mistake{fmt.Sprintf("%s was acknowledged, but only %s is stored", acknowledged, now.position)}
	}
	if now.epoch < c.last.epoch {
		return &mistake{fmt.Sprintf("the epoch went from %d back to %d", c.last.epoch, now.epoch)}
	}
	for name, was := range c.last.tables {
		if is, ok := now.tables[name]; ok && is.generation == was.generation && is.changed < was.changed && !is.lost {
			return &mistake{fmt.Sprintf("table %s went from %s back to %s", name, was.changed, is.changed)}
		}
	}
	c.last = now
	return nil
}

// look reads everything in one snapshot, what readers see as the reader role.
func (c *comparer) look(ctx context.Context, final bool) (now standing, moments []moment, err error) {
	tx, err := c.admin.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		return now, nil, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it has only read
	if now, err = readStanding(ctx, tx, c.slot()); err != nil {
		return now, nil, err
	}
	var snapshot string
	if err := tx.QueryRow(ctx, "SELECT pg_export_snapshot()").Scan(&snapshot); err != nil {
		return now, nil, err
	}
	seen, err := c.reader.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return now, nil, err
	}
	defer seen.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it has only read
	if _, err := seen.Exec(ctx, "SET TRANSACTION SNAPSHOT "+catalog.QuoteLiteral(snapshot)); err != nil {
		return now, nil, err
	}
	for _, p := range c.tables {
		at, ok := now.tables[p.Policy.Table.Relation]
		if !ok {
			continue
		}
		if at.halted != "" && c.plan.moved.Load() { // readers may have seen what another server never had
			if final {
				return now, nil, errNothingYet
			}
			continue
		}
		if at.halted != "" {
			return now, nil, &mistake{fmt.Sprintf("table %s is halted: %s", p.Policy.Table, at.halted)}
		}
		m := moment{placed: at, publication: p}
		if err := c.lookAt(ctx, &m, final); err != nil {
			return now, nil, err
		}
		moments = append(moments, m)
	}
	return now, moments, nil
}

func (c *comparer) lookAt(ctx context.Context, m *moment, final bool) (err error) {
	columns := stored(m.publication)
	wanted := append(classColumns(m.publication), columns...)
	sql := fmt.Sprintf("SELECT %s FROM kproxy_store.records_%d", quoted(wanted, ""), m.generation)
	if m.records, err = textRows(ctx, c.admin, sql); err != nil {
		return err
	}
	if final {
		source := c.admin // which has the snapshot
		if c.isApart() {
			source = c.source // to which nobody writes any more
		}
		if m.source, err = textRows(ctx, source, fmt.Sprintf("SELECT %s FROM %s", quoted(columns, ""), m.publication.Policy.Table.SQL())); err != nil {
			return err
		}
	}
	if m.shows != 0 {
		return nil
	}
	if m.publication.Policy.IsMirrored() {
		m.seen, err = textRows(ctx, c.reader, fmt.Sprintf("SELECT %s FROM %s", quoted(published(m.publication), ""), catalog.Published(m.publication.Policy.Table).SQL()))
	}
	if plain(m.publication) {
		return err
	}
	m.image, err = readImage(ctx, c.admin, c.reader, m.publication, m.generation)
	return err
}

// check compares one table with the oracle.
func (c *comparer) check(m moment, final bool) error {
	classes := len(classColumns(m.publication))
	have := make(bag)
	for _, r := range m.records {
		have[rowKey(r[classes:])]++
	}
	if c.oracle != nil {
		if err := c.checkHistory(m, have); err != nil {
			return err
		}
	}
	if final {
		source := make(bag)
		for _, r := range m.source {
			source[rowKey(r)]++
		}
		if missing, surplus := have.compare(source); missing+surplus > 0 {
			return &mistake{fmt.Sprintf("at the end the store lacks %d rows of the source and has %d others", missing, surplus)}
		}
	}
	if m.shows != 0 && final {
		return &mistake{"readers do not see the last generation at the end"}
	}
	if m.publication.Policy.IsMirrored() && m.shows == 0 {
		return m.checkMirrored()
	}
	if m.image == nil {
		return nil
	}
	return m.image.check(m)
}

// checkMirrored wants readers to see the listed columns of the records.
func (m moment) checkMirrored() error {
	columns, want, have := stored(m.publication), make(bag), make(bag)
	for _, r := range m.records {
		var row []datum
		for _, name := range published(m.publication) {
			row = append(row, r[place(columns, name)])
		}
		want[rowKey(row)]++
	}
	for _, r := range m.seen {
		have[rowKey(r)]++
	}
	if missing, surplus := have.compare(want); missing+surplus > 0 {
		return &mistake{fmt.Sprintf("readers lack %d rows of a mirrored table and see %d others", missing, surplus)}
	}
	return nil
}

// checkHistory compares the records with what the oracle has of the position.
func (c *comparer) checkHistory(m moment, have bag) error {
	columns := stored(m.publication)
	truth := c.oracle.replicas[m.publication.Policy.Table.Relation]
	if err := truth.at(m.lsn); err != nil {
		return err
	}
	missing, surplus := 0, 0
	for i, gone := range truth.memberships() {
		want, err := truth.project(columns, gone)
		if err != nil {
			return err
		}
		now, others := have.compare(want)
		if i == 0 || now+others == 0 {
			missing, surplus = now, others
		}
	}
	if missing+surplus > 0 {
		return &mistake{fmt.Sprintf("the store lacks %d rows and has %d others than it should, of %d", missing, surplus, len(m.records))}
	}
	return nil
}

// verify has the verifier prove the release, whose tables must be shown.
func (c *comparer) verify(ctx context.Context) error {
	if err := c.connect(ctx); err != nil {
		return err
	}
	report, err := verify.Run(ctx, c.admin, c.tables, verify.Options{})
	if err != nil {
		return err
	}
	for _, t := range report {
		for _, check := range t.Checks {
			if !check.Passed {
				return &mistake{fmt.Sprintf("the verifier, %s: %s: %d violations, such as %v", t.Table, check.Name, check.Violations, check.Examples)}
			}
		}
	}
	return nil
}

// classColumns are the columns of the classes of each part. Tables that have no classes of their own have none.
func classColumns(p catalog.Publication) []string {
	if plain(p) {
		return nil
	}
	var names []string
	for i := range p.Components() {
		names = append(names, catalog.ClassColumn(i))
	}
	return names
}

// published are the columns that readers see.
func published(p catalog.Publication) []string {
	var names []string
	for _, c := range p.Columns {
		names = append(names, c.Name)
	}
	return names
}

// componentOf is the part that an attribute belongs to.
func componentOf(p catalog.Publication, attribute int) int {
	return slices.IndexFunc(p.Components(), func(c []int) bool { return slices.Contains(c, attribute) })
}
