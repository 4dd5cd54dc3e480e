package daemon

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
)

// namesInterval is how soon a function that comes into pg_catalog is noticed.
const namesInterval = 3 * time.Second

// readNames reads what names behind a dot may mean.
func readNames(ctx context.Context, c *config.Config) (catalog.ServerNames, error) {
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return catalog.ServerNames{}, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return inspect.Callable(ctx, conn)
}

// readNames reads the server's names for the rewriter.
func (d *Daemon) readNames(ctx context.Context) {
	names, err := readNames(ctx, d.config())
	if err != nil {
		d.Logger.Warn("the names that statements may call could not be read; those known before stand", "error", err)
		return
	}
	d.takeNames(names)
}

// takeNames gives the rewriter the names if they are others than before.
func (d *Daemon) takeNames(names catalog.ServerNames) {
	if !d.served.names.Same(names) {
		d.served.names = names
		d.gate.Rewriter.Load().SetSnapshot(d.snapshot())
	}
}

// followNames reads the server's names again and again until ctx ends. While the database is
// out of reach, no function can be created there.
func (d *Daemon) followNames(ctx context.Context) {
	var conn *pgx.Conn
	defer func() {
		if conn != nil {
			_ = conn.Close(context.WithoutCancel(ctx))
		}
	}()
	tick := time.NewTicker(namesInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		c := d.config()
		if conn == nil || conn.IsClosed() {
			var err error
			if conn, err = upstream.ConnectOwner(ctx, c); err != nil {
				conn = nil
				continue
			}
		}
		names, err := inspect.Callable(ctx, conn)
		if err != nil {
			_ = conn.Close(context.WithoutCancel(ctx))
			continue
		}
		d.do(ctx, func(context.Context) { d.takeNames(names) })
	}
}
