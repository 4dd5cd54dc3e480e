package check

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// codeSuperseded is the code of findings about a policy that was in force before another one.
const codeSuperseded = "policy-superseded"

// checkStanding warns of a policy that another one has superseded, as after somebody took a change back: a process
// that starts with it does not apply changes. (Of one that comes from another place, Installation tells.)
func checkStanding(ctx context.Context, conn *pgx.Conn, c *config.Config) (inspect.Report, error) {
	policy, err := ksync.NewPolicy(c.Policy, upstream.Place(c.LocateSetting("").File))
	if err != nil {
		return nil, err
	}
	s, err := ksync.StandingOf(ctx, conn, policy)
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) {
		return nil, nil // there is no store yet, or an old one, of which the check tells
	}
	if err != nil || s.IsInForce() || s.Was == 0 {
		return nil, err
	}
	return inspect.Report{{
		Severity: inspect.Warning, Code: codeSuperseded,
		What: fmt.Sprintf("the policy of the configuration is number %d, which number %d has superseded (accepted at %s): a kproxy that starts with it applies nothing",
			s.Was, s.InForce.Number, s.InForce.At.UTC().Format(time.DateTime)),
		Fix: "run 'kproxy accept', which shows the difference; or 'kproxy reload', where a kproxy applies changes",
	}}, nil
}
