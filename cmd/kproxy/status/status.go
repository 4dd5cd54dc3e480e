package status

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/history"
	"github.com/kproxy/kproxy/cmd/kproxy/processes"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/state"
	ksync "github.com/kproxy/kproxy/sync"
)

// Status is the state of the releases and of replication at one moment, as the private store and
// the server show it, whether or not kproxy runs. It is for the operator: the number of records
// that wait would tell readers about arrivals.
type Status struct {
	// At is the server's time.
	At          time.Time         `json:"at"`
	Replication state.Replication `json:"replication"`
	Tables      []Table           `json:"tables"` // in the configuration's order
	Views       []View            `json:"views"`  // likewise
	// Clients are those of each process that has answered, and Silent counts the processes that
	// have not.
	Clients []processes.Clients `json:"clients"`
	Silent  int                 `json:"silent"`
	// Certificates are those that the configuration names, the first to end first.
	Certificates []state.Certificate `json:"certificates"`
	// Refused says that every running process refuses readers, since when and why; nil where one serves.
	Refused *state.Refusal `json:"readers_refused,omitempty"`
	// Needs is what waits for the operator. It is empty if all is well.
	Needs []state.Need `json:"needs"`

	// Proofs are the last ones.
	Proofs map[catalog.Name]history.Proof `json:"-"`

	// holder holds the lock for applying, nil where nobody does.
	holder  *ksync.Holder
	found   findings
	inForce ksync.AcceptedPolicy
}

// Table is one protected table's release.
type Table struct {
	state.Table
	// Shown is the generation that readers see.
	Shown    int64  `json:"-"`
	withheld string // why nothing of the table can be published
}

// View is a listed relation.
type View struct {
	state.View
	standIn bool // it is a readable relation
	// ofTable says that the view is withdrawn only because of a table.
	ofTable bool
}

// InForce is the policy in force.
func (s Status) InForce() ksync.AcceptedPolicy { return s.inForce }

// Refusal says why readers get nothing of a protected table, and what to do; false where they can read it.
func (s Status) Refusal(name catalog.Name) (state.Need, bool) {
	if len(s.found.grave) > 0 {
		return s.found.grave[0], true
	}
	for _, t := range s.Tables {
		if t.Name != name.String() || t.State == StatePublished {
			continue
		}
		need := state.Need{What: fmt.Sprintf("table %s is %s", name, t.State), Fix: t.Fix}
		if t.Problem != "" {
			need.What += ": " + t.Problem
		}
		if need.Fix == "" {
			need.Fix = "wait until 'kproxy status' says that it is published"
		}
		return need, true
	}
	return state.Need{}, false
}

// Read connects as the owner, reads the private store, checks the database as processes that
// serve do, and counts the rows of every table.
func Read(ctx context.Context, c *config.Config) (Status, error) {
	return ReadFor(ctx, c, nil)
}

// ReadFor is Read for a process that knows its own conditions.
func ReadFor(ctx context.Context, c *config.Config, own map[catalog.Name]Condition) (Status, error) {
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return Status{}, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	s, err := readStored(ctx, conn, c.Slot, c.Policy, c.Upstream.Reader.User)
	if err != nil {
		return Status{}, err
	}
	proofs, err := history.LastProofs(ctx, conn)
	if err != nil {
		return Status{}, err
	}
	s.addProofs(c.Policy, proofs)
	if s.Clients, s.Silent, err = processes.AskCounts(ctx, c); err != nil {
		return Status{}, err
	}
	if err := s.findDeadApplier(ctx, conn, c.Slot); err != nil {
		return Status{}, err
	}
	s.readFindings(ctx, c)
	s.settle(c.Policy, own)
	s.addAnswers()
	s.Needs = append(s.needs(c.Replication), s.readCertificates(c, time.Now())...)
	return s, nil
}

func readStored(ctx context.Context, conn *pgx.Conn, slot string, policy catalog.Policy, reader string) (Status, error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return Status{}, fmt.Errorf("reading the private store: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	s := Status{Tables: []Table{}}
	if err := s.readReplication(ctx, tx, slot); err != nil {
		return Status{}, upstream.Unprepared(err)
	}
	for _, t := range policy.Tables {
		table, err := ReadTable(ctx, tx, t)
		if err != nil {
			return Status{}, fmt.Errorf("table %s: %w", t.Table, err)
		}
		s.Tables = append(s.Tables, table)
	}
	if err := s.readViews(ctx, tx, policy, reader); err != nil {
		return Status{}, err
	}
	standing, err := ksync.StandingOf(ctx, tx, ksync.Policy{})
	if err != nil {
		return Status{}, upstream.Unprepared(err)
	}
	s.inForce = standing.InForce
	return s, nil
}

func (s *Status) readReplication(ctx context.Context, tx pgx.Tx, slot string) error {
	r := &s.Replication
	const position = `SELECT now(), p.slot, p.lsn::text, p.updated_at,
		pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, p.lsn)::bigint,
		s.slot_name IS NOT NULL, coalesce(s.active, false), coalesce(s.confirmed_flush_lsn::text, ''),
		coalesce(pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, s.restart_lsn)::bigint, 0),
		coalesce(s.wal_status, ''), s.safe_wal_size
		FROM kproxy_store.position p LEFT JOIN pg_catalog.pg_replication_slots s ON s.slot_name = p.slot
		ORDER BY p.slot <> $1, p.slot LIMIT 1`
	err := tx.QueryRow(ctx, position, slot).Scan(&s.At, &r.Slot, &r.Position, &r.Since, &r.Behind, &r.Exists, &r.Active, &r.Confirmed, &r.Retained, &r.WALStatus, &r.Safe)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return &upstream.MissingError{What: "nothing has been published yet", Fix: "start 'kproxy serve'"}
	case err != nil:
		return fmt.Errorf("reading the position: %w", err)
	case r.Slot != slot:
		return fmt.Errorf("the private store is fed by replication slot %q, but the configuration names %q", r.Slot, slot)
	}
	if r.Applier, err = processes.ReadApplier(ctx, tx, slot); err != nil {
		return err
	}
	if s.holder, err = ksync.FindHolder(ctx, tx, slot); err != nil {
		return err
	}
	pids, err := processes.Serving(ctx, tx, slot)
	r.Processes = len(pids)
	return err
}

