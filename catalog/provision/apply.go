package provision

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/scram"
)

// limits bound what Apply may cost the database: it takes short locks on
// protected tables (for the publication and the grants) and must not queue
// their writers behind a long transaction. The script's own settings come too late
// for its text, which the server reads as a whole.
const limits = `SET LOCAL lock_timeout = '10s'; SET LOCAL statement_timeout = '5min'; ` +
	`SET LOCAL client_encoding = 'UTF8'; SET LOCAL standard_conforming_strings = on`

// attempts is how often Apply tries where it meets others that prepare databases of the
// same server, which share its roles, or that change the same tables.
const attempts = 5

// Apply runs [Script] and sets the passwords given, all in one transaction of
// its own on the administrator's connection. The server sees SCRAM-SHA-256
// verifiers, never a password. What is listed and cannot be granted is told by warnings,
// which reach the connection's OnNotice. What others were in the way of is tried again.
func Apply(ctx context.Context, conn *pgx.Conn, in Input) error {
	in = in.withDefaults()
	script, err := Script(in)
	if err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		err := applyOnce(ctx, conn, in, script)
		if err == nil || attempt == attempts || !collided(err) || conn.IsClosed() {
			return err
		}
		// Others that collided wait for another while.
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Duration(attempt) * (50*time.Millisecond + rand.N(100*time.Millisecond))):
		}
	}
}

// collided tells of what fails because somebody else did something at the same time
// (PostgreSQL documentation, "Error Codes").
func collided(err error) bool {
	refused := (*pgconn.PgError)(nil)
	if !errors.As(err, &refused) {
		return false
	}
	switch refused.Code {
	case "40P01", // deadlock_detected
		"40001",          // serialization_failure
		"23505", "42710": // unique_violation, duplicate_object: both made what neither found
		return true
	case "XX000": // internal_error, which is never translated
		return strings.HasPrefix(refused.Message, "tuple concurrently ")
	default:
		return false
	}
}

// applyOnce runs the script in one transaction.
func applyOnce(ctx context.Context, conn *pgx.Conn, in Input, script string) (err error) {
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
	logins := []Login{in.Owner}
	if in.Side != SourceSide {
		logins = slices.Concat(logins, []Login{in.Reader}, in.Readers)
	}
	for _, login := range logins {
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
