package daemon

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/config"
)

// dropProtected drops the stand-ins of readable relations that a configuration protects: they
// show raw rows under the names that the releases will have. Readers get an error until
// those are there.
func dropProtected(ctx context.Context, c *config.Config) error {
	conn, err := connectOwner(ctx, c)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, takeTurn, pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("waiting for others who publish views: %w", err)
		}
		stored, err := storedViews(ctx, tx, c.Upstream.Reader.User)
		if errors.Is(err, errViewStore) {
			return nil // the check says so
		}
		if err != nil {
			return err
		}
		for _, t := range c.Policy.Tables {
			if s, known := stored[t.Table]; !known || !s.made {
				continue
			}
			if err := dropView(ctx, tx, catalog.Published(t.Table)); err != nil {
				return fmt.Errorf("dropping what stands for %s, which is protected now: %w", t.Table, err)
			}
			if err := forget(ctx, tx, t.Table, false); err != nil {
				return err
			}
		}
		return nil
	})
}