// ReadTable reads the state of one release, and counts its records, rows and classes.
func ReadTable(ctx context.Context, tx pgx.Tx, policy catalog.TablePolicy) (Table, error) {
	name := policy.Table
	t := Table{Table: state.Table{Name: name.String(), State: ksync.Unpublished.String(), Updates: policy.Updates.Mode.String(), Figures: &state.Figures{}}}
	const generation = `SELECT generation, coalesce(updates, $3), waiting, oldest_waiting, stale, oldest_stale, ghosts, untold, expired,
		CASE WHEN halted IS NOT NULL THEN 'halted' WHEN shows IS NULL OR previous IS NOT NULL THEN 'published' ELSE 'unpublished' END,
		coalesce(halted, ''), coalesce(halted_fix, ''), coalesce(asked, ''), coalesce(lsn::text, ''), coalesce(previous, generation), coalesce(withheld_why, ''), returned
		FROM kproxy_store.generation WHERE table_schema = $1 AND table_name = $2`
	err := tx.QueryRow(ctx, generation, name.Schema, name.Relation, catalog.Immediate.String()).
		Scan(&t.Generation, &t.Updates, &t.Waiting, &t.OldestWaiting, &t.Stale, &t.OldestStale, &t.Ghosts, &t.Untold, &t.Expired,
			&t.State, &t.Problem, &t.Fix, &t.Asked, &t.Position, &t.Shown, &t.withheld, &t.Returned)
	if errors.Is(err, pgx.ErrNoRows) {
		return t, nil
	}
	if err != nil {
		return t, fmt.Errorf("reading the generation: %w", upstream.Unprepared(err))
	}
	if t.Generation == 0 { // only that it had a lineage
		return t, nil
	}
	stored := func(kind string) string {
		return catalog.Name{Schema: catalog.StoreSchema, Relation: fmt.Sprintf("%s_%d", kind, t.Generation)}.SQL()
	}
	records, release := stored("records"), stored("release")
	withheld := "0" // see below
	if t.Updates == catalog.Guarded.String() {
		withheld = fmt.Sprintf("(SELECT count(*) FROM %s WHERE %s IS NULL)", records, catalog.RowColumn)
	}
	counts := fmt.Sprintf("SELECT (SELECT count(*) FROM %s), %s, (SELECT count(*) FROM %s)", records, withheld, release)
	if err := tx.QueryRow(ctx, counts).Scan(&t.Records, &t.Withheld, &t.Rows); err != nil {
		// A snapshot does not keep tables from being dropped.
		if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && refused.Code == upstream.UndefinedTable {
			return t, errors.New("it is being published afresh; ask again in a moment")
		}
		return t, fmt.Errorf("counting records: %w", err)
	}
	if t.Updates == catalog.Immediate.String() || t.Rows == 0 {
		t.Withheld = max(0, t.Records-t.Rows)
	}
	t.Classes, err = countClasses(ctx, tx, release)
	return t, err
}

// countClasses counts the classes of all parts. Each part has a column in the release.
func countClasses(ctx context.Context, tx pgx.Tx, release string) (int64, error) {
	const parts = `SELECT attname::text FROM pg_catalog.pg_attribute
		WHERE attrelid = $1::text::pg_catalog.regclass AND attname ~ '^kproxy_class(_[0-9]+)?$' AND NOT attisdropped`
	rows, _ := tx.Query(ctx, parts, release) // the rows carry its error
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, fmt.Errorf("reading the release's columns: %w", err)
	}
	counts := []string{"0"}
	for _, column := range columns {
		counts = append(counts, fmt.Sprintf("(SELECT count(*) FROM (SELECT FROM %s GROUP BY %s) c)", release, catalog.QuoteIdentifier(column)))
	}
	var classes int64
	if err := tx.QueryRow(ctx, "SELECT "+strings.Join(counts, " + ")).Scan(&classes); err != nil {
		return 0, fmt.Errorf("counting classes: %w", err)
	}
	return classes, nil
}
