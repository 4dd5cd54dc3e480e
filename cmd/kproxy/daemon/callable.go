package daemon

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/internal/config"
)

// callableInterval is how soon a function that comes into pg_catalog is noticed.
const callableInterval = 3 * time.Second

// callable reads what names behind a dot may mean.
func callable(ctx context.Context, c *config.Config) (catalog.ServerNames, error) {
	conn, err := connectOwner(ctx, c)
	if err != nil {
		return catalog.ServerNames{}, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return inspect.Callable(ctx, conn)
}

// lookAtCallable has the rewriter know the server's names.
func (d *Daemon) lookAtCallable(ctx context.Context) {
	names, err := callable(ctx, d.config)
	if err != nil {
		d.Logger.Warn("the names that statements may call could not be read; those known before stand", "error", err)
		return
	}
	d.know(names)
}

// know has the rewriter know these names.
func (d *Daemon) know(names catalog.ServerNames) {
	if !d.names.Same(names) {
		d.names = names
		d.gate.rewriter.Load().SetSnapshot(d.snapshot())
	}
}

// followCallable looks at the server's names until ctx ends. While the database is out of
// reach, nobody can put a function there.
func (d *Daemon) followCallable(ctx context.Context) {
	var conn *pgx.Conn
	defer func() {
		if conn != nil {
			_ = conn.Close(context.WithoutCancel(ctx))
		}
	}()
	tick := time.NewTicker(callableInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		c := d.effective.Load()
		if conn == nil || conn.IsClosed() {
			var err error
			if conn, err = connectOwner(ctx, c); err != nil {
				conn = nil
				continue
			}
		}
		names, err := inspect.Callable(ctx, conn)
		if err != nil {
			_ = conn.Close(context.WithoutCancel(ctx))
			continue
		}
		d.do(ctx, func(context.Context) { d.know(names) })
	}
}
