package daemon

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/check"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
)

// namesInterval is how soon a function that comes into pg_catalog, and another definition of a
// listed function, are noticed.
const namesInterval = 3 * time.Second

// readNames reads what names behind a dot may mean, and which listed functions are not what was
// accepted.
func readNames(ctx context.Context, c *config.Config) (catalog.ServerNames, []check.UnacceptedFunction, error) {
	return readNamesThen(ctx, c, func() error { return nil })
}

// readNamesThen is readNames, and accepts no function that was never served unless then succeeds.
func readNamesThen(ctx context.Context, c *config.Config, then func() error) (names catalog.ServerNames, unaccepted []check.UnacceptedFunction, err error) {
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return names, nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	err = pgx.BeginFunc(ctx, conn, func(pgx.Tx) (err error) {
		if names, unaccepted, err = readNamesOn(ctx, conn, c); err != nil {
			return err
		}
		return then()
	})
	return names, unaccepted, err
}

func readNamesOn(ctx context.Context, conn *pgx.Conn, c *config.Config) (catalog.ServerNames, []check.UnacceptedFunction, error) {
	names, err := inspect.Callable(ctx, conn)
	if err != nil {
		return catalog.ServerNames{}, nil, err
	}
	unaccepted, err := check.FindUnacceptedFunctions(ctx, conn, c.Policy, true)
	return names, unaccepted, err
}

// readNames reads the server's names and the listed functions for the rewriter.
func (d *Daemon) readNames(ctx context.Context) {
	names, unaccepted, err := readNames(ctx, d.config())
	if err != nil {
		d.Logger.Warn("the names that statements may call could not be read; those known before stand", "error", err)
		return
	}
	d.takeNames(names)
	d.takeFunctions(unaccepted)
}

// takeNames gives the rewriter the names if they are others than before.
func (d *Daemon) takeNames(names catalog.ServerNames) {
	if !d.served.names.Same(names) {
		d.served.names = names
		d.gate.SetSnapshots(d.snapshots())
	}
}

// takeFunctions refuses clients the functions that are not what was accepted, and only those. It
// ends sessions that have called one of them: what they have prepared is not checked again. Views
// whose definitions call one are looked at.
func (d *Daemon) takeFunctions(unaccepted []check.UnacceptedFunction) {
	lost, changed := d.served.refuseFunctions(unaccepted)
	if !changed {
		return
	}
	d.gate.SetSnapshots(d.snapshots())
	d.proxy.EndCallers(lost...)
	d.served.log(d.config().Policy, d.syncer.Status())
	d.views.LookSoon()
}

// followNames reads the server's names and the listed functions again and again until ctx ends.
// While the database is out of reach, no function can be created there.
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
		names, unaccepted, err := readNamesOn(ctx, conn, c)
		if err != nil {
			_ = conn.Close(context.WithoutCancel(ctx))
			continue
		}
		d.do(ctx, func(context.Context) {
			if d.config() == c { // a reload has looked itself
				d.takeNames(names)
				d.takeFunctions(unaccepted)
			}
		})
	}
}
