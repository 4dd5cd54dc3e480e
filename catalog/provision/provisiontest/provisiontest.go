// Package provisiontest prepares databases for tests that ask no system catalog through kproxy.
package provisiontest

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
	"github.com/kproxy/kproxy/catalog/provision"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// The stand-ins are between these lines of the script.
const (
	begin = "-- Stand-ins for the system catalogs:"
	end   = "\n$kproxy$;\n"
)

// attempts is how often Apply tries while other tests change the same server's roles.
const attempts = 20

// Apply does what [provision.Apply] does, but for the stand-ins for the system catalogs. There are
// 179 of them, whose definitions take the server longer than all else that a test of a small
// table asks of it. Passwords are ASCII, and their verifiers take clients no time.
func Apply(ctx context.Context, conn *pgx.Conn, in provision.Input) error {
	script, err := provision.Script(in)
	if err != nil {
		return err
	}
	if script, err = withoutStandIns(script); err != nil {
		return err
	}
	for _, login := range slices.Concat([]provision.Login{in.Owner}, readers(in)) {
		if login.Password != "" {
			script += "ALTER ROLE " + catalog.QuoteIdentifier(login.Name) + " PASSWORD " + catalog.QuoteLiteral(pgtest.Verifier(login.Password)) + ";\n"
		}
	}
	for attempt := 1; ; attempt++ {
		// What fails in the middle is rolled back as a whole.
		_, err := conn.PgConn().Exec(ctx, script).ReadAll()
		if err == nil || attempt == attempts || !collided(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(50*time.Millisecond + rand.N(100*time.Millisecond)):
		}
	}
}

// readers are the logins that the script of the release makes.
func readers(in provision.Input) []provision.Login {
	if in.Side == provision.SourceSide {
		return nil
	}
	return slices.Concat([]provision.Login{in.Reader}, in.Readers)
}

func withoutStandIns(script string) (string, error) {
	before, after, found := strings.Cut(script, begin)
	if !found {
		return script, nil // of the source's side
	}
	_, after, found = strings.Cut(after, end)
	if !found {
		return "", fmt.Errorf("the block after %q does not end", begin)
	}
	return before + after, nil
}

// collided tells of what fails because another test prepares a database at the same time: a
// deadlock, a serialization failure, a role that both make, a row of pg_authid that both change.
func collided(err error) bool {
	refused := (*pgconn.PgError)(nil)
	return errors.As(err, &refused) && (slices.Contains([]string{"40P01", "40001", "23505", "42710"}, refused.Code) ||
		refused.Code == "XX000" && strings.HasPrefix(refused.Message, "tuple concurrently "))
}
