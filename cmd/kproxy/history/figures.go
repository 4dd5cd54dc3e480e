package history

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
)

// Figures are what was counted and measured of the release that readers see of a table, at one moment.
type Figures struct {
	Counts
	At         time.Time
	Generation int64
	Position   string // of the source's write-ahead log, whose changes the release shows
	// Sizes count the classes of each part by the number of their rows, ascending.
	Sizes  [][]Size
	Losses *Losses // nil where nothing was measured
	// Audiences are the figures of what audiences see, by their names; none of those who see nothing yet.
	Audiences map[string]AudienceFigures `json:",omitempty"`
}

// AudienceFigures are those of what one audience sees of the table.
type AudienceFigures struct {
	Counts
	Sizes  []Size  // of its classes, of all parts
	Losses *Losses // nil where nothing was measured
}

// Counts are those of one release.
type Counts struct {
	Records  int64 // in the private store
	Withheld int64 // records that are not published
	Rows     int64 // published
	Classes  int64 // of all parts
}

// Size is how many classes have so many rows.
type Size struct {
	Rows    int
	Classes int64
}

// ErrRepublished is that of a count whose release was dropped meanwhile, when the next one was ready.
var ErrRepublished = errors.New("it is being published afresh; ask again in a moment")

// Count counts the records, rows and classes of a generation as an audience sees it; the empty name is that of the
// table's own readers.
func Count(ctx context.Context, tx pgx.Tx, generation int64, updates, audience string) (Counts, error) {
	var c Counts
	records, release := stored(audience, "records", generation), stored(audience, "release", generation)
	withheld := "0" // see below
	if updates == catalog.Guarded.String() {
		withheld = fmt.Sprintf("(SELECT count(*) FROM %s WHERE %s IS NULL)", records, catalog.RowColumn)
	}
	counts := fmt.Sprintf("SELECT (SELECT count(*) FROM %s), %s, (SELECT count(*) FROM %s)", records, withheld, release)
	if err := tx.QueryRow(ctx, counts).Scan(&c.Records, &c.Withheld, &c.Rows); err != nil {
		// A snapshot does not keep tables from being dropped.
		if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && refused.Code == upstream.UndefinedTable {
			return c, ErrRepublished
		}
		return c, fmt.Errorf("counting records: %w", err)
	}
	if updates != catalog.Guarded.String() || c.Rows == 0 {
		c.Withheld = max(0, c.Records-c.Rows)
	}
	parts, err := classColumns(ctx, tx, release)
	if err != nil {
		return c, err
	}
	classes := []string{"0"}
	for _, column := range parts {
		classes = append(classes, fmt.Sprintf("(SELECT count(*) FROM (SELECT FROM %s GROUP BY %s) c)", release, catalog.QuoteIdentifier(column)))
	}
	if err := tx.QueryRow(ctx, "SELECT "+strings.Join(classes, " + ")).Scan(&c.Classes); err != nil {
		return c, fmt.Errorf("counting classes: %w", err)
	}
	return c, nil
}

// stored names a relation that a generation has, of what an audience sees where one is named.
func stored(audience, kind string, generation int64) string {
	if audience != "" {
		kind += "_" + audience
	}
	return catalog.Name{Schema: catalog.StoreSchema, Relation: fmt.Sprintf("%s_%d", kind, generation)}.SQL()
}

// classColumns are those of a release, one for each part.
func classColumns(ctx context.Context, tx pgx.Tx, release string) ([]string, error) {
	const parts = `SELECT attname::text FROM pg_catalog.pg_attribute
		WHERE attrelid = $1::text::pg_catalog.regclass AND attname ~ '^kproxy_class(_[0-9]+)?$' AND NOT attisdropped ORDER BY attnum`
	rows, _ := tx.Query(ctx, parts, release) // the rows carry its error
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("reading the release's columns: %w", err)
	}
	return columns, nil
}

// classSizes counts the classes of one part by their sizes, ascending.
func classSizes(ctx context.Context, tx pgx.Tx, release, class string) ([]Size, error) {
	rows, _ := tx.Query(ctx, fmt.Sprintf("SELECT n::int, count(*) FROM (SELECT count(*) AS n FROM %s WHERE %[2]s IS NOT NULL GROUP BY %[2]s) c GROUP BY n ORDER BY n", release, class)) // the rows carry its error
	sizes, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (s Size, err error) {
		return s, row.Scan(&s.Rows, &s.Classes)
	})
	if err != nil {
		return nil, fmt.Errorf("counting classes: %w", err)
	}
	return sizes, nil
}

// joinSizes counts the classes of several parts together, by their sizes, ascending.
func joinSizes(one, other []Size) (all []Size) {
	sorted := slices.Concat(one, other)
	slices.SortFunc(sorted, func(a, b Size) int { return cmp.Compare(a.Rows, b.Rows) })
	for _, s := range sorted {
		if last := len(all) - 1; last >= 0 && all[last].Rows == s.Rows {
			all[last].Classes += s.Classes
			continue
		}
		all = append(all, s)
	}
	return all
}

