package upstream

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/internal/config"
)

// Publications returns the publications of the tables that fit their policies, and the problems of
// the others. A source that is in another database than conn is asked on a connection of its own.
func Publications(ctx context.Context, conn *pgx.Conn, c *config.Config) ([]catalog.Publication, []catalog.Problem, error) {
	reader := c.Upstream.Reader.User
	if c.IsApart() {
		source, err := ConnectSource(ctx, c)
		if err != nil {
			return nil, nil, err
		}
		defer source.Close(context.WithoutCancel(ctx))
		conn, reader = source, c.Source.User // readers are not known there
	}
	relations, err := inspect.Relations(ctx, conn, reader)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the catalog: %w", err)
	}
	return inspect.Publish(ctx, conn, c.Policy, relations)
}

// Protects reports whether the policy protects the table.
func Protects(policy catalog.Policy, table catalog.Name) bool {
	return slices.ContainsFunc(policy.Tables, func(t catalog.TablePolicy) bool { return t.Table == table })
}
