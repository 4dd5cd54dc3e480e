package history

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/check"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/verify"
	"github.com/kproxy/kproxy/proxy/pool"
)

// Verify verifies the release of every protected table, as many at the same time as jobs. A table that
// does not fit its policy cannot be verified, which is an error. While the source is away, what is
// published is verified by what the store has kept; see [Unverified]. The results are stored if the private
// store can be written. Told is told what begins to be checked.
func Verify(ctx context.Context, c *config.Config, jobs int, told func(verify.Progress)) (verify.Report, error) {
	all := func(catalog.Name) bool { return true }
	report, err := verifyTables(ctx, c, all, verify.Options{Jobs: jobs, Progress: told})
	if err != nil {
		return nil, err
	}
	_ = recordProofs(ctx, c, report) // a proof holds on a standby, too, which keeps none
	return report, nil
}

// Unverified says what cannot be verified while the source is away. It is empty where the source answers.
func Unverified(ctx context.Context, c *config.Config) inspect.Report {
	conn, err := upstream.ConnectSource(ctx, c)
	if err == nil {
		_ = conn.Close(ctx)
	}
	if !check.SourceAway(err) {
		return nil
	}
	return inspect.Report{{
		Severity: inspect.Warning, Code: check.CodeSourceAway,
		What: "the source is away: what is published was verified against the private store, as of when the source was followed last; that the tables at the source are still those which the policy was accepted for was not",
		Fix:  "have the server of the source answer, and verify again: " + err.Error(),
	}}
}

// VerifyServers examines the servers of the readers. Each has to be the owner's server or to follow
// it. On a server that follows, it verifies what is published there, as the owner. It returns the
// reports by the servers' addresses, and findings about servers that readers cannot use; a server
// that does not answer is a warning. Jobs and told are as for Verify.
func VerifyServers(ctx context.Context, c *config.Config, jobs int, told func(verify.Progress)) (map[string]verify.Report, inspect.Report, error) {
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	own, err := check.AskOwnServer(ctx, conn)
	if err != nil {
		return nil, nil, err
	}
	proofs, findings := make(map[string]verify.Report), inspect.Report{}
	servers := c.Upstream.Reader.Servers()
	for _, server := range servers {
		reader := c.Upstream.Reader
		reader.Hosts = []config.Server{server}
		at := upstream.Address(reader)
		switch same, finding := lookAtServer(ctx, c, reader, own, len(servers) > 1); {
		case finding != nil:
			findings = append(findings, *finding)
		case !same:
			there := *c
			there.Upstream.Owner = owned(c.Upstream.Owner, server)
			if proofs[at], err = verifyTables(ctx, &there, func(catalog.Name) bool { return true }, verify.Options{Jobs: jobs, Progress: told}); err != nil {
				return nil, nil, fmt.Errorf("server %s: %w", at, err)
			}
		}
	}
	return proofs, findings, nil
}

// lookAtServer reports whether one of the readers' servers is the owner's own, or why readers
// cannot use it.
func lookAtServer(ctx context.Context, c *config.Config, reader config.Connection, own check.OwnServer, several bool) (same bool, finding *inspect.Finding) {
	if finding = check.ReaderServer(ctx, c, reader, own, several); finding != nil {
		return false, finding
	}
	conn, err := upstream.ConnectReader(ctx, c, reader)
	if err != nil {
		return false, &inspect.Finding{Severity: inspect.Warning, Code: check.CodeServer, What: "server " + upstream.Address(reader) + " does not answer", Fix: "sessions go to the other servers until it answers"}
	}
	defer conn.Close(context.WithoutCancel(ctx))
	results, err := conn.Exec(ctx, pool.Question).ReadAll()
	if err != nil {
		return false, nil
	}
	said, err := pool.ReadAnswer(results)
	return err == nil && said.Identity == own.Identity, nil
}

// owned returns the owner's connection to another server.
func owned(owner config.Connection, server config.Server) config.Connection {
	owner.Host, owner.Port, owner.Hosts = server.Host, server.Port, nil
	return owner
}

// verifyTables verifies the releases of the wanted tables, and of all that are released together
// with them. The connections that options ask for are made here.
func verifyTables(ctx context.Context, c *config.Config, wanted func(catalog.Name) bool, options verify.Options) (verify.Report, error) {
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	publications, _, err := upstream.Publications(ctx, conn, c)
	fix := "does not fit its policy; 'kproxy check' says why"
	if check.SourceAway(err) {
		publications, err = check.KeptPublications(ctx, conn, c)
		fix = "cannot be verified: the source is away, and the store has no release of it under this policy"
	}
	if err != nil {
		return nil, err
	}
	wanted = withKin(c.Policy, wanted)
	for _, t := range c.Policy.Tables {
		if wanted(t.Table) && !slices.ContainsFunc(publications, func(p catalog.Publication) bool { return p.Policy.Table == t.Table }) {
			return nil, fmt.Errorf("table %s %s", t.Table, fix)
		}
	}
	publications = slices.DeleteFunc(publications, func(p catalog.Publication) bool { return !wanted(p.Policy.Table) })
	options.Connect = func(ctx context.Context) (*pgx.Conn, error) { return upstream.ConnectOwner(ctx, c) }
	report, err := verify.Run(ctx, conn, publications, options)
	if err != nil {
		return nil, fmt.Errorf("proving the release: %w", err)
	}
	return report, nil
}

// withKin also wants the tables that are released together with a wanted one, since a proof is of
// all of them.
func withKin(policy catalog.Policy, wanted func(catalog.Name) bool) func(catalog.Name) bool {
	var all []catalog.Name
	for _, kind := range policy.People {
		if names := kind.Names(); slices.ContainsFunc(names, wanted) {
			all = append(all, names...)
		}
	}
	return func(name catalog.Name) bool { return wanted(name) || slices.Contains(all, name) }
}
