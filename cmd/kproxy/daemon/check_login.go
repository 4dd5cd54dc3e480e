package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
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

// checkReaders logs in as clients' sessions will, in every reader role and as the first one
// on every server.
func checkReaders(ctx context.Context, c *config.Config, own ownServer) inspect.Report {
	var report inspect.Report
	servers := c.Upstream.Reader.Servers()
	for _, server := range servers {
		reader := c.Upstream.Reader
		reader.Hosts = []config.Server{server}
		if finding := checkServer(ctx, c, reader, own, len(servers) > 1); finding != nil {
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
		conn, err := connectReader(ctx, c, further.Connection)
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

// invalidAuthorization is the class of PostgreSQL's errors that say who may not log in.
const invalidAuthorization = "28"

// checkServer tells what keeps sessions from being served by the reader's one server. That
// one of several does not answer is a warning.
func checkServer(ctx context.Context, c *config.Config, reader config.Connection, own ownServer, several bool) *inspect.Finding {
	conn, err := connectReader(ctx, c, reader)
	if err != nil {
		finding := cannotLogIn(reader, err)
		if several {
			finding.Code, finding.What = codeServer, "server "+address(reader)+": "+finding.What
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

// address is where the connection's first server listens.
func address(c config.Connection) string {
	server := c.Servers()[0]
	return net.JoinHostPort(server.Host, fmt.Sprint(server.Port))
}

// trySession makes the connection that a client's session gets; nil = it can be used.
func trySession(ctx context.Context, c *config.Config, reader config.Connection) *inspect.Finding {
	return try(ctx, c, reader, pool.TrySession)
}

// tryWatch makes the connection that asks a server again and again what it is.
func tryWatch(ctx context.Context, c *config.Config, reader config.Connection) *inspect.Finding {
	return try(ctx, c, reader, pool.TryWatch)
}

// try makes a connection as serve does, in the time that it has there.
func try(ctx context.Context, c *config.Config, reader config.Connection, connect func(context.Context, *pgconn.Config) error) *inspect.Finding {
	session, err := sessionConfig(c, reader)
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

func connectReader(ctx context.Context, c *config.Config, reader config.Connection) (*pgconn.PgConn, error) {
	session, err := sessionConfig(c, reader)
	if err != nil {
		return nil, err
	}
	session.ConnectTimeout = c.Timeouts.Connect
	return pgconn.ConnectConfig(ctx, session)
}

// unsupportedParameter is how PgBouncer refuses a setting in a startup packet.
const unsupportedParameter = "unsupported startup parameter"

// cannotLogIn is the finding of a connection of readers' that cannot be made, or not be used.
func cannotLogIn(reader config.Connection, err error) inspect.Finding {
	unset, what, fix := pool.Unset(err), "", poolerFix
	switch refused := (*pgconn.PgError)(nil); {
	case len(unset) > 0:
		what = fmt.Sprintf("%s drops settings of readers' sessions: %v", address(reader), ksync.Reason(err))
		fix = "have upstream.reader lead to the server itself, or give the role what is dropped, as docs/poolers.md has it:"
		for _, s := range unset {
			fix += fmt.Sprintf("\nALTER ROLE %s SET %s = %s;", catalog.QuoteIdentifier(reader.User), s.Name, s.Want)
		}
	case pool.IsPooler(err):
		what = fmt.Sprintf("readers' sessions through %s: %v", address(reader), ksync.Reason(err))
	case errors.As(err, &refused) && strings.Contains(refused.Message, unsupportedParameter):
		what = fmt.Sprintf("a pooler is between kproxy and %s, and refuses the settings of readers' sessions: %v", address(reader), ksync.Reason(err))
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

// checkAuthQuery asks for a user who cannot exist.
func checkAuthQuery(ctx context.Context, c *config.Config) inspect.Report {
	wrong := func(what, fix string) inspect.Report {
		return inspect.Report{{Severity: inspect.Error, Code: codeAuthQuery, What: "auth_query: " + what, Fix: fix}}
	}
	look, err := newLookup(c)
	if err != nil {
		return wrong(err.Error(), "correct auth_query")
	}
	if look == nil {
		return nil
	}
	defer look.close()
	ctx, cancel := context.WithTimeout(ctx, c.AuthQuery.Timeout)
	defer cancel()
	_, found, err := look.find(ctx, rand.Text())
	switch {
	case errors.Is(err, errLookupConnection):
		return wrong(err.Error(), "correct auth_query's user and password; the server must let the role log in")
	case err != nil:
		return wrong(err.Error(), "the query takes the name as $1, and gives one row of one text: see docs/access.md")
	case found:
		return wrong("it finds a password for a user who cannot exist", "write a query that gives no row for unknown users")
	}
	return nil
}
