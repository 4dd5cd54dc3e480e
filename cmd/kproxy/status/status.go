package status

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/check"
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
	// SealedWith names the keys that the private store is sealed with; empty where it is not sealed.
	SealedWith []string `json:"sealed_with,omitempty"`
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
	// Shown is the generation that readers see, which is counted.
	Shown    int64  `json:"-"`
	withheld string // why nothing of the table can be published
	created  time.Time
	// Kept are the figures that are kept of the release, nil where they were counted or there are none.
	Kept *history.Figures `json:"-"`
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

// Read connects as the owner, reads the private store, and checks the database as processes that
// serve do. It counts the rows of tables up to countedRows, and takes the figures that are kept of
// larger ones; with count, it counts all.
func Read(ctx context.Context, c *config.Config, count bool) (Status, error) {
	if count {
		return read(ctx, c, nil, countAll)
	}
	return read(ctx, c, nil, countSmall)
}

// counting is which tables are counted.
type counting int

const (
	countAll counting = iota
	countSmall
	countNone
)

// countedRows is how many records, as the server estimates, are counted when the state is asked for.
const countedRows = 100_000

// ReadFor is Read for a process that knows its own conditions. It counts no rows, and takes the figures that
// are kept of each table.
func ReadFor(ctx context.Context, c *config.Config, own map[catalog.Name]Condition) (Status, error) {
	return read(ctx, c, own, countNone)
}

func read(ctx context.Context, c *config.Config, own map[catalog.Name]Condition, count counting) (Status, error) {
	on, away, err := connect(ctx, c)
	if err != nil {
		return Status{}, err
	}
	defer on.Close(context.WithoutCancel(ctx))
	conn := on.Owner
	s, err := readStored(ctx, on, c.Slot, c.Policy, c.Upstream.Reader.User, count)
	if err != nil {
		return Status{}, err
	}
	s.Replication.Away = away
	proofs, err := history.LastProofs(ctx, conn)
	if err != nil {
		return Status{}, err
	}
	s.addProofs(c.Policy, proofs)
	if s.Clients, s.Silent, err = processes.AskCounts(ctx, c); err != nil {
		return Status{}, err
	}
	if err := s.readStandby(ctx, on.Source, c); err != nil {
		return Status{}, err
	}
	if on.Source != nil {
		if err := s.findDeadApplier(ctx, on.Source, c.Slot); err != nil {
			return Status{}, err
		}
	}
	s.readFindings(ctx, c)
	s.settle(c.Policy, own)
	s.addAnswers()
	s.Needs = append(s.needs(c.Replication), s.readCertificates(c, time.Now())...)
	return s, nil
}

// connect connects to both databases, or to that of the release alone, and says why, while the source is away.
func connect(ctx context.Context, c *config.Config) (on upstream.Databases, away string, err error) {
	if on, err = upstream.ConnectBoth(ctx, c); !check.SourceAway(err) {
		return on, "", err
	}
	away = err.Error()
	on.Owner, err = upstream.ConnectOwner(ctx, c)
	return on, away, err
}

func readStored(ctx context.Context, on upstream.Databases, slot string, policy catalog.Policy, reader string, count counting) (Status, error) {
	tableOf := ReadTable
	if count != countAll {
		figures, err := history.LastFigures(ctx, on.Owner)
		if err != nil {
			return Status{}, err
		}
		tableOf = func(ctx context.Context, tx pgx.Tx, t catalog.TablePolicy) (Table, error) {
			if count == countSmall {
				return readSized(ctx, tx, t, figures)
			}
			return ReadKept(ctx, tx, t, figures)
		}
	}
	for attempt := 1; ; attempt++ {
		s, err := readOnce(ctx, on, slot, policy, reader, tableOf)
		if attempt == attempts || !errors.Is(err, history.ErrRepublished) {
			return s, err
		}
	}
}

// attempts is how often the state is read where a release is dropped meanwhile, which a new snapshot does not see.
const attempts = 5

