package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/catalog"
	ksync "github.com/kproxy/kproxy/sync"
)

// walkGuarded changes the source and checks that no change can be distinguished from others:
// deleted records stay as ghosts, and new ones appear together.
func (g *guide) walkGuarded(ctx context.Context) {
	name := g.table.Table.SQL()
	g.step("a row deleted at the source cannot be missed", func() (string, error) {
		before, err := g.count(ctx, g.client, name, "")
		if err != nil {
			return "", err
		}
		if _, err := g.owner.Exec(ctx, "CREATE TEMP TABLE kept AS WITH gone AS (DELETE FROM "+name+" WHERE "+g.firstRows(name, 1)+" RETURNING *) SELECT * FROM gone"); err != nil {
			return "", err
		}
		if err := g.awaitStatus(ctx, func(s ksync.TableStatus) bool { return s.Ghosts == 1 }); err != nil {
			return "", err
		}
		after, err := g.count(ctx, g.client, name, "")
		if err == nil && after != before {
			err = fmt.Errorf("%d rows became %d", before, after)
		}
		return fmt.Sprintf("%d rows before and after; the private store has forgotten it", after), err
	})
	g.step("inserted again, it takes the row back that it left", func() (string, error) {
		if _, err := g.owner.Exec(ctx, "INSERT INTO "+name+" SELECT * FROM kept"); err != nil {
			return "", err
		}
		return "", g.awaitStatus(ctx, func(s ksync.TableStatus) bool { return s.Ghosts == 0 && s.Returned == 1 })
	})
	if key := g.numberedBy(); g.Guarded && key != "" {
		g.step("newcomers appear together", func() (string, error) { return g.newcomers(ctx, key) })
	}
}

// numberedBy is the column that is the table's key, where that is a whole number; else empty.
func (g *guide) numberedBy() string {
	relation := g.shape.Relation
	i := slices.IndexFunc(relation.Columns, func(c catalog.Column) bool {
		return len(relation.Key) == 1 && c.Name == relation.Key[0] && slices.Contains([]string{"int2", "int4", "int8"}, c.BaseType)
	})
	if i < 0 {
		return ""
	}
	return catalog.QuoteIdentifier(relation.Columns[i].Name)
}

// newcomers deletes rows, inserts them again with other keys, and waits until the new records
// have classes of their own.
func (g *guide) newcomers(ctx context.Context, key string) (string, error) {
	batch, err := g.batch()
	if err != nil {
		return "", err
	}
	name := g.table.Table.SQL()
	var newest int64
	if err := g.client.QueryRow(ctx, "SELECT coalesce(max("+catalog.ClassColumn(0)+"), 0) FROM "+name).Scan(&newest); err != nil {
		return "", err
	}
	classes := g.daemon.Status().Tables[g.table.Table].Classes
	for _, change := range []string{
		"CREATE TEMP TABLE newcomers AS WITH gone AS (DELETE FROM " + name + " WHERE " + g.firstRows(name, batch) + " RETURNING *) SELECT * FROM gone",
		"UPDATE newcomers SET " + key + " = " + key + " + (SELECT max(" + key + ") FROM " + name + ")",
		"INSERT INTO " + name + " SELECT * FROM newcomers",
	} {
		if _, err := g.owner.Exec(ctx, change); err != nil {
			return "", err
		}
	}
	started := time.Now()
	if err := g.awaitStatus(ctx, func(s ksync.TableStatus) bool { return s.Waiting == 0 && s.Classes > classes }); err != nil {
		return "", err
	}
	n, err := g.count(ctx, g.client, name, fmt.Sprintf("WHERE %s > %d", catalog.ClassColumn(0), newest))
	if err == nil && n < batch {
		err = fmt.Errorf("%d of %d are seen", n, batch)
	}
	return fmt.Sprintf("%d rows in classes of their own after %.0f s", n, time.Since(started).Seconds()), err
}

// batch is the least number of new records that are published together.
func (g *guide) batch() (int, error) {
	schema, err := g.shape.NewSchema()
	if err != nil {
		return 0, err
	}
	constraints, err := g.shape.ConstraintSet(schema)
	return lineage.LeastBatch(constraints, g.table.Updates.Crowd), err
}

// awaitStatus waits until all changes of the source are applied and the table stands so.
func (g *guide) awaitStatus(ctx context.Context, done func(ksync.TableStatus) bool) error {
	return g.awaitStatusOf(ctx, g.table.Table, done)
}

func (g *guide) awaitStatusOf(ctx context.Context, table catalog.Name, done func(ksync.TableStatus) bool) error {
	records, err := g.count(ctx, g.owner, table.SQL(), "")
	if err != nil {
		return err
	}
	for started := time.Now(); ; {
		if s := g.daemon.Status().Tables[table]; s.Records == records && done(s) {
			return nil
		}
		if time.Since(started) > patience {
			return errors.New("the change was not applied")
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
