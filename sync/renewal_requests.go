package sync

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// An operator asks for a table to be made anew by a row in the private store, which
// the applier looks for once a second, and finds the outcome there. A message in the
// stream (pg_logical_emit_message) would need a place for the answer all the same,
// needs PostgreSQL 14, and is received again after a restart.

// requestInterval is how often the applier looks for requests.
const requestInterval = time.Second

// request is an operator's wish to have a table made anew.
type request struct {
	id    int64
	table catalog.Name
}

// outcome is the answer to a request.
type outcome struct {
	request        int64
	before, afresh float64
	adopted        bool
	problem        string
}

// readRequests takes in new requests and tells how far the running one is. Where
// the table is not what it should be, it looks no more: publication does not depend
// on it.
func (r *renewer) readRequests(ctx context.Context) error {
	if r.readDue = r.applier.writer.spilled != nil || len(r.applier.writer.batches) > 0; r.readDue {
		return nil // it would become part of it; when it has ended
	}
	err := r.exchange(ctx)
	if err == nil || transient(err) {
		return err
	}
	r.ticker.Stop()
	r.applier.session.syncer.config.Logger.Warn("requests to re-anonymize are no longer looked for", "error", withoutValues(err), "fix", "run 'kproxy setup' and start again")
	return nil
}

func (r *renewer) exchange(ctx context.Context) error {
	last := int64(0)
	if n := r.running; n != nil {
		last = n.request
		if done := n.done.Load(); n.request != 0 && done != n.reportedDone {
			n.reportedDone = done
			if _, err := r.applier.session.store.conn.Exec(ctx, "UPDATE kproxy_store.renewal SET done = $2 WHERE id = $1", n.request, done); err != nil {
				return fmt.Errorf("telling how far a re-anonymization is: %w", err)
			}
		}
	}
	for _, known := range r.requests {
		last = max(last, known.id)
	}
	rows, err := r.applier.session.store.conn.Query(ctx, "SELECT id, table_schema, table_name FROM kproxy_store.renewal WHERE ended_at IS NULL AND id > $1 ORDER BY id", last)
	if err != nil {
		return fmt.Errorf("looking for requests to re-anonymize: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (asked request, err error) {
		err = row.Scan(&asked.id, &asked.table.Schema, &asked.table.Relation)
		return asked, err
	})
	if err != nil {
		return fmt.Errorf("looking for requests to re-anonymize: %w", err)
	}
	r.requests = append(r.requests, found...)
	return nil
}

// writeOutcomes queues the answers, in the transaction that shows what they tell of.
func (r *renewer) writeOutcomes(batch *statements) {
	for _, o := range r.outcomes {
		if o.problem != "" {
			batch.Queue("UPDATE kproxy_store.renewal SET ended_at = now(), problem = $2 WHERE id = $1", o.request, o.problem)
			continue
		}
		batch.Queue("UPDATE kproxy_store.renewal SET ended_at = now(), loss_before = $2, loss_afresh = $3, adopted = $4 WHERE id = $1",
			o.request, o.before, o.afresh, o.adopted)
	}
}
