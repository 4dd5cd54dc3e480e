package check

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/login"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/proxy/pool"
	ksync "github.com/kproxy/kproxy/sync"
)

// furtherRoles are the names of the further reader roles.
func furtherRoles(c *config.Config) []string {
	var roles []string
	for _, r := range c.Upstream.Readers {
		roles = append(roles, r.Connection.User)
	}
	return roles
}

// checkReaders logs in as clients' sessions do: in every reader role, and in the first one on every
// server.
func checkReaders(ctx context.Context, c *config.Config, own OwnServer) inspect.Report {
	var report inspect.Report
	servers := c.Upstream.Reader.Servers()
	for _, server := range servers {
		reader := c.Upstream.Reader
		reader.Hosts = []config.Server{server}
		if finding := ReaderServer(ctx, c, reader, own, len(servers) > 1); finding != nil {
			report = append(report, *finding)
		}
	}
	if len(report) == len(servers) && !slices.ContainsFunc(report, func(f inspect.Finding) bool { return f.Code == codePooler }) { // there is none to serve by
		for i := range report {
			report[i].Severity = inspect.Error
		}
		return report
	}
	for _, further := range c.Upstream.Readers {
		further.Connection.Database = c.Upstream.Reader.Database
		conn, err := upstream.ConnectReader(ctx, c, further.Connection)
		if err != nil {
			report = append(report, cannotLogIn(further.Connection, err))
			continue
		}
		_ = conn.Close(ctx)
		if finding := trySession(ctx, c, further.Connection); finding != nil {
			report = append(report, *finding)
		}
	}
	return report
}

// invalidAuthorization is the SQLSTATE class of logins that are refused.
const invalidAuthorization = "28"

// ReaderServer reports what prevents the reader's server from serving sessions. If one of several
// servers does not answer, that is a warning.
func ReaderServer(ctx context.Context, c *config.Config, reader config.Connection, own OwnServer, several bool) *inspect.Finding {
	conn, err := upstream.ConnectReader(ctx, c, reader)
	if err != nil {
		finding := cannotLogIn(reader, err)
		if several {
			finding.Code, finding.What = CodeServer, "server "+upstream.Address(reader)+": "+finding.What
		}
		if refused := (*pgconn.PgError)(nil); several && (!errors.As(err, &refused) || !strings.HasPrefix(refused.Code, invalidAuthorization)) {
			finding.Severity, finding.Fix = inspect.Warning, "sessions go to the other servers until it answers"
		}
		return &finding
	}
	defer conn.Close(context.WithoutCancel(ctx))
	pooler := judgePooler(ctx, c, reader)
	if pooler != nil && pooler.Severity == inspect.Error {
		return pooler
	}
	for _, judge := range []func() *inspect.Finding{
		func() *inspect.Finding { return trySession(ctx, c, reader) },
		func() *inspect.Finding { return tryWatch(ctx, c, reader) },
		func() *inspect.Finding { return judgeServer(ctx, conn, reader, own) },
	} {
		if finding := judge(); finding != nil {
			return finding
		}
	}
	return pooler
}

// trySession opens the connection that a client's session gets. It returns nil if it can be used.
func trySession(ctx context.Context, c *config.Config, reader config.Connection) *inspect.Finding {
	return try(ctx, c, reader, pool.TrySession)
}

// tryWatch opens the connection that watches a server.
func tryWatch(ctx context.Context, c *config.Config, reader config.Connection) *inspect.Finding {
	return try(ctx, c, reader, pool.TryWatch)
}

// try opens a connection as serve does, within the same time.
func try(ctx context.Context, c *config.Config, reader config.Connection, connect func(context.Context, *pgconn.Config) error) *inspect.Finding {
	session, err := upstream.SessionConfig(c, reader)
	if err != nil {
		return nil // which is told already
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeouts.Connect)
	defer cancel()
	if err := connect(ctx, session); err != nil {
		finding := cannotLogIn(reader, err)
		return &finding
	}
	return nil
}

// unsupportedParameter is how PgBouncer refuses a setting in a startup packet.
const unsupportedParameter = "unsupported startup parameter"

// cannotLogIn is the finding about a reader's connection that cannot be opened or used.
func cannotLogIn(reader config.Connection, err error) inspect.Finding {
	unset, what, fix := pool.Unset(err), "", poolerFix
	switch refused := (*pgconn.PgError)(nil); {
	case len(unset) > 0:
		what = fmt.Sprintf("%s drops settings of readers' sessions: %v", upstream.Address(reader), ksync.Reason(err))
		fix = "have upstream.reader lead to the server itself, or give the role what is dropped, as docs/poolers.md has it:"
		for _, s := range unset {
			fix += fmt.Sprintf("\nALTER ROLE %s SET %s = %s;", catalog.QuoteIdentifier(reader.User), s.Name, s.Want)
		}
	case pool.IsPooler(err):
		what = fmt.Sprintf("readers' sessions through %s: %v", upstream.Address(reader), ksync.Reason(err))
	case errors.As(err, &refused) && strings.Contains(refused.Message, unsupportedParameter):
		what = fmt.Sprintf("a pooler is between kproxy and %s, and refuses the settings of readers' sessions: %v", upstream.Address(reader), ksync.Reason(err))
		fix = "have upstream.reader lead to the server itself, or the pooler ignore that setting; see docs/poolers.md"
	default:
		return inspect.Finding{
			Severity: inspect.Error, Code: codeLogin,
			What: fmt.Sprintf("the reader role %q cannot log in: %v", reader.User, ksync.Reason(err)),
			Fix:  "correct upstream.reader or upstream.readers and the password; 'kproxy setup' sets the role's password to the configured one",
		}
	}
	return inspect.Finding{Severity: inspect.Error, Code: codePooler, What: what, Fix: fix}
}

// checkAuthQuery looks up a user who cannot exist. A lookup that fails keeps out those alone who are
// looked up, and is a warning.
func checkAuthQuery(ctx context.Context, c *config.Config) inspect.Report {
	wrong := func(what, fix string) inspect.Report {
		return inspect.Report{{
			Severity: inspect.Warning, Code: CodeAuthQuery,
			What: "auth_query: " + what + ": users whom the configuration does not name cannot log in", Fix: fix,
		}}
	}
	look, err := login.NewLookup(c)
	if err != nil {
		return wrong(err.Error(), "correct auth_query")
	}
	if look == nil {
		return nil
	}
	defer look.Close()
	ctx, cancel := context.WithTimeout(ctx, c.AuthQuery.Timeout)
	defer cancel()
	_, found, err := look.Find(ctx, rand.Text())
	switch {
	case errors.Is(err, login.ErrConnection):
		return wrong(err.Error(), "correct auth_query's user and password; the server must let the role log in")
	case err != nil:
		return wrong(err.Error(), "the query takes the name as $1, and gives one row of one text: see docs/access.md; the server's log has its error")
	case found:
		return inspect.Report{{
			Severity: inspect.Error, Code: CodeAuthQuery,
			What: "auth_query: it finds a password for a user who cannot exist", Fix: "write a query that gives no row for unknown users",
		}}
	}
	return nil
}
