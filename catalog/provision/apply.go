package provision

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/scram"
)

// limits bound what Apply may cost the database: it takes short locks on
// protected tables (for the publication and the grants) and must not queue
// their writers behind a long transaction. The script's own settings come too late
// for its text, which the server reads as a whole.
const limits = `SET LOCAL lock_timeout = '10s'; SET LOCAL statement_timeout = '5min'; ` +
	`SET LOCAL client_encoding = 'UTF8'; SET LOCAL standard_conforming_strings = on`

// Apply runs [Script] and sets the passwords given, all in one transaction of
// its own on the administrator's connection. The server sees SCRAM-SHA-256
// verifiers, never a password. What is listed and cannot be granted is told by warnings,
// which reach the connection's OnNotice.
func Apply(ctx context.Context, conn *pgx.Conn, in Input) (err error) {
	in = in.withDefaults()
	script, err := Script(in)
	if err != nil {
		return err
	}
	tx, err := conn.Begin(ctx)
	if err != nil {
		return fmt.Errorf("preparing the database: %w", err)
	}
	defer func() {
		// Also where ctx has ended: the connection is the caller's.
		if rollback := tx.Rollback(context.WithoutCancel(ctx)); rollback != nil && !errors.Is(rollback, pgx.ErrTxClosed) {
			err = errors.Join(err, fmt.Errorf("rolling the preparation back: %w", rollback))
		}
	}()
	for _, sql := range []string{limits, script} {
		// The simple protocol takes several statements at once.
		if _, err := conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
			return fmt.Errorf("preparing the database: %w", hinted(err))
		}
	}
	for _, login := range slices.Concat([]Login{in.Owner, in.Reader}, in.Readers) {
		if err := setPassword(ctx, tx, login); err != nil {
			return err
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("preparing the database: %w", err)
	}
	return nil
}

// hinted adds the server's hint to its error, which leaves it out.
func hinted(err error) error {
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && refused.Hint != "" {
		return fmt.Errorf("%w; hint: %s", err, refused.Hint)
	}
	return err
}

func setPassword(ctx context.Context, tx pgx.Tx, login Login) error {
	if login.Password == "" {
		return nil
	}
	// A verifier, so that the password itself stays out of the server's log.
	verifier := login.Password
	if _, err := scram.Parse(verifier); err != nil {
		made, err := scram.New(login.Password)
		if err != nil {
			return fmt.Errorf("setting the password of role %s: %w", login.Name, err)
		}
		verifier = made.String()
	}
	alter := "ALTER ROLE " + catalog.QuoteIdentifier(login.Name) + " PASSWORD " + catalog.QuoteLiteral(verifier)
	if _, err := tx.Exec(ctx, alter); err != nil {
		return fmt.Errorf("setting the password of role %s: %w", login.Name, err)
	}
	return nil
}
