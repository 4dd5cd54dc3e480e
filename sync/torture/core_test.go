package torture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	ksync "github.com/kproxy/kproxy/sync"
)

// guardedWait is how long the guarded table's records wait.
const guardedWait = 300 * time.Millisecond

// Failpoints that a table's publication passes, and those that every commit passes.
var (
	startFailpoints = []string{
		ksync.FailSlotCreated, ksync.FailPositionStored, ksync.FailSnapshotTaken, ksync.FailSnapshotCopied,
		ksync.FailBeforePublication, ksync.FailAfterPublication, ksync.FailBeforeJoin, ksync.FailAfterJoin,
	}
	streamFailpoints = []string{ksync.FailBeforeCommit, ksync.FailAfterCommit, ksync.FailBeforeAcknowledge}
)

// newConfig is what a child runs.
func newConfig(j job, owner, source *pgx.ConnConfig, tables []catalog.Publication) ksync.Config {
	last := ksync.State(-1)
	var now func() time.Time
	if j.Jumps {
		now = jumping(j.Seed)
	}
	if source == owner {
		source = nil
	}
	return ksync.Config{
		Now:   now,
		Owner: owner, Source: source, Reader: j.Reader, Publication: j.Publication, Slot: j.Slot, Seed: j.Seed,
		Tables: tables, Failpoint: failpoint(j),
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Changed: func(s ksync.Status) {
			if s.State != last {
				last = s.State
				fmt.Printf("state %s\n", last)
			}
		},
	}
}

// applying is the state of a child that applies.
var applying = ksync.Streaming.String()

// failpoint kills the process the nth time it passes the job's failpoint.
func failpoint(j job) func(string) {
	var passed atomic.Int64
	return func(name string) {
		if name == j.Failpoint && int(passed.Add(1)) == j.Pass {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the signal is on its way
		}
	}
}

// jumping is a wall clock that jumps by up to an hour either way.
func jumping(seed uint64) func() time.Time {
	rng := rand.New(rand.NewPCG(seed, 0))
	var offset atomic.Int64
	go func() {
		for {
			time.Sleep(200 * time.Millisecond)
			offset.Store(int64(time.Hour) - rng.Int64N(int64(2*time.Hour)))
		}
	}()
	return func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
}

// placed is where the store says that a table stands.
type placed struct {
	generation int64
	changed    pglogrepl.LSN // the last change of the table's store lies before
	lsn        pglogrepl.LSN // what the table's store shows
	shows      pglogrepl.LSN // readers see the generation from here on; 0 where they do
	halted     string
	asked      string // what is to become of the table
	lost       bool   // what it shows is not known any more: it will be compared with its source
}

// standing is where the store says that everything stands.
type standing struct {
	epoch    int64
	position pglogrepl.LSN
	tables   map[string]placed
}

// errNothingYet means that nothing has been published.
var errNothingYet = errors.New("nothing is published yet")

// readStanding reads the store in the transaction of conn.
func readStanding(ctx context.Context, tx pgx.Tx, slot string) (standing, error) {
	s := standing{tables: make(map[string]placed)}
	err := tx.QueryRow(ctx, "SELECT epoch, lsn::text FROM kproxy_store.position WHERE slot = $1", slot).Scan(&s.epoch, &s.position)
	if errors.Is(err, pgx.ErrNoRows) {
		return s, errNothingYet
	}
	if err != nil {
		return s, err
	}
	rows, err := tx.Query(ctx, "SELECT to_jsonb(g)::text FROM kproxy_store.generation g")
	if err != nil {
		return s, err
	}
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return s, err
	}
	for _, text := range texts {
		name, p, err := readPlaced(text, s.position)
		if err != nil {
			return s, fmt.Errorf("reading a generation: %w", err)
		}
		s.tables[name] = p
	}
	return s, nil
}

// readPlaced reads a row of the generations. Every table that is applied has at least
// what lies before the position; one that waits to be compared with its source has
// stayed where it was.
func readPlaced(text string, position pglogrepl.LSN) (name string, p placed, err error) {
	var row struct {
		Name       string  `json:"table_name"`
		Generation int64   `json:"generation"`
		Changed    string  `json:"lsn"`
		Shows      *string `json:"shows"`
		Halted     *string `json:"halted"`
		Asked      *string `json:"asked"`
	}
	if err := json.Unmarshal([]byte(text), &row); err != nil {
		return "", p, err
	}
	if p.changed, err = pglogrepl.ParseLSN(row.Changed); err != nil {
		return "", p, err
	}
	if row.Shows != nil {
		if p.shows, err = pglogrepl.ParseLSN(*row.Shows); err != nil {
			return "", p, err
		}
	}
	if row.Halted != nil {
		p.halted = *row.Halted
	}
	if row.Asked != nil {
		p.asked = *row.Asked
	}
	p.generation, p.lsn = row.Generation, p.changed
	p.lost = p.changed == 0
	if p.asked == "" && p.halted == "" && !p.lost {
		p.lsn = max(p.lsn, position)
	}
	return row.Name, p, nil
}
