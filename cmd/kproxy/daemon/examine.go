package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/internal/config"
)

// examined is a database that is fit to be served under a configuration.
type examined struct {
	report    inspect.Report // with its warnings
	relations []catalog.Relation
	// publications has one for each table. That of a broken table has a policy and
	// nothing else, unless the table can be published and something beside it is wrong.
	publications []catalog.Publication
	broken       map[catalog.Name]inspect.Report
	functions    map[catalog.Name]inspect.Report
	views        []catalog.View
}

// leniency says what errors are put up with: those about single protected tables, and
// those about single names that the policy lists as readable or as functions.
type leniency struct {
	table            func(catalog.TablePolicy) bool
	readable, called func(catalog.Name) bool
}

// examine checks the database. Errors about single names are put up with where may
// says so; all others are a *CheckError.
func examine(ctx context.Context, c *config.Config, may leniency) (examined, error) {
	checked, err := Check(ctx, c)
	if err != nil {
		return examined{}, err
	}
	publications := checked.Publications
	errs := parted(c.Policy, checked.Report.Errors())
	refused, broken := errs.all, errs.broken
	found := examined{report: checked.Report, relations: checked.Relations, broken: broken, functions: errs.functions, views: checked.Views}
	for _, t := range c.Policy.Tables {
		i := slices.IndexFunc(publications, func(p catalog.Publication) bool { return p.Policy.Table == t.Table })
		switch errs := broken[t.Table]; {
		case len(errs) > 0 && !may.table(t):
			refused = append(refused, errs...)
		case i >= 0:
			found.publications = append(found.publications, publications[i])
		case len(errs) > 0:
			found.publications = append(found.publications, catalog.Publication{Policy: t})
		default:
			return examined{}, errors.New("a table changed while it was being checked; try again")
		}
	}
	for _, name := range c.Policy.Readable {
		if errs := broken[name]; len(errs) > 0 && !may.readable(name) {
			refused = append(refused, errs...)
		}
	}
	for _, name := range c.Policy.Functions {
		if errs := errs.functions[name]; len(errs) > 0 && !may.called(name) {
			refused = append(refused, errs...)
		}
	}
	if len(refused) == 0 {
		if refused, err = refusedByValues(ctx, c, checked.Relations, may); err != nil {
			return examined{}, err
		}
	}
	if len(refused) > 0 {
		return examined{}, &CheckError{Config: c, Report: refused}
	}
	return found, nil
}

// refusedByValues are the columns of tables under a policy that is new, whose values tell
// records apart. What is served already is not looked at: it is not withdrawn because its
// records change, and 'kproxy check' tells of it.
func refusedByValues(ctx context.Context, c *config.Config, relations []catalog.Relation, may leniency) (inspect.Report, error) {
	fresh := catalog.Policy{Readable: c.Policy.Readable}
	for _, t := range c.Policy.Tables {
		if !may.table(t) {
			fresh.Tables = append(fresh.Tables, t)
		}
	}
	if len(fresh.Tables) == 0 {
		return nil, nil
	}
	conn, err := connectOwner(ctx, c)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return inspect.NearlyUnique(ctx, conn, fresh, relations)
}

// publishedBefore are the tables that the private store knows, none where there is no
// store yet.
func publishedBefore(ctx context.Context, conn *pgx.Conn) ([]catalog.Name, error) {
	rows, err := conn.Query(ctx, "SELECT table_schema, table_name FROM kproxy_store.generation")
	if err != nil {
		return nil, fmt.Errorf("reading the private store: %w", err)
	}
	names, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (n catalog.Name, err error) {
		return n, row.Scan(&n.Schema, &n.Relation)
	})
	if missingStore(err) {
		return nil, nil // the check says so
	}
	if err != nil {
		return nil, fmt.Errorf("reading the private store: %w", err)
	}
	return names, nil
}

// readPublished are the tables that the private store knows.
func readPublished(ctx context.Context, c *config.Config) ([]catalog.Name, error) {
	conn, err := connectOwner(ctx, c)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return publishedBefore(ctx, conn)
}
