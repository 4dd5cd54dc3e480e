package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/observe"
	"github.com/kproxy/kproxy/internal/verify"
	ksync "github.com/kproxy/kproxy/sync"
)

// Proof is what the verifier found of one table, as the private store keeps it. It holds
// no value of a row, as verify.TableReport does not.
type Proof struct {
	At     time.Time          `json:"at"`
	Passed bool               `json:"passed"`
	Report verify.TableReport `json:"report"`
}

// The owner makes these tables when there is something to put into them: who has neither
// verified nor opened a console has none. keptProofs and keptLosses bound them, in rows of
// a table.
const (
	chronicle = `CREATE TABLE IF NOT EXISTS kproxy_store.proof (
		id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
		table_schema text NOT NULL,
		table_name   text NOT NULL,
		at           timestamptz NOT NULL DEFAULT now(),
		passed       boolean NOT NULL,
		report       jsonb NOT NULL);
	CREATE TABLE IF NOT EXISTS kproxy_store.loss (
		id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
		table_schema text NOT NULL,
		table_name   text NOT NULL,
		at           timestamptz NOT NULL DEFAULT now(),
		generation   bigint NOT NULL,
		loss         double precision NOT NULL,
		cause        text NOT NULL)`
	keptProofs = 100
	keptLosses = 1000

	uniqueViolation = "23505"
)

// prepareChronicle makes the tables. Two processes that do so at once get in each other's
// way even with IF NOT EXISTS: the second attempt finds what the other one made.
func prepareChronicle(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.PgConn().Exec(ctx, chronicle).ReadAll()
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && refused.Code == uniqueViolation {
		_, err = conn.PgConn().Exec(ctx, chronicle).ReadAll()
	}
	if err != nil {
		return fmt.Errorf("preparing the private store for proofs: %w", unprepared(err))
	}
	return nil
}

// recordProofs keeps what the verifier found in the private store, for the console.
func recordProofs(ctx context.Context, c *config.Config, report verify.Report) error {
	conn, err := connectOwner(ctx, c)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := prepareChronicle(ctx, conn); err != nil {
		return err
	}
	for _, t := range report {
		i := slices.IndexFunc(c.Policy.Tables, func(p catalog.TablePolicy) bool { return p.Table.String() == t.Table })
		if i < 0 || t.Generation == 0 {
			continue // never published
		}
		name := c.Policy.Tables[i].Table
		text, err := json.Marshal(t)
		if err != nil {
			return fmt.Errorf("keeping the proof of %s: %w", name, err)
		}
		if _, err := conn.Exec(ctx, "INSERT INTO kproxy_store.proof (table_schema, table_name, passed, report) VALUES ($1, $2, $3, $4)",
			name.Schema, name.Relation, t.Passed(), string(text)); err != nil {
			return fmt.Errorf("keeping the proof of %s: %w", name, err)
		}
		if err := trim(ctx, conn, "proof", name, keptProofs); err != nil {
			return err
		}
	}
	return nil
}

// trim removes all but the last rows of a table from the chronicle.
func trim(ctx context.Context, conn *pgx.Conn, relation string, name catalog.Name, kept int) error {
	sql := fmt.Sprintf(`DELETE FROM kproxy_store.%[1]s WHERE table_schema = $1 AND table_name = $2 AND id <= (
		SELECT id FROM kproxy_store.%[1]s WHERE table_schema = $1 AND table_name = $2 ORDER BY id DESC OFFSET $3 LIMIT 1)`, relation)
	if _, err := conn.Exec(ctx, sql, name.Schema, name.Relation, kept); err != nil {
		return fmt.Errorf("forgetting old figures of %s: %w", name, err)
	}
	return nil
}

// lastProofs reads the last proof of each table; none where nothing was ever kept. A table
// that was taken out and put back can have a generation of the same number as before: what
// was proved of that one is no proof of this.
func lastProofs(ctx context.Context, on querier) (map[catalog.Name]Proof, error) {
	rows, err := on.Query(ctx, `SELECT DISTINCT ON (p.table_schema, p.table_name) p.table_schema, p.table_name, p.at, p.passed, p.report
		FROM kproxy_store.proof p LEFT JOIN kproxy_store.generation g USING (table_schema, table_name)
		WHERE g.generation IS DISTINCT FROM (p.report ->> 'generation')::bigint OR p.at >= g.created_at
		ORDER BY p.table_schema, p.table_name, p.id DESC`)
	proofs := make(map[catalog.Name]Proof)
	if missingStore(err) {
		return proofs, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading proofs: %w", err)
	}
	var name catalog.Name
	var p Proof
	var text []byte
	_, err = pgx.ForEachRow(rows, []any{&name.Schema, &name.Relation, &p.At, &p.Passed, &text}, func() error {
		p.Report = verify.TableReport{}
		if err := json.Unmarshal(text, &p.Report); err != nil {
			return err
		}
		proofs[name] = p
		return nil
	})
	if err != nil && !missingStore(err) {
		return nil, fmt.Errorf("reading proofs: %w", err)
	}
	return proofs, nil
}

