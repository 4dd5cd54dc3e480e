package history

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// Loss is the information loss of a release at one moment, 0 to 1.
type Loss struct {
	At         time.Time
	Loss       float64
	Generation int64
}

// LossHistory returns the recorded losses of a table, the oldest first.
func LossHistory(ctx context.Context, on upstream.Querier, name catalog.Name) ([]Loss, error) {
	rows, err := on.Query(ctx, `SELECT at, loss, generation FROM kproxy_store.loss WHERE table_schema = $1 AND table_name = $2 ORDER BY id`, name.Schema, name.Relation)
	if upstream.MissingStore(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading losses: %w", err)
	}
	history, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l Loss, err error) {
		return l, row.Scan(&l.At, &l.Loss, &l.Generation)
	})
	if upstream.MissingStore(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading losses: %w", err)
	}
	return history, nil
}

// LastLosses returns the loss of each table that was recorded last.
func LastLosses(ctx context.Context, on upstream.Querier) (map[catalog.Name]Loss, error) {
	found := make(map[catalog.Name]Loss)
	rows, _ := on.Query(ctx, `SELECT DISTINCT ON (table_schema, table_name) table_schema, table_name, at, loss, generation
		FROM kproxy_store.loss ORDER BY table_schema, table_name, id DESC`) // the rows carry its error
	var name catalog.Name
	var l Loss
	_, err := pgx.ForEachRow(rows, []any{&name.Schema, &name.Relation, &l.At, &l.Loss, &l.Generation}, func() error { found[name] = l; return nil })
	if err != nil && !upstream.MissingStore(err) {
		return nil, fmt.Errorf("reading losses: %w", err)
	}
	return found, nil
}

const (
	// lossPollInterval is how often RecordLosses checks whether to record a loss, and lossInterval
	// how often it records one without another reason.
	lossPollInterval = 5 * time.Second
	lossInterval     = time.Hour
)

// Why a loss was recorded.
const (
	lossPublished    = "published"
	lossReanonymized = "reanonymized"
	lossHourly       = "hourly"
)

// lastLoss is what this process recorded last for a table.
type lastLoss struct {
	at         time.Time
	generation int64
	renewed    float64 // what the release lost when it was compared with one made afresh
}

// cause returns the reason to record the loss now, empty for none. A drift of 1 means that the
// release has been made anew since the last comparison.
func (l lastLoss) cause(now time.Time, t ksync.TableStatus) string {
	switch {
	case t.State != ksync.Published || t.Generation == 0:
		return ""
	case t.Generation != l.generation:
		return lossPublished
	case t.Drift == 1 && t.Loss != l.renewed:
		return lossReanonymized
	case now.Sub(l.at) >= lossInterval:
		return lossHourly
	}
	return ""
}

// RecordLosses records how much information each table loses while the process applies
// changes, until ctx ends: when a table is published or made anew, and every hour.
func (p Process) RecordLosses(ctx context.Context) {
	last := make(map[catalog.Name]lastLoss)
	for {
		select {
		case <-time.After(lossPollInterval):
		case <-ctx.Done():
			return
		}
		status := p.Replication()
		if status.State != ksync.Streaming {
			clear(last) // another one records
			continue
		}
		due := make(map[catalog.Name]string)
		now := time.Now()
		for name, t := range status.Tables {
			if cause := last[name].cause(now, t); cause != "" && p.Published(name) {
				due[name] = cause
			}
		}
		if len(due) == 0 {
			continue
		}
		recorded, err := recordDue(ctx, p.Config(), due)
		if err != nil && ctx.Err() == nil {
			p.Logger.Warn("information losses could not be recorded", "error", err)
		}
		for name := range due {
			last[name] = lastLoss{now, status.Tables[name].Generation, status.Tables[name].Loss}
			if err == nil && !slices.Contains(recorded, name) {
				delete(last, name) // nothing is published yet: look again
			}
		}
	}
}

// recordDue measures and records losses, and returns the tables for which it has.
func recordDue(ctx context.Context, c *config.Config, due map[catalog.Name]string) (recorded []catalog.Name, err error) {
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := createTables(ctx, conn); err != nil {
		return nil, err
	}
	publications, _, err := upstream.Publications(ctx, conn, c)
	if err != nil {
		return nil, err
	}
	for _, p := range publications {
		cause := due[p.Policy.Table]
		if cause == "" {
			continue
		}
		generation, loss, err := measureShown(ctx, conn, p)
		if err != nil {
			return recorded, err
		}
		name := p.Policy.Table
		if loss == nil {
			if p.IsSealed() {
				recorded = append(recorded, name) // nothing can be measured of it later either
			}
			continue
		}
		if _, err := conn.Exec(ctx, "INSERT INTO kproxy_store.loss (table_schema, table_name, generation, loss, cause) VALUES ($1, $2, $3, $4, $5)",
			name.Schema, name.Relation, generation, loss.Whole, cause); err != nil {
			return recorded, fmt.Errorf("recording the loss of %s: %w", name, err)
		}
		if err := trim(ctx, conn, "loss", name, keptLosses); err != nil {
			return recorded, err
		}
		recorded = append(recorded, name)
	}
	return recorded, nil
}
