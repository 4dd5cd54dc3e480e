package check

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
)

// Fit is a database that is fit to be served under a configuration.
type Fit struct {
	Report    inspect.Report // with its warnings
	Relations []catalog.Relation
	// Publications has one entry for each table. The entry of a broken table has only a policy,
	// unless the table can be published and something else is wrong.
	Publications []catalog.Publication
	Broken       map[catalog.Name]inspect.Report
	Functions    map[catalog.Name]inspect.Report
	Views        []catalog.View
	Connections  int // as in Result
}

// Leniency says which errors are tolerated: those about single protected tables, and those about
// single names that the policy lists as readable or as functions.
type Leniency struct {
	Table            func(catalog.TablePolicy) bool
	Readable, Called func(catalog.Name) bool
	// StandIn names what stands for a relation that was readable, which a process drops when it takes
	// over a policy that protects the relation. It may be nil.
	StandIn func(catalog.Name) bool
}

// Fitness checks the database. It tolerates errors about single names as may says. All others are
// returned as an *Error.
func Fitness(ctx context.Context, c *config.Config, may Leniency) (Fit, error) {
	checked, err := Full(ctx, c)
	if err != nil {
		return Fit{}, err
	}
	return fitness(ctx, c, checked, may)
}

// fitness is Fitness of a database that was checked.
func fitness(ctx context.Context, c *config.Config, checked Result, may Leniency) (found Fit, err error) {
	if slices.ContainsFunc(checked.Report, func(f inspect.Finding) bool { return f.Code == inspect.CodeOtherConfiguration }) {
		return Fit{}, &Error{Config: c, Report: checked.Report}
	}
	publications := checked.Publications
	if may.StandIn != nil {
		checked.Report = slices.DeleteFunc(checked.Report, func(f inspect.Finding) bool { return f.Code == inspect.CodeRawGrant && may.StandIn(f.Table) })
	}
	errs := Divide(c.Policy, checked.Report.Errors())
	refused, broken := errs.All, errs.Broken
	found = Fit{Report: checked.Report, Relations: checked.Relations, Broken: broken, Functions: errs.Functions, Views: checked.Views, Connections: checked.Connections}
	for _, t := range c.Policy.Tables {
		i := slices.IndexFunc(publications, func(p catalog.Publication) bool { return p.Policy.Table == t.Table })
		switch errs := broken[t.Table]; {
		case len(errs) > 0 && !may.Table(t):
			refused = append(refused, errs...)
		case i >= 0:
			found.Publications = append(found.Publications, publications[i])
		case len(errs) > 0:
			found.Publications = append(found.Publications, catalog.Publication{Policy: t})
		default:
			return Fit{}, errors.New("a table changed while it was being checked; try again")
		}
	}
	for _, name := range c.Policy.Readable {
		if errs := broken[name]; len(errs) > 0 && !may.Readable(name) {
			refused = append(refused, errs...)
		}
	}
	for _, name := range c.Policy.Functions {
		if errs := errs.Functions[name]; len(errs) > 0 && !may.Called(name) {
			refused = append(refused, errs...)
		}
	}
	if len(refused) == 0 {
		if refused, err = refusedByValues(ctx, c, checked.Relations, may); err != nil {
			return Fit{}, err
		}
	}
	if len(refused) > 0 {
		return Fit{}, &Error{Config: c, Report: refused}
	}
	return found, nil
}

// refusedByValues reports columns whose values identify records, in tables under a new policy. It
// leaves out tables that are served already: they are not withdrawn because their records change,
// and 'kproxy check' reports them.
func refusedByValues(ctx context.Context, c *config.Config, relations []catalog.Relation, may Leniency) (inspect.Report, error) {
	fresh := catalog.Policy{Readable: OfSource(c).Readable}
	for _, t := range c.Policy.Tables {
		if !may.Table(t) {
			fresh.Tables = append(fresh.Tables, t)
		}
	}
	if len(fresh.Tables) == 0 {
		return nil, nil
	}
	conn, err := upstream.ConnectSource(ctx, c)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return inspect.NearlyUnique(ctx, conn, fresh, relations)
}

// Published returns the tables in the private store, none if there is no store yet.
func Published(ctx context.Context, conn *pgx.Conn) ([]catalog.Name, error) {
	rows, err := conn.Query(ctx, "SELECT table_schema, table_name FROM kproxy_store.generation")
	if err != nil {
		return nil, fmt.Errorf("reading the private store: %w", err)
	}
	names, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (n catalog.Name, err error) {
		return n, row.Scan(&n.Schema, &n.Relation)
	})
	if upstream.MissingStore(err) {
		return nil, nil // the check says so
	}
	if err != nil {
		return nil, fmt.Errorf("reading the private store: %w", err)
	}
	return names, nil
}

// ReadPublished connects as the owner and returns the tables in the private store.
func ReadPublished(ctx context.Context, c *config.Config) ([]catalog.Name, error) {
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return Published(ctx, conn)
}