// proofRecord is what is known of proofs, for metrics.
type proofRecord struct {
	last  atomic.Pointer[map[catalog.Name]Proof] // nil before they were read first
	taken atomic.Int64                           // nanoseconds that the last proof of this process took
}

// of is the last proof of a table, nil for none.
func (r *proofRecord) of(table catalog.Name) *observe.Proof {
	known := r.last.Load()
	if known == nil {
		return nil
	}
	p, proved := (*known)[table]
	if !proved {
		return nil
	}
	return &observe.Proof{Generation: p.Report.Generation, At: p.At, Passed: p.Passed, Smallest: p.Report.Smallest}
}

// interval is how often proofs are made that are to be made every so often: a proof and its
// rest may take longer. 0 is never.
func (r *proofRecord) interval(every time.Duration) time.Duration {
	if every == 0 {
		return 0
	}
	return max(every, (1+provingRest)*time.Duration(r.taken.Load()))
}

const (
	// provingPace is how often it is looked whether a proof is due.
	provingPace = 5 * time.Second
	// provingRest bounds what proofs cost: they rest so many times as long as the last
	// one took.
	provingRest = 10
)

// prove has the process that applies prove its releases as often as the configuration
// says, until ctx ends.
func (d *Daemon) prove(ctx context.Context) {
	var rested time.Time // until when it rests
	failed := ""         // what was told last
	for {
		select {
		case <-time.After(provingPace):
		case <-ctx.Done():
			return
		}
		c, status := d.effective.Load(), d.syncer.Status()
		if c.Verify.Every == 0 || time.Now().Before(rested) || status.State != ksync.Streaming {
			continue
		}
		// A table that is withdrawn cannot be proved, and keeps no other from being.
		conditions := d.conditions()
		shown := func(name catalog.Name) bool { return conditions[name].state == statePublished }
		began := time.Now()
		due, err := someProofIsDue(ctx, c, status, shown)
		if err != nil && ctx.Err() == nil && err.Error() != failed {
			d.Logger.Error("whether a proof is due cannot be found out", "error", err)
		}
		if failed = ""; err != nil {
			failed = err.Error()
		}
		if err != nil || !due {
			rested = time.Now().Add(time.Second + provingRest*time.Since(began))
			continue
		}
		if err := d.proveOnce(ctx, c, shown); err != nil && ctx.Err() == nil {
			d.Logger.Error("the releases could not be proved", "error", err)
			rested = time.Now().Add(c.Verify.Every)
			continue
		}
		d.observed.proofs.taken.Store(int64(time.Since(began)))
		_ = d.sampleProofs(ctx) // which is tried again every minute
		rested = time.Now().Add(provingRest * time.Since(began))
	}
}

// someProofIsDue tells whether the proof of some table that is shown is due, by the server's
// clock: the store is what all processes share.
func someProofIsDue(ctx context.Context, c *config.Config, status ksync.Status, shown func(catalog.Name) bool) (due bool, err error) {
	conn, err := connectOwner(ctx, c)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	proofs, err := lastProofs(ctx, conn)
	if err != nil {
		return false, err
	}
	var now time.Time
	if err := conn.QueryRow(ctx, "SELECT now()").Scan(&now); err != nil {
		return false, err
	}
	return slices.ContainsFunc(c.Policy.Tables, func(t catalog.TablePolicy) bool {
		return shown(t.Table) && proofs[t.Table].isDue(now, status.Tables[t.Table], c.Verify.Every)
	}), nil
}

// isDue tells whether a release is to be proved: the last proof is of long ago, or of an
// earlier release. While a new one is made, the number is that of the new one already.
func (p Proof) isDue(now time.Time, t ksync.TableStatus, every time.Duration) bool {
	return now.Sub(p.At) >= every || !t.Preparing && p.Report.Generation != t.Generation
}

func (d *Daemon) proveOnce(ctx context.Context, c *config.Config, shown func(catalog.Name) bool) error {
	report, err := verifyTables(ctx, c, shown)
	if err != nil {
		return err
	}
	for _, t := range report {
		if t.Passed() || t.Generation == 0 {
			continue
		}
		for _, check := range t.Checks {
			if !check.Passed {
				d.Logger.Error("a release does not keep its promise", "relation", t.Table, "check", check.Name, "violations", check.Violations)
			}
		}
	}
	return recordProofs(ctx, c, report)
}
