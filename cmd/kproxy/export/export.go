// Package export reads releases that are served, as readers see them, and writes them to files.
//
// A Snapshot is one moment of the database: all tables that are read from it fit together. It reads the published
// views as the owner, who has made them for readers, so that it shows what readers see, and nothing else.
package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/parquetfile"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/status"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/tablefile"
	ksync "github.com/kproxy/kproxy/sync"
)

// Snapshot is one moment of the database, as an audience sees it.
type Snapshot struct {
	conn     *pgx.Conn
	tx       pgx.Tx
	config   *config.Config
	audience string // empty for the policy's own readers
	position string
	policy   string // the fingerprint of that in force
	status   status.Status
}

// Table is a published table in a snapshot.
type Table struct {
	// Policy is as the snapshot's audience sees it: without what the table's own readers alone see.
	Policy     catalog.TablePolicy
	Generation int64
	Columns    []tablefile.Column
}

// Open begins a snapshot of some tables as an audience sees them; the empty name is that of the policy's own
// readers. It refuses tables that these readers get nothing of, and a configuration whose policy is not in force.
func Open(ctx context.Context, c *config.Config, audience string, tables []catalog.Name) (s *Snapshot, err error) {
	s = &Snapshot{config: c, audience: audience}
	if s.status, err = status.Read(ctx, c, false); err != nil {
		return nil, err
	}
	if err := s.checkPolicy(); err != nil {
		return nil, err
	}
	for _, name := range tables {
		if need, refused := s.status.RefusalFor(audience, name); refused {
			return nil, &upstream.RefusedError{What: need.What, Fix: need.Fix}
		}
	}
	if s.conn, err = upstream.ConnectOwner(ctx, c); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.Close(ctx)
		}
	}()
	if err := s.begin(ctx, tables); err != nil {
		return nil, fmt.Errorf("beginning the snapshot: %w", upstream.Unprepared(err))
	}
	return s, nil
}

func (s *Snapshot) checkPolicy() error {
	own, err := ksync.NewPolicy(s.config.Policy, "")
	if err != nil {
		return err
	}
	inForce := s.status.InForce()
	if err := upstream.CheckInForce(own, inForce.Number, inForce.Fingerprint); err != nil {
		return err
	}
	s.policy = own.Fingerprint
	return nil
}

// pinned are the settings that the text form of values and the meaning of names depend on.
const pinned = "SET LOCAL search_path = pg_catalog; SET LOCAL extra_float_digits = 1; SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL IntervalStyle = 'postgres'; " +
	"SET LOCAL TimeZone = 'UTC'; SET LOCAL bytea_output = 'hex'; SET LOCAL jit = off; SET LOCAL statement_timeout = 0"

// begin locks the published views before the snapshot is taken: a release that is made meanwhile takes their names, and
// the snapshot would show nothing of it.
func (s *Snapshot) begin(ctx context.Context, tables []catalog.Name) (err error) {
	if s.tx, err = s.conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}); err != nil {
		return err
	}
	if _, err := s.conn.PgConn().Exec(ctx, pinned).ReadAll(); err != nil {
		return err
	}
	for _, name := range tables {
		if _, err := s.tx.Exec(ctx, "LOCK TABLE "+catalog.PublishedFor(s.audience, name).SQL()+" IN ACCESS SHARE MODE"); err != nil {
			return fmt.Errorf("reading the release of %s: %w", name, err)
		}
	}
	return s.tx.QueryRow(ctx, "SELECT lsn::text FROM kproxy_store.position WHERE slot = $1", s.config.Slot).Scan(&s.position)
}

// Close ends the snapshot.
func (s *Snapshot) Close(ctx context.Context) {
	if s.conn != nil {
		_ = s.conn.Close(context.WithoutCancel(ctx))
	}
}

// Table describes a table. It refuses one whose release was halted or withheld since Open looked.
func (s *Snapshot) Table(ctx context.Context, name catalog.Name) (*Table, error) {
	i := slices.IndexFunc(s.config.Policy.Tables, func(t catalog.TablePolicy) bool { return t.Table == name })
	policy := s.config.Policy.Tables[i]
	t := &Table{Policy: s.config.Policy.Released(policy)}
	if s.audience != "" {
		t.Policy, _ = policy.For(s.audience)
	}
	var halted, withheld string
	err := s.tx.QueryRow(ctx, "SELECT coalesce(previous, generation), coalesce(halted, ''), coalesce(withheld_why, '') FROM kproxy_store.generation WHERE table_schema = $1 AND table_name = $2 AND generation > 0",
		name.Schema, name.Relation).Scan(&t.Generation, &halted, &withheld)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, &upstream.RefusedError{What: fmt.Sprintf("table %s is not published yet", name), Fix: "wait until 'kproxy status' says that it is"}
	case err != nil:
		return nil, fmt.Errorf("reading the generation of %s: %w", name, err)
	case halted != "" || withheld != "":
		return nil, &upstream.RefusedError{What: fmt.Sprintf("table %s has just been halted or withheld: %s", name, halted+withheld), Fix: "see 'kproxy status'"}
	}
	if err := s.checkAudience(ctx, policy); err != nil {
		return nil, err
	}
	rows, _ := s.tx.Query(ctx, "SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
		t.published()) // the rows carry its error
	t.Columns, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c tablefile.Column, err error) {
		err = row.Scan(&c.Name, &c.Type)
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the columns of %s: %w", name, err)
	}
	return t, nil
}

