package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/metric"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/dataset"
)

// Losses are the information losses of a release (metric.PublishedLoss), measured on a sample of
// whole classes.
type Losses struct {
	// Records counts the records measured, in the part with the fewest.
	Records int
	// Whole is the mean over the columns; Columns are those of the quasi-identifiers.
	Whole   float64
	Columns map[string]float64
}

// measuredRecords bounds the sample, in records.
const measuredRecords = 10_000

// MeasureLoss measures the release of a generation on one snapshot, as the publication's audience sees it where it
// has one. Withheld records lose everything, and so does a column that the audience does not see. It returns nil if
// nothing is published, and where the private store is sealed: the server cannot read what was lost.
func MeasureLoss(ctx context.Context, tx pgx.Tx, p catalog.Publication, generation int64) (*Losses, error) {
	sealed, err := isSealed(ctx, tx, p, generation)
	if err != nil {
		return nil, fmt.Errorf("measuring the loss of %s: %w", p.Policy.Table, err)
	}
	if sealed {
		return nil, nil
	}
	found := Losses{Columns: make(map[string]float64)}
	for i, part := range p.Components() {
		sampled, err := readClasses(ctx, tx, p, generation, catalog.ClassColumn(i), measuredRecords)
		if err != nil {
			return nil, fmt.Errorf("measuring the loss of %s: %w", p.Policy.Table, upstream.WithoutValues(err))
		}
		if len(sampled.release.Classes) == 0 {
			return nil, nil
		}
		for _, a := range part {
			if hidden(p, a) {
				found.Columns[p.Attributes[a].Column] = 1
				continue
			}
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

// isSealed tells whether a generation's records are sealed. Its policy may be another one than the publication's, while
// that is published afresh.
func isSealed(ctx context.Context, tx pgx.Tx, p catalog.Publication, generation int64) (sealed bool, err error) {
	const query = "SELECT EXISTS (SELECT FROM pg_catalog.pg_attribute WHERE attrelid = pg_catalog.to_regclass($1) AND attname = $2 AND NOT attisdropped)"
	err = tx.QueryRow(ctx, query, stored(p.Policy.Audience, "records", generation), catalog.CiphertextColumn).Scan(&sealed)
	return sealed, err
}

// recordsWithClasses are the records of a store, with at least some columns and the numbers of their classes. Records
// of tables that are released together have these in the release alone.
func recordsWithClasses(p catalog.Publication, generation int64, columns []string) string {
	if p.Membership == nil {
		return stored(p.Policy.Audience, "records", generation)
	}
	selected := "l." + catalog.ClassColumn(0)
	for _, c := range columns { // those that the audience does not see, too
		selected += ", r." + catalog.QuoteIdentifier(c)
	}
	row := catalog.RecordColumn // numbers the row of an immediate table, too
	if p.Policy.Updates.Mode == catalog.Guarded {
		row = catalog.RowColumn
	}
	return fmt.Sprintf("(SELECT %s FROM %s r LEFT JOIN %s l ON l.%s = r.%s) s",
		selected, stored("", "records", generation), stored(p.Policy.Audience, "release", generation), catalog.RowColumn, row)
}

// hidden says that the publication does not show a quasi-identifier to its readers.
func hidden(p catalog.Publication, attribute int) bool {
	return isHidden(p, p.Attributes[attribute].Column)
}

// isHidden says that a column is an audience's that is not the publication's: see catalog.TablePolicy.Hidden.
func isHidden(p catalog.Publication, column string) bool {
	_, named := p.Policy.Column(column)
	return slices.Contains(p.Policy.Hidden, column) || p.Policy.Audience != "" && !named
}

// sampledClasses are records of some classes, all of each.
type sampledClasses struct {
	records  *anonymizer.Table
	release  *anonymizer.Release
	withheld float64 // share of the records that are in no class
}

// outputForm sets the output format that package sync uses.
const outputForm = "SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL IntervalStyle = 'postgres'; SET LOCAL TimeZone = 'UTC'; SET LOCAL extra_float_digits = 1; SET LOCAL jit = off"

func readClasses(ctx context.Context, tx pgx.Tx, p catalog.Publication, generation int64, class string, limit int64) (sampledClasses, error) {
	coder, err := dataset.NewCoder(p)
	if err != nil {
		return sampledClasses{}, err
	}
	records := recordsWithClasses(p, generation, coder.Columns())
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
	wanted := max(1, classes*limit/max(placed, limit))
	columns := []string{class}
	for _, c := range coder.Columns() {
		columns = append(columns, catalog.QuoteIdentifier(c))
	}
	// The order by a digest selects the same classes again as long as they exist.
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

// ShownGeneration returns the generation that readers see, 0 for none.
func ShownGeneration(ctx context.Context, on upstream.Querier, name catalog.Name) (generation int64, err error) {
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
func measureShown(ctx context.Context, conn *pgx.Conn, p catalog.Publication) (generation int64, found *Losses, err error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return 0, nil, fmt.Errorf("measuring the loss of %s: %w", p.Policy.Table, err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	generation, err = ShownGeneration(ctx, tx, p.Policy.Table)
	if err != nil || generation == 0 {
		return 0, nil, err
	}
	found, err = MeasureLoss(ctx, tx, p, generation)
	return generation, found, err
}
