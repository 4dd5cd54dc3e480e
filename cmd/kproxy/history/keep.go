package history

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
)

// Figures of tables that have changed are taken anew, of each at most every keptLeast, and so rarely that counting
// all of them takes a tenth of the time at most.
const (
	keptLook   = time.Second // how often is looked which tables have changed
	keptLeast  = 2 * time.Second
	keptFactor = 10
)

// keeper keeps the figures of tables in the private store, so that nobody who looks at them has to wait
// until a large table is counted.
type keeper struct {
	process Process
	conn    *pgx.Conn                      // nil before it is needed
	took    map[catalog.Name]time.Duration // how long the last count of a table took
	rests   map[catalog.Name]time.Time
	warned  map[catalog.Name]bool // of what its audiences see, since that was last measured
}

func newKeeper(of Process) *keeper {
	return &keeper{process: of, took: make(map[catalog.Name]time.Duration), rests: make(map[catalog.Name]time.Time), warned: make(map[catalog.Name]bool)}
}

// KeepFigures keeps the figures of each table up to date until ctx ends.
func (p Process) KeepFigures(ctx context.Context) {
	k := newKeeper(p)
	defer k.close(ctx)
	for {
		if err := k.look(ctx); err != nil && ctx.Err() == nil {
			p.Logger.Debug("tables could not be counted", "error", upstream.WithoutValues(err))
			k.close(ctx)
		}
		select {
		case <-time.After(keptLook):
		case <-ctx.Done():
			return
		}
	}
}

func (k *keeper) close(ctx context.Context) {
	if k.conn != nil {
		_ = k.conn.Close(context.WithoutCancel(ctx))
		k.conn = nil
	}
}

// look takes the figures of tables that have changed since.
func (k *keeper) look(ctx context.Context) (err error) {
	c := k.process.Config()
	if k.conn == nil {
		if k.conn, err = upstream.ConnectOwner(ctx, c); err != nil {
			return err
		}
		if err := createTables(ctx, k.conn); err != nil {
			return err
		}
	}
	changed, err := changedTables(ctx, k.conn)
	if err != nil {
		return err
	}
	began := time.Now()
	if changed = k.due(changed, c.Policy, began); len(changed) == 0 {
		return nil
	}
	publications, _, err := upstream.Publications(ctx, k.conn, c)
	if err != nil {
		return err
	}
	for name := range changed { // some of which may have no publication
		k.rest(name, time.Since(began), time.Now())
	}
	for _, p := range publications {
		name := p.Policy.Table
		if !changed[name] {
			continue
		}
		began := time.Now()
		f, err := measureFigures(ctx, k.conn, p)
		k.rest(name, time.Since(began), time.Now())
		if err != nil && k.conn.IsClosed() {
			return fmt.Errorf("table %s: %w", name, err)
		}
		if f == nil {
			if err != nil {
				k.process.Logger.Debug("a table could not be counted", "relation", name, "error", upstream.WithoutValues(err))
			}
			continue
		}
		k.warn(name, err)
		if err := storeFigures(ctx, k.conn, name, *f); err != nil {
			return err
		}
	}
	return nil
}

// warn tells of the first error of what a table's audiences see since there was none.
func (k *keeper) warn(name catalog.Name, err error) {
	if err != nil && !k.warned[name] {
		k.process.Logger.Warn("what audiences see of a table could not be measured", "relation", name, "error", upstream.WithoutValues(err))
	}
	k.warned[name] = err != nil
}

// due are the changed tables of a policy that do not rest. The private store may have others, which are no longer
// protected.
func (k *keeper) due(changed map[catalog.Name]bool, policy catalog.Policy, now time.Time) map[catalog.Name]bool {
	due, protected := make(map[catalog.Name]bool), make(map[catalog.Name]bool)
	for _, t := range policy.Tables {
		protected[t.Table] = true
		if changed[t.Table] && !now.Before(k.rests[t.Table]) {
			due[t.Table] = true
		}
	}
	gone := func(name catalog.Name) bool { return !protected[name] }
	maps.DeleteFunc(k.took, func(name catalog.Name, _ time.Duration) bool { return gone(name) })
	maps.DeleteFunc(k.rests, func(name catalog.Name, _ time.Time) bool { return gone(name) })
	maps.DeleteFunc(k.warned, func(name catalog.Name, _ bool) bool { return gone(name) })
	return due
}

// rest has a table rest whose count took so long: for keptFactor times as long as all of them take, so that all together
// take their share, however many there are.
func (k *keeper) rest(name catalog.Name, took time.Duration, now time.Time) {
	k.took[name] = took
	var all time.Duration
	for _, one := range k.took {
		all += one
	}
	k.rests[name] = now.Add(max(keptLeast, keptFactor*all))
}

// changedTables are those whose figures are of another release, or of an earlier position.
func changedTables(ctx context.Context, on upstream.Querier) (map[catalog.Name]bool, error) {
	rows, _ := on.Query(ctx, `SELECT g.table_schema, g.table_name FROM kproxy_store.generation g LEFT JOIN kproxy_store.figures f USING (table_schema, table_name)
		WHERE coalesce(g.previous, g.generation) > 0 AND (f.figures IS NULL OR (f.figures ->> 'Generation')::bigint <> coalesce(g.previous, g.generation)
			OR f.figures ->> 'Position' <> coalesce(g.lsn::text, ''))`) // the rows carry its error
	changed := make(map[catalog.Name]bool)
	var name catalog.Name
	_, err := pgx.ForEachRow(rows, []any{&name.Schema, &name.Relation}, func() error { changed[name] = true; return nil })
	if err != nil {
		return nil, fmt.Errorf("looking for changed tables: %w", err)
	}
	return changed, nil
}

func storeFigures(ctx context.Context, conn *pgx.Conn, name catalog.Name, f Figures) error {
	text, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("keeping figures: %w", err)
	}
	_, err = conn.Exec(ctx, `INSERT INTO kproxy_store.figures (table_schema, table_name, figures) VALUES ($1, $2, $3)
		ON CONFLICT (table_schema, table_name) DO UPDATE SET figures = excluded.figures`, name.Schema, name.Relation, string(text))
	if err != nil {
		return fmt.Errorf("keeping figures: %w", err)
	}
	return nil
}
