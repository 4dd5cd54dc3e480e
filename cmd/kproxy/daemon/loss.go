package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/console"
	"github.com/kproxy/kproxy/internal/dataset"
	ksync "github.com/kproxy/kproxy/sync"
)

// losses are the information losses of a release (metric.PublishedLoss), measured on
// whole classes drawn by their numbers.
type losses struct {
	// Records is how many were measured, of the part with the fewest.
	Records int
	// Whole is the mean over the columns; Columns are those of the quasi-identifiers.
	Whole   float64
	Columns map[string]float64
}

// measuredRecords bounds a measurement.
const measuredRecords = 10_000

// measureLoss measures the release of a generation, all of it on one snapshot. Withheld
// records lose everything. Nil means that nothing is published.
func measureLoss(ctx context.Context, tx pgx.Tx, p catalog.Publication, generation int64) (*losses, error) {
	records := catalog.Name{Schema: catalog.StoreSchema, Relation: fmt.Sprintf("records_%d", generation)}.SQL()
	found := losses{Columns: make(map[string]float64)}
	for i, part := range p.Components() {
		sampled, err := readClasses(ctx, tx, p, records, catalog.ClassColumn(i))
		if err != nil {
			return nil, fmt.Errorf("measuring the loss of %s: %w", p.Policy.Table, withoutValues(err))
		}
		if len(sampled.release.Classes) == 0 {
			return nil, nil
		}
		for _, a := range part {
			loss := metric.PublishedLoss(sampled.records.Project([]int{a}), sampled.release)
			found.Columns[p.Attributes[a].Column] = loss + (1-loss)*sampled.withheld
		}
		if i == 0 || sampled.records.Len() < found.Records {
			found.Records = sampled.records.Len()
		}
	}
	for _, a := range p.Attributes { // in their order, so that sums are the same each time
		found.Whole += found.Columns[a.Column] / float64(len(p.Attributes))
	}
	return &found, nil
}

// sampledClasses are records of some classes, all of each.
type sampledClasses struct {
	records  *anonymizer.Table
	release  *anonymizer.Release
	withheld float64 // share of the records that are in no class
}

// outputForm is how package sync has values written.
const outputForm = "SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL IntervalStyle = 'postgres'; SET LOCAL TimeZone = 'UTC'; SET LOCAL extra_float_digits = 1; SET LOCAL jit = off"

func readClasses(ctx context.Context, tx pgx.Tx, p catalog.Publication, records, class string) (sampledClasses, error) {
	coder, err := dataset.NewCoder(p)
	if err != nil {
		return sampledClasses{}, err
	}
	if _, err := tx.Conn().PgConn().Exec(ctx, outputForm).ReadAll(); err != nil {
		return sampledClasses{}, err
	}
	var classes, placed, all int64
	if err := tx.QueryRow(ctx, fmt.Sprintf("SELECT count(DISTINCT %[1]s), count(%[1]s), count(*) FROM %[2]s", class, records)).Scan(&classes, &placed, &all); err != nil {
		return sampledClasses{}, err
	}
	if placed == 0 {
		return sampledClasses{release: &anonymizer.Release{}}, nil
	}
	wanted := max(1, classes*measuredRecords/max(placed, measuredRecords))
	columns := []string{class}
	for _, c := range coder.Columns() {
		columns = append(columns, catalog.QuoteIdentifier(c))
	}
	// The order by a digest draws the same classes again as long as they are there.
	query := fmt.Sprintf(`SELECT %[1]s FROM %[2]s WHERE %[3]s IN (
		SELECT %[3]s FROM (SELECT DISTINCT %[3]s FROM %[2]s WHERE %[3]s IS NOT NULL) c ORDER BY hashint8extended(%[3]s::bigint, 1), 1 LIMIT %[4]d)
		ORDER BY %[3]s`, strings.Join(columns, ", "), records, class, wanted)
	rows, err := tx.Query(ctx, query, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return sampledClasses{}, err
	}
	defer rows.Close()
	release := &anonymizer.Release{}
	last := ""
	for n := int32(0); rows.Next(); n++ {
		values := rows.RawValues()
		if number := string(values[0]); n == 0 || number != last {
			last = number
			release.Classes = append(release.Classes, nil)
		}
		at := len(release.Classes) - 1
		release.Classes[at] = append(release.Classes[at], n)
		coder.Add(values[1:])
	}
	if err := rows.Err(); err != nil {
		return sampledClasses{}, err
	}
	table, err := coder.Table()
	if err != nil {
		return sampledClasses{}, err
	}
	return sampledClasses{records: table.Records, release: release, withheld: float64(all-placed) / float64(all)}, nil
}

