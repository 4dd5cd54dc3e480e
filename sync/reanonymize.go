package sync

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// Renewed is what became of a request to make a table's classes anew.
type Renewed struct {
	Table catalog.Name
	// Done is how many records have found their class, of all parts; -1 while the
	// request waits.
	Done int
	// Ended says that the rest is known.
	Ended bool
	// Before and Afresh are the information losses of the maintained release and of the
	// one made afresh (incremental.Partition.Loss); of several parts the highest.
	Before, Afresh float64
	// Adopted says that readers see the new classes, at least those of some part. They
	// are not adopted where they lose no less.
	Adopted bool
	// Problem is why nothing was made anew; empty for success.
	Problem string
}

const (
	// answerInterval is how often the answer is looked for, alivePace how often, in such
	// looks, whether there is still somebody to answer.
	answerInterval = 250 * time.Millisecond
	aliveChecks    = 20
)

// Reanonymize asks the kproxy that applies in the database to make the classes of some
// tables anew; owner and source are those of Config. With wait, it waits for
// the outcome of all and tells of them meanwhile; else the requests are fulfilled
// later. The error is a *StopError where nobody applies.
func Reanonymize(ctx context.Context, owner, source *pgx.ConnConfig, slot string, tables []catalog.Name, wait bool, tell func([]Renewed)) ([]Renewed, error) {
	s := &session{store: store{slot: slot}}
	defer s.close()
	var err error
	if s.store.conn, err = pgx.ConnectConfig(ctx, owner); err != nil {
		return nil, fmt.Errorf("connecting as the owner ('kproxy setup' makes the role): %w", Reason(err))
	}
	if s.store.source = s.store.conn; source != nil {
		if s.store.source, err = pgx.ConnectConfig(ctx, source); err != nil {
			return nil, fmt.Errorf("connecting to the source ('kproxy setup' makes the role): %w", Reason(err))
		}
	}
	if err := s.store.checkApplied(ctx, "start 'kproxy serve' first"); err != nil {
		return nil, err
	}
	ids, err := s.store.askFor(ctx, tables)
	if err != nil || !wait {
		return nil, err
	}
	for looks := 1; ; looks++ {
		results, ended, err := s.store.answers(ctx, ids)
		if err != nil || ended {
			return results, err
		}
		if tell(results); looks%aliveChecks == 0 {
			if err := s.store.checkApplied(ctx, "the request stays, and is fulfilled when 'kproxy serve' runs again"); err != nil {
				return results, err
			}
		}
		if err := sleep(ctx, answerInterval); err != nil {
			return results, fmt.Errorf("waiting for the outcome, which is logged by 'kproxy serve': %w", err)
		}
	}
}

// checkApplied makes sure that another process holds the lock of who applies.
func (s *store) checkApplied(ctx context.Context, fix string) error {
	var free bool
	// Within one statement's transaction: the lock is given back at once.
	err := s.source.QueryRow(ctx, "SELECT pg_catalog.pg_try_advisory_xact_lock("+lockKeys(s.slot)[0]+")").Scan(&free)
	if err != nil {
		return fmt.Errorf("looking for who applies: %w", err)
	}
	if free {
		return &StopError{What: "no kproxy applies in this database", Fix: fix}
	}
	return nil
}

// keptRequests is how long outcomes are kept.
const keptRequests = "30 days"

// askFor leaves a request for each table and returns their ids.
func (s *store) askFor(ctx context.Context, tables []catalog.Name) ([]int64, error) {
	if _, err := s.conn.Exec(ctx, "DELETE FROM kproxy_store.renewal WHERE ended_at < now() - $1::text::interval", keptRequests); err != nil {
		if hasState(err, undefinedTable) {
			return nil, &StopError{What: "the kproxy that applies in this database is only starting, or an earlier version", Fix: "ask again when it serves; restart an earlier version"}
		}
		return nil, fmt.Errorf("asking for tables to be re-anonymized: %w", err)
	}
	schemas, names := make([]string, len(tables)), make([]string, len(tables))
	for i, t := range tables {
		schemas[i], names[i] = t.Schema, t.Relation
	}
	rows, err := s.conn.Query(ctx, `INSERT INTO kproxy_store.renewal (table_schema, table_name)
		SELECT * FROM unnest($1::text[], $2::text[]) RETURNING id`, schemas, names)
	if err != nil {
		return nil, fmt.Errorf("asking for tables to be re-anonymized: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("asking for tables to be re-anonymized: %w", err)
	}
	return ids, nil
}

// answers tells how far the requests are, and whether all have ended.
func (s *store) answers(ctx context.Context, ids []int64) (results []Renewed, ended bool, err error) {
	rows, err := s.conn.Query(ctx, `SELECT table_schema, table_name, coalesce(done, -1), ended_at IS NOT NULL,
		coalesce(loss_before, 0), coalesce(loss_afresh, 0), coalesce(adopted, false), coalesce(problem, '') FROM kproxy_store.renewal WHERE id = ANY($1) ORDER BY id`, ids)
	if err == nil {
		results, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Renewed, err error) {
			err = row.Scan(&r.Table.Schema, &r.Table.Relation, &r.Done, &r.Ended, &r.Before, &r.Afresh, &r.Adopted, &r.Problem)
			return r, err
		})
	}
	if err != nil {
		return nil, false, fmt.Errorf("looking for the outcome: %w", err)
	}
	ended = true
	for _, r := range results {
		ended = ended && r.Ended
	}
	return results, ended, nil
}