func readOnce(ctx context.Context, on upstream.Databases, slot string, policy catalog.Policy, reader string, tableOf func(context.Context, pgx.Tx, catalog.TablePolicy) (Table, error)) (Status, error) {
	tx, err := on.Owner.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return Status{}, fmt.Errorf("reading the private store: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	s := Status{Tables: []Table{}}
	if err := s.readReplication(ctx, tx, on.Source, slot); err != nil {
		return Status{}, upstream.Unprepared(err)
	}
	for _, t := range policy.Tables {
		table, err := tableOf(ctx, tx, t)
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
	if s.SealedWith, err = ksync.SealedWith(ctx, tx); err != nil {
		return Status{}, err
	}
	return s, nil
}

// readReplication reads the position of the store, and how far the source's log and its slot are.
func (s *Status) readReplication(ctx context.Context, tx pgx.Tx, source *pgx.Conn, slot string) error {
	r := &s.Replication
	const position = `SELECT now(), p.slot, p.lsn::text, p.updated_at FROM kproxy_store.position p ORDER BY p.slot <> $1, p.slot LIMIT 1`
	const log = `SELECT pg_wal_lsn_diff(w.at, $2::text::pg_lsn)::bigint, s.slot_name IS NOT NULL, coalesce(s.active, false), coalesce(s.confirmed_flush_lsn::text, ''),
		coalesce(pg_wal_lsn_diff(w.at, s.restart_lsn)::bigint, 0), coalesce(s.wal_status, ''), s.safe_wal_size
		FROM (SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END) AS w(at)
		LEFT JOIN pg_catalog.pg_replication_slots s ON s.slot_name = $1`
	err := tx.QueryRow(ctx, position, slot).Scan(&s.At, &r.Slot, &r.Position, &r.Since)
	if err == nil && source != nil {
		err = source.QueryRow(ctx, log, r.Slot, r.Position).Scan(&r.Behind, &r.Exists, &r.Active, &r.Confirmed, &r.Retained, &r.WALStatus, &r.Safe)
	}
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		if err := s.readBeginning(ctx, tx, slot); err != nil {
			return err
		}
	case err != nil:
		return fmt.Errorf("reading the position: %w", err)
	case r.Slot != slot:
		return fmt.Errorf("the private store is fed by replication slot %q, but the configuration names %q", r.Slot, slot)
	}
	if source != nil {
		if r.Applier, err = processes.ReadApplier(ctx, source, slot); err != nil {
			return err
		}
		if s.holder, err = ksync.FindHolder(ctx, source, slot); err != nil {
			return err
		}
	}
	pids, err := processes.Serving(ctx, tx, slot)
	r.Processes = len(pids)
	return err
}

// readBeginning is for a slot without a position: nothing has been published yet. Where no process is about to,
// there is no state to be read.
func (s *Status) readBeginning(ctx context.Context, tx pgx.Tx, slot string) error {
	pids, err := processes.Serving(ctx, tx, slot)
	if err != nil {
		return err
	}
	if len(pids) == 0 {
		return &upstream.MissingError{What: "nothing has been published yet", Fix: "start 'kproxy serve'"}
	}
	s.Replication.Slot = slot
	if err := tx.QueryRow(ctx, "SELECT now()").Scan(&s.At); err != nil {
		return fmt.Errorf("asking for the time: %w", err)
	}
	s.Replication.Since = s.At
	return nil
}

// ReadTable reads the state of one release, and counts its records, rows and classes.
func ReadTable(ctx context.Context, tx pgx.Tx, policy catalog.TablePolicy) (Table, error) {
	t, err := readTable(ctx, tx, policy)
	if err != nil || t.Generation == 0 {
		return t, err
	}
	counts, err := history.Count(ctx, tx, t.Shown, t.Updates, "")
	if err != nil {
		return t, err
	}
	t.Records, t.Withheld, t.Rows, t.Classes = counts.Records, counts.Withheld, counts.Rows, counts.Classes
	for i := range t.Audiences {
		if a := &t.Audiences[i]; a.State != StateUnpublished {
			if counts, err = history.Count(ctx, tx, t.Shown, t.Updates, a.Name); err != nil {
				return t, fmt.Errorf("for %s: %w", a.Name, err)
			}
			countAudience(a, counts)
		}
	}
	return t, nil
}

// readSized is ReadTable for small tables and ReadKept for others.
func readSized(ctx context.Context, tx pgx.Tx, policy catalog.TablePolicy, kept map[catalog.Name]history.Figures) (Table, error) {
	t, err := ReadKept(ctx, tx, policy, kept)
	if err != nil || t.Generation == 0 {
		return t, err
	}
	var records int64
	err = tx.QueryRow(ctx, "SELECT coalesce(max(reltuples), 0)::bigint FROM pg_catalog.pg_class WHERE relnamespace = 'kproxy_store'::pg_catalog.regnamespace AND relname = ANY ($1)",
		[]string{fmt.Sprintf("records_%d", t.Shown), fmt.Sprintf("stored_%d", t.Shown)}).Scan(&records)
	if err != nil {
		return t, fmt.Errorf("asking how large it is: %w", err)
	}
	if records <= countedRows {
		return ReadTable(ctx, tx, policy)
	}
	if t.Uncounted = t.Kept == nil; t.Kept != nil {
		t.CountedAt = &t.Kept.At
	}
	return t, nil
}

// ReadKept reads the state of one release, with the figures that are kept of it. It counts nothing. Where none
// are kept of the release that readers see, Kept is nil, and the numbers of records, rows and classes are 0.
func ReadKept(ctx context.Context, tx pgx.Tx, policy catalog.TablePolicy, kept map[catalog.Name]history.Figures) (Table, error) {
	t, err := readTable(ctx, tx, policy)
	if err != nil || t.Generation == 0 {
		return t, err
	}
	f, known := kept[policy.Table]
	if !known || f.Generation != t.Shown || f.At.Before(t.created) { // of an earlier one of this number
		return t, nil
	}
	t.Records, t.Withheld, t.Rows, t.Classes = f.Records, f.Withheld, f.Rows, f.Classes
	t.Kept = &f
	for i := range t.Audiences {
		a := &t.Audiences[i]
		if seen, counted := f.Audiences[a.Name]; counted && a.State != StateUnpublished {
			countAudience(a, seen.Counts)
		}
	}
	return t, nil
}

// readTable reads the state of one release.
func readTable(ctx context.Context, tx pgx.Tx, policy catalog.TablePolicy) (Table, error) {
	name := policy.Table
	t := Table{Table: state.Table{Name: name.String(), State: ksync.Unpublished.String(), Updates: policy.Updates.Mode.String(), Figures: &state.Figures{}}}
	const generation = `SELECT generation, coalesce(updates, $3), waiting, oldest_waiting, stale, oldest_stale, ghosts, untold, expired,
		CASE WHEN halted IS NOT NULL THEN 'halted' WHEN shows IS NULL OR previous IS NOT NULL THEN 'published' ELSE 'unpublished' END,
		coalesce(halted, ''), coalesce(halted_fix, ''), coalesce(asked, ''), coalesce(lsn::text, ''), coalesce(previous, generation), coalesce(withheld_why, ''), returned, created_at, CASE WHEN shows IS NULL THEN coalesce(audiences, '') ELSE '' END, previous IS NOT NULL
		FROM kproxy_store.generation WHERE table_schema = $1 AND table_name = $2`
	stored := storedAudiences{}
	err := tx.QueryRow(ctx, generation, name.Schema, name.Relation, catalog.Immediate.String()).
		Scan(&t.Generation, &t.Updates, &t.Waiting, &t.OldestWaiting, &t.Stale, &t.OldestStale, &t.Ghosts, &t.Untold, &t.Expired,
			&t.State, &t.Problem, &t.Fix, &t.Asked, &t.Position, &t.Shown, &t.withheld, &t.Returned, &t.created, &stored.text, &stored.earlier)
	if errors.Is(err, pgx.ErrNoRows) {
		return t, nil
	}
	if err != nil {
		return t, fmt.Errorf("reading the generation: %w", upstream.Unprepared(err))
	}
	t.Audiences, err = stored.read(ctx, tx, policy)
	return t, err
}