// checkAudience refuses a table that was withheld from the audience since Open looked.
func (s *Snapshot) checkAudience(ctx context.Context, policy catalog.TablePolicy) error {
	if s.audience == "" {
		return nil
	}
	now, err := status.ReadKept(ctx, s.tx, policy, nil)
	if err != nil {
		return err
	}
	for _, a := range now.Audiences {
		if a.Name == s.audience && !a.Sees() {
			return &upstream.RefusedError{What: fmt.Sprintf("table %s has just been withheld from audience %s", policy.Table, s.audience), Fix: "see 'kproxy status'"}
		}
	}
	return nil
}

// published is the relation that readers see.
func (t *Table) published() string { return t.Policy.Published().SQL() }

// Write writes the rows of a table, ordered by what they show, so that the same release gives the same file, and
// the order in which the server has them tells nothing. It calls told from time to time with how many are written.
func (s *Snapshot) Write(ctx context.Context, t *Table, format tablefile.Format, to io.Writer, told func(rows int64)) (rows int64, err error) {
	if format == tablefile.Parquet {
		if err := s.countDigits(ctx, t); err != nil {
			return 0, fmt.Errorf("looking at the numbers of %s: %w", t.Policy.Table, upstream.WithoutValues(err))
		}
	}
	w, err := tablefile.NewWriter(format, to, t.Columns)
	if err != nil {
		return 0, err
	}
	var names, order []string
	for _, c := range t.Columns {
		names = append(names, catalog.QuoteIdentifier(c.Name))
		order = append(order, catalog.QuoteIdentifier(c.Name)+`::text COLLATE "C"`)
	}
	query := fmt.Sprintf("SELECT %s FROM %s ORDER BY %s", strings.Join(names, ", "), t.published(), strings.Join(order, ", "))
	result, err := s.tx.Query(ctx, query, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return 0, fmt.Errorf("reading %s: %w", t.Policy.Table, upstream.WithoutValues(err))
	}
	defer result.Close()
	row := make([]parquetfile.Value, len(t.Columns))
	for result.Next() {
		for i, value := range result.RawValues() {
			row[i] = parquetfile.Value{Text: string(value), Null: value == nil}
		}
		if err := w.Write(row); err != nil {
			return rows, fmt.Errorf("table %s: %w", t.Policy.Table, err)
		}
		if rows++; rows%toldRows == 0 {
			told(rows)
		}
	}
	if err := result.Err(); err != nil {
		return rows, fmt.Errorf("reading %s: %w", t.Policy.Table, upstream.WithoutValues(err))
	}
	return rows, w.Close()
}

// toldRows is after how many rows progress is told.
const toldRows = 1 << 14

// countDigits counts the digits of numbers without a precision, which Parquet needs.
func (s *Snapshot) countDigits(ctx context.Context, t *Table) error {
	for i := range t.Columns {
		c := &t.Columns[i]
		if !c.NeedsDigits() {
			continue
		}
		name := catalog.QuoteIdentifier(c.Name)
		numbers := "SELECT " + name + " AS n FROM " + t.published()
		if c.Type == "numrange" {
			bound := func(function string) string {
				return fmt.Sprintf("SELECT %s(%s) AS n FROM %s", function, name, t.published())
			}
			numbers = bound("lower") + " UNION ALL " + bound("upper")
		}
		var whole, fraction int
		var other bool
		const digits = `SELECT coalesce(max(char_length(trunc(abs(n))::text)) FILTER (WHERE plain), 0), coalesce(max(scale(n)) FILTER (WHERE plain), 0), coalesce(bool_or(NOT plain), false)
			FROM (SELECT n, n::text NOT IN ('NaN', 'Infinity', '-Infinity') AS plain FROM (%s) u WHERE n IS NOT NULL) d`
		if err := s.tx.QueryRow(ctx, fmt.Sprintf(digits, numbers)).Scan(&whole, &fraction, &other); err != nil {
			return err
		}
		c.Digits = tablefile.NewDigits(whole, fraction, other)
	}
	return nil
}

// Manifest is what is to be said of a written table, but for the file itself.
func (s *Snapshot) Manifest(t *Table) tablefile.Manifest {
	m := tablefile.Manifest{
		Table: t.Policy.Table.String(), Audience: s.audience, Columns: t.Columns, Policy: s.policy, Position: s.position, Generation: t.Generation,
		Updates: t.Policy.Updates.Mode.String(), Constraints: []string{}, At: s.status.At.UTC().Truncate(time.Second),
	}
	for _, c := range t.Policy.Told() {
		m.Constraints = append(m.Constraints, c.String())
	}
	for _, kind := range s.config.Policy.People {
		if names := kind.Names(); s.audience == "" && slices.Contains(names, t.Policy.Table) { // an audience has a k of its own
			m.Promise, m.Together, m.Constraints = kind.Explain(), catalog.Texts(names), nil
			for _, c := range kind.Constraints {
				m.Constraints = append(m.Constraints, c.String())
			}
		}
	}
	if proof, proved := s.status.Proofs[t.Policy.Table]; proved && proof.Passed && proof.Report.Generation == t.Generation {
		m.Proved = &proof.At
	}
	return m
}
