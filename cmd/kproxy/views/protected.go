package views

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
)

// DropProtected drops the stand-ins of readable relations that a configuration protects: they
// show raw rows under the names that the releases will have. Readers get an error until
// those are there.
func DropProtected(ctx context.Context, c *config.Config) error {
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, serializeSQL, pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("waiting for others who publish views: %w", err)
		}
		stored, err := storedViews(ctx, tx, "", c.Upstream.Reader.User)
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
			err := dropForAudiences(ctx, tx, t.Table)
			if err == nil {
				err = dropView(ctx, tx, catalog.Published(t.Table))
			}
			if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && isHeld(refused) {
				return fmt.Errorf("what stands for %s, which is protected now, cannot be dropped: transactions of readers have read it; end them, or try again when they have ended", t.Table)
			}
			if err != nil {
				return fmt.Errorf("dropping what stands for %s, which is protected now: %w", t.Table, err)
			}
			if err := forget(ctx, tx, "", t.Table, false, false); err != nil {
				return err
			}
		}
		return nil
	})
}
