package sync

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// An operator requests the re-anonymization of a table by a row in the private store, which the
// applier reads once a second and completes with the outcome. A message in the stream
// (pg_logical_emit_message) would need a place for the answer too, requires PostgreSQL 14,
// and would be received again after a restart.

// requestInterval is how often the applier looks for requests.
const requestInterval = time.Second

// request asks for the re-anonymization of a table.
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

// readRequests reads new requests and records the progress of the running one. If the table of
// requests cannot be read, it stops reading, as publication does not depend on it.
func (r *renewer) readRequests(ctx context.Context) error {
	if r.readDue = r.applier.writer.spilled != nil || len(r.applier.writer.batches) > 0; r.readDue {
		return nil // it would join that transaction; read when that has ended
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