// sqlState is the code of what the database refused, empty for other errors.
func sqlState(err error) string {
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

// withoutValues keeps of the database's errors what cannot quote a row.
func withoutValues(err error) error {
	if code := sqlState(err); code != "" {
		return fmt.Errorf("the database refuses it (SQLSTATE %s)", code)
	}
	return err
}

// lossHistory are the losses that were recorded of a table, the first first.
func lossHistory(ctx context.Context, on querier, name catalog.Name) ([]console.Loss, error) {
	rows, err := on.Query(ctx, `SELECT at, loss, generation FROM kproxy_store.loss WHERE table_schema = $1 AND table_name = $2 ORDER BY id`, name.Schema, name.Relation)
	if missingStore(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading losses: %w", err)
	}
	history, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l console.Loss, err error) {
		return l, row.Scan(&l.At, &l.Loss, &l.Generation)
	})
	if missingStore(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading losses: %w", err)
	}
	return history, nil
}

const (
	// lossPace is how often it is looked whether a loss is to be recorded, lossInterval
	// how often one is without a reason of its own.
	lossPace     = 5 * time.Second
	lossInterval = time.Hour
)

// Why a loss was recorded.
const (
	lossPublished    = "published"
	lossReanonymized = "reanonymized"
	lossHourly       = "hourly"
)

// lastLoss is what was recorded of a table by this process.
type lastLoss struct {
	at         time.Time
	generation int64
	renewed    float64 // what the release lost when it was compared with one made afresh
}

// cause is why the loss is to be recorded now; empty where it is not. A drift of 1 is
// that of a release that has been made anew since it was compared before.
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

// recordLosses has the process that applies record how much information each table loses,
// until ctx ends: when it is published or made anew, and every hour.
func (d *Daemon) recordLosses(ctx context.Context) {
	last := make(map[catalog.Name]lastLoss)
	for {
		select {
		case <-time.After(lossPace):
		case <-ctx.Done():
			return
		}
		status := d.syncer.Status()
		if status.State != ksync.Streaming {
			clear(last) // another one records
			continue
		}
		due, conditions := make(map[catalog.Name]string), d.conditions()
		now := time.Now()
		for name, t := range status.Tables {
			if cause := last[name].cause(now, t); cause != "" && conditions[name].state == statePublished {
				due[name] = cause
			}
		}
		if len(due) == 0 {
			continue
		}
		recorded, err := recordDue(ctx, d.effective.Load(), due)
		if err != nil && ctx.Err() == nil {
			d.Logger.Warn("information losses could not be recorded", "error", err)
		}
		for name := range due {
			last[name] = lastLoss{now, status.Tables[name].Generation, status.Tables[name].Loss}
			if err == nil && !slices.Contains(recorded, name) {
				delete(last, name) // nothing is published yet: look again
			}
		}
	}
}

// recordDue measures and records, and returns the tables of which it has.
func recordDue(ctx context.Context, c *config.Config, due map[catalog.Name]string) (recorded []catalog.Name, err error) {
	conn, err := connectOwner(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := prepareChronicle(ctx, conn); err != nil {
		return nil, err
	}
	publications, _, err := publicationsOf(ctx, conn, c)
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
		if loss == nil {
			continue
		}
		name := p.Policy.Table
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

// publicationsOf are the shapes of the tables that fit their policies, and what is wrong with
// others.
func publicationsOf(ctx context.Context, conn *pgx.Conn, c *config.Config) ([]catalog.Publication, []catalog.Problem, error) {
	relations, err := inspect.Relations(ctx, conn, c.Upstream.Reader.User)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the catalog: %w", err)
	}
	return inspect.Publish(ctx, conn, c.Policy, relations)
}

// shownGeneration is the generation that readers see, 0 for none.
func shownGeneration(ctx context.Context, on querier, name catalog.Name) (generation int64, err error) {
	err = on.QueryRow(ctx, "SELECT coalesce(previous, generation) FROM kproxy_store.generation WHERE table_schema = $1 AND table_name = $2", name.Schema, name.Relation).Scan(&generation)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the generation: %w", err)
	}
	return generation, nil
}

// measureShown measures what readers see.
func measureShown(ctx context.Context, conn *pgx.Conn, p catalog.Publication) (generation int64, found *losses, err error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return 0, nil, fmt.Errorf("measuring the loss of %s: %w", p.Policy.Table, err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	generation, err = shownGeneration(ctx, tx, p.Policy.Table)
	if err != nil || generation == 0 {
		return 0, nil, err
	}
	found, err = measureLoss(ctx, tx, p, generation)
	return generation, found, err
}
