package pool

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"
)

// TrySession makes the connection to a server that a session without parameters of its own
// gets as a role, looks at it as a [Pool] does and closes it. The role names one server.
func TrySession(ctx context.Context, role *pgconn.Config) error {
	w := &want{role: role, parameters: effective(nil, role.RuntimeParams)}
	c, _, _, err := servers{}.open(ctx, newHost(address{role.Host, role.Port}), w)
	if err != nil {
		return err
	}
	c.terminate()
	return nil
}

// TryWatch makes the connection over which a [Pool] asks a server what it is, as its main
// role, and closes it. The role names one server.
func TryWatch(ctx context.Context, role *pgconn.Config) error {
	conn, err := connectWatch(ctx, newHost(address{role.Host, role.Port}), role)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}
