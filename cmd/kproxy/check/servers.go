package check

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/proxy/pool"
	ksync "github.com/kproxy/kproxy/sync"
)

// OwnServer identifies the server of upstream.owner.
type OwnServer struct {
	pool.Identity
	timeline uint64
}

// AskOwnServer identifies the server. It may be a standby, for verify.
func AskOwnServer(ctx context.Context, conn *pgx.Conn) (OwnServer, error) {
	var own OwnServer
	results, err := conn.PgConn().Exec(ctx, pool.Question).ReadAll()
	if err != nil {
		return own, fmt.Errorf("asking the owner's server what it is: %w", err)
	}
	said, err := pool.ReadAnswer(results)
	own.Identity, own.timeline = said.Identity, said.Timeline
	return own, err
}

// judgeServer compares one of the readers' servers with the owner's. It returns nil if it is the
// same, or may be a standby of it.
func judgeServer(ctx context.Context, conn *pgconn.PgConn, reader config.Connection, own OwnServer) *inspect.Finding {
	at := "server " + upstream.Address(reader)
	finding := inspect.Finding{Severity: inspect.Error, Code: CodeServer}
	results, err := conn.Exec(ctx, pool.Question).ReadAll()
	if err != nil {
		finding.What = fmt.Sprintf("%s does not tell whose copy it is: %v", at, ksync.Reason(err))
		finding.Fix = "GRANT EXECUTE ON FUNCTION pg_catalog.pg_control_system(), pg_catalog.pg_control_checkpoint(), pg_catalog.pg_control_recovery() TO " + catalog.QuoteIdentifier(reader.User)
		return &finding
	}
	said, err := pool.ReadAnswer(results)
	switch {
	case err != nil:
		finding.What, finding.Fix = at+" does not tell what it is: "+err.Error(), "see its log"
	case said.System != own.System || said.Database != own.Database:
		finding.What = at + " is no copy of the owner's server"
		finding.Fix = "take it out of upstream.reader.hosts, which are the primary and its physical standbys"
	case !said.Recovering && said.Identity != own.Identity:
		finding.What = at + " is a second primary: it is of the same cluster, takes changes of its own and shows what was published before"
		finding.Fix = "stop it and make it a standby again (pg_rewind); or, if it is the one that is meant, have upstream.owner.host lead to it. Readers get nothing from it"
	case said.Recovering && said.Timeline > own.timeline:
		finding.What = at + " follows another primary than the owner's server: it is on timeline " + strconv.FormatUint(said.Timeline, 10) + ", and not on " + strconv.FormatUint(own.timeline, 10)
		finding.Fix = "make it follow the owner's server (pg_rewind, or a new copy). Readers get nothing from it"
	default:
		return nil
	}
	return &finding
}

// poolerFix is the fix for a pooler that shares session state.
const poolerFix = "have upstream.reader lead to the server itself, or give the pooler pool_mode = session for this role; see docs/poolers.md"

// judgePooler reports a pooler through which readers' sessions would share state.
func judgePooler(ctx context.Context, c *config.Config, reader config.Connection) *inspect.Finding {
	session, err := upstream.SessionConfig(c, reader)
	if err != nil {
		return nil // which is told already
	}
	session.ConnectTimeout = c.Timeouts.Connect
	found, err := pool.FindPooler(ctx, session)
	switch {
	case err == nil && found.Shares():
		return &inspect.Finding{
			Severity: inspect.Error, Code: codePooler,
			What: found.String() + " is between kproxy and " + upstream.Address(reader) + ": what a session sets and prepares there is found by others",
			Fix:  poolerFix,
		}
	case err == nil && found == pool.SessionPooler:
		return &inspect.Finding{
			Severity: inspect.Warning, Code: codePooler,
			What: found.String() + " is between kproxy and " + upstream.Address(reader) + ", which keeps connections itself",
			Fix:  "have upstream.reader lead to the server itself; see docs/poolers.md",
		}
	default:
		return nil
	}
}

// judgeOwnPooler reports a pooler between kproxy and the owner's server.
func judgeOwnPooler(ctx context.Context, conn *pgx.Conn) (inspect.Report, error) {
	// In the simple protocol, which poolers pass on whatever they keep of prepared statements.
	results, err := conn.PgConn().Exec(ctx, "SELECT pg_catalog.pg_backend_pid()").ReadAll()
	if err != nil {
		return nil, fmt.Errorf("asking for the server process: %w", err)
	}
	own := strconv.FormatUint(uint64(conn.PgConn().PID()), 10)
	if len(results) == 1 && len(results[0].Rows) == 1 && string(results[0].Rows[0][0]) == own {
		return nil, nil
	}
	return inspect.Report{{
		Severity: inspect.Error, Code: codePooler,
		What: "a pooler is between kproxy and the owner's server: replication, and the lock of the process that applies, need a connection of their own",
		Fix:  "have upstream.owner.host lead to the server itself",
	}}, nil
}