// LastFigures returns the figures that are kept of each table.
func LastFigures(ctx context.Context, on upstream.Querier) (map[catalog.Name]Figures, error) {
	found := make(map[catalog.Name]Figures)
	rows, _ := on.Query(ctx, "SELECT table_schema, table_name, figures FROM kproxy_store.figures") // the rows carry its error
	var name catalog.Name
	var text []byte
	_, err := pgx.ForEachRow(rows, []any{&name.Schema, &name.Relation, &text}, func() error {
		var f Figures
		if err := json.Unmarshal(text, &f); err != nil {
			return err
		}
		found[name] = f
		return nil
	})
	if err != nil && !upstream.MissingStore(err) {
		return nil, fmt.Errorf("reading figures: %w", err)
	}
	return found, nil
}

// measureFigures counts and measures what readers see of a table, nil if that is nothing. Figures beside an error lack
// some of those of audiences.
func measureFigures(ctx context.Context, conn *pgx.Conn, p catalog.Publication) (*Figures, error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, fmt.Errorf("counting: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	name := p.Policy.Table
	var f Figures
	var updates string
	err = tx.QueryRow(ctx, `SELECT now(), coalesce(previous, generation), coalesce(lsn::text, ''), coalesce(updates, '')
		FROM kproxy_store.generation WHERE table_schema = $1 AND table_name = $2`, name.Schema, name.Relation).Scan(&f.At, &f.Generation, &f.Position, &updates)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && f.Generation == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("counting: %w", err)
	}
	if f.Counts, err = Count(ctx, tx, f.Generation, updates, ""); err != nil {
		return nil, err
	}
	if p.Policy.IsMirrored() {
		return &f, nil // it has no classes, and loses nothing
	}
	for i := range p.Components() {
		sizes, err := classSizes(ctx, tx, stored("", "release", f.Generation), catalog.ClassColumn(i))
		if err != nil {
			return nil, err
		}
		f.Sizes = append(f.Sizes, sizes)
	}
	if f.Rows > 0 {
		if f.Losses, err = MeasureLoss(ctx, tx, p, f.Generation); err != nil {
			return nil, err
		}
	}
	return &f, f.measureAudiences(ctx, tx, p, updates)
}

// measureAudiences counts and measures what audiences see, of each as far as that can be done. A generation that was
// made before an audience saw the table has nothing for it.
func (f *Figures) measureAudiences(ctx context.Context, tx pgx.Tx, p catalog.Publication, updates string) error {
	var failed []error
	for _, of := range p.Policy.Seeing() {
		seen, _ := p.For(of.Audience)
		one, err := measureApart(ctx, tx, seen, f.Generation, updates)
		if err != nil {
			failed = append(failed, fmt.Errorf("for %s: %w", of.Audience, err))
		}
		if one == nil {
			continue
		}
		if f.Audiences == nil {
			f.Audiences = make(map[string]AudienceFigures)
		}
		f.Audiences[of.Audience] = *one
	}
	return errors.Join(failed...)
}

// measureApart is MeasureAudience in a transaction that goes on after an error.
func measureApart(ctx context.Context, tx pgx.Tx, seen catalog.Publication, generation int64, updates string) (*AudienceFigures, error) {
	apart, err := tx.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("counting: %w", err)
	}
	defer func() { _ = apart.Rollback(context.WithoutCancel(ctx)) }()
	return MeasureAudience(ctx, apart, seen, generation, updates)
}

// MeasureAudience counts and measures what an audience sees of a generation; the publication is as it sees it. It
// returns nil where the generation was made before the audience saw the table. Figures beside an error lack the losses.
func MeasureAudience(ctx context.Context, tx pgx.Tx, seen catalog.Publication, generation int64, updates string) (*AudienceFigures, error) {
	audience := seen.Policy.Audience
	release := stored(audience, "release", generation)
	var made bool
	if err := tx.QueryRow(ctx, "SELECT pg_catalog.to_regclass($1) IS NOT NULL", release).Scan(&made); err != nil {
		return nil, fmt.Errorf("looking for a release: %w", err)
	}
	if !made {
		return nil, nil
	}
	var f AudienceFigures
	var err error
	if f.Counts, err = Count(ctx, tx, generation, updates, audience); err != nil {
		return nil, err
	}
	for i := range seen.Components() {
		of, err := classSizes(ctx, tx, release, catalog.ClassColumn(i))
		if err != nil {
			return nil, err
		}
		f.Sizes = joinSizes(f.Sizes, of)
	}
	if f.Rows > 0 {
		f.Losses, err = MeasureLoss(ctx, tx, seen, generation)
	}
	return &f, err
}
