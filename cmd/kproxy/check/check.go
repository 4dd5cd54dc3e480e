// Package check checks whether a database is fit to be served under a configuration, sorts the
// findings by what they stand in the way of, and writes them for the operator.
package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/cmd/kproxy/views"
	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// Error says that the database is not fit to be served. It carries every finding.
type Error struct {
	Config *config.Config
	Report inspect.Report
}

func (e *Error) Error() string {
	return "the database is not ready to be published:\n" + Format(e.Config, e.Report)
}

// Code names the kind of error for scripts.
func (e *Error) Code() string { return "check" }

// Hint says what to do.
func (e *Error) Hint() string { return "run 'kproxy check' and apply the fixes" }

// Format writes findings, one per line, each with its line in the configuration, the problem and
// the fix.
func Format(c *config.Config, report inspect.Report) string {
	var b strings.Builder
	for _, f := range report {
		where := ""
		if f.Table != (catalog.Name{}) {
			where = c.Locate(f.Table, f.Column).String() + ": " + f.Table.String()
			if f.Column != "" {
				where += "." + f.Column
			}
			where += ": "
		}
		fmt.Fprintf(&b, "%s: %s%s\n", f.Severity, where, f.What)
		if f.Fix != "" {
			fmt.Fprintf(&b, "    fix: %s\n", strings.ReplaceAll(f.Fix, "\n", "\n         "))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Codes of the findings made here.
const (
	codeLogin        = "login"
	CodeServer       = "server"
	codePooler       = "pooler"
	CodeAuthQuery    = "auth-query"
	codeListenPlain  = "listen-plain"
	codeSlotPosition = "slot-position"
	codeConnections  = "connections"

	codeDescriptors = "descriptors"

	codeCertificate     = "certificate"
	codeCertificateKind = "certificate-kind"
)

// codePublication is a finding about the publication, or about a table in it.
const codePublication = "publication"

// Result is the result of a check of the database.
type Result struct {
	Report inspect.Report
	// Publications are complete only if no finding is an error.
	Publications []catalog.Publication
	Relations    []catalog.Relation
	// Views are the views over protected tables.
	Views []catalog.View
	// Before are the tables that were published before.
	Before []catalog.Name
	// Connections are those that the server of the owner has for everybody.
	Connections int
}

// Full connects as the owner and reports every finding about the database, and about the
// other roles and servers that serving needs.
func Full(ctx context.Context, c *config.Config) (Result, error) { return run(ctx, c, true) }

// Serving checks what serving depends on. It leaves out what does not matter once kproxy serves.
func Serving(ctx context.Context, c *config.Config) (Result, error) {
	return run(ctx, c, false)
}

// run leaves out, unless all is asked for, what does not matter once kproxy serves.
func run(ctx context.Context, c *config.Config, all bool) (Result, error) {
	on, err := upstream.ConnectBoth(ctx, c)
	if err != nil {
		return Result{}, err
	}
	defer on.Close(context.WithoutCancel(ctx))
	result, err := judge(ctx, on, c, all, nil)
	if err != nil && c.IsApart() && on.Source.IsClosed() {
		err = &upstream.SourceLostError{Err: err}
	}
	return result, err
}

// judge is run with the connections of both databases. While the source is away, there is none to it, and
// the publications are those that the store has kept.
func judge(ctx context.Context, on upstream.Databases, c *config.Config, all bool, kept []catalog.Publication) (Result, error) {
	conn := on.Owner
	var elsewhere inspect.Report
	if all {
		var err error
		if elsewhere, err = inspect.Installation(ctx, conn, checkInput(c)); err != nil || len(elsewhere.Errors()) > 0 {
			return Result{Report: elsewhere}, err
		}
	}
	report, err := findings(ctx, on, c, kept)
	if err != nil {
		return Result{}, err
	}
	report = slices.Concat(elsewhere, report)
	tolerateSurplus(c.Policy, report)
	server, err := inspect.Server(ctx, conn)
	if err != nil {
		return Result{}, fmt.Errorf("checking the server: %w", err)
	}
	if all {
		pooled, err := judgeOwnPooler(ctx, conn)
		if err != nil {
			return Result{}, err
		}
		report = append(report, pooled...)
	}
	if all && len(report.Errors()) == 0 {
		own, err := AskOwnServer(ctx, conn)
		if err != nil {
			return Result{}, err
		}
		sealed, err := checkSeal(ctx, conn, c)
		if err != nil {
			return Result{}, err
		}
		standing, err := checkStanding(ctx, conn, c)
		if err != nil {
			return Result{}, err
		}
		report = slices.Concat(report, sealed, standing)
		report = append(report, checkReaders(ctx, c, own)...)
		report = append(report, checkAuthQuery(ctx, c)...)
		report = append(report, checkListen(c)...)
		report = append(report, checkCertificates(c, time.Now())...)
		report = append(report, checkConnections(c, server.Connections)...)
		report = append(report, checkDescriptors(c, server.Connections)...)
		position, err := checkPosition(ctx, on, c)
		if err != nil {
			return Result{}, err
		}
		report = append(report, position...)
		report = append(report, checkPrimary(ctx, on.Source, c)...)
	}
	relations, publications, err := shapes(ctx, on, c, kept)
	if err != nil {
		return Result{}, err
	}
	views, findings, err := views.Check(ctx, on, c, relations, publications)
	if err != nil {
		return Result{}, err
	}
	functions, err := checkFunctions(ctx, conn, c.Policy)
	if err != nil {
		return Result{}, err
	}
	report = append(report, functions...)
	var before []catalog.Name
	if all {
		if before, err = Published(ctx, conn); err != nil {
			return Result{}, err
		}
		unaccepted, err := checkAccepted(ctx, on, publications)
		if err != nil {
			return Result{}, err
		}
		report = append(report, unaccepted...)
	}
	return Result{Report: append(report, findings...), Publications: publications, Relations: relations, Views: views, Before: before, Connections: server.Connections}, nil
}

// tolerateSurplus turns errors about tables that are in the publication but not in the policy into
// warnings. Publication and configuration cannot change at the same moment, and superfluous
// changes only cost bandwidth.
func tolerateSurplus(policy catalog.Policy, report inspect.Report) {
	for i, f := range report {
		if f.Code == codePublication && f.Table != (catalog.Name{}) && !upstream.Protects(policy, f.Table) {
			report[i].Severity = inspect.Warning
		}
	}
}

// checkConnections warns if sessions may take more connections than there are. With several servers
// they are shared out in a way that the configuration does not tell.
func checkConnections(c *config.Config, has int) inspect.Report {
	most := c.Limits.MaxConnections
	if most <= has || len(c.Upstream.Reader.Servers()) > 1 {
		return nil
	}
	return inspect.Report{{
		Severity: inspect.Warning, Code: codeConnections,
		What: fmt.Sprintf("limits.max_connections is %d, and the server has %d connections: beyond them, clients are refused instead of waiting", most, has),
		Fix:  fmt.Sprintf("write at most %d, or remove it: kproxy then takes what the server can spare", max(Spare(has), 1)),
	}}
}

// Spare returns how many of the connections that the server of the owner has are for sessions: some
// of the rest are kproxy's own, and a tenth is for others.
func Spare(has int) int {
	const own, least = 16, 5
	return max(has*9/10-own, least)
}

// checkListen warns if clients on other machines need not use TLS.
func checkListen(c *config.Config) inspect.Report {
	plain := c.PlainListeners()
	if len(plain) == 0 {
		return nil
	}
	return inspect.Report{{
		Severity: inspect.Warning, Code: codeListenPlain,
		What: fmt.Sprintf("other machines can connect to %s without TLS: what clients read then crosses the network for all to see", strings.Join(plain, ", ")),
		Fix:  "give tls a cert_file and a key_file, or every rule of access transport: tls or unix",
	}}
}

// shapes returns the relations that clients' statements can name, and what is published of the protected
// tables.
func shapes(ctx context.Context, on upstream.Databases, c *config.Config, kept []catalog.Publication) ([]catalog.Relation, []catalog.Publication, error) {
	if on.Source == nil {
		relations, err := inspect.RelationsBeside(ctx, on.Owner, c.Upstream.Reader.User, c.Policy, relationsOf(kept))
		if err != nil {
			return nil, nil, fmt.Errorf("reading the catalog: %w", err)
		}
		return relations, kept, nil
	}
	relations, ofSource, err := Relations(ctx, on, c)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the catalog: %w", err)
	}
	publications, _, err := inspect.Publish(ctx, on.Source, c.Policy, ofSource)
	return relations, publications, err
}

// checkPosition reports whether replication can continue from its position.
func checkPosition(ctx context.Context, on upstream.Databases, c *config.Config) (inspect.Report, error) {
	if on.Source == nil {
		return nil, nil // it does not while the source is away
	}
	server, err := inspect.Server(ctx, on.Source)
	if err != nil {
		return nil, fmt.Errorf("checking the server: %w", err)
	}
	err = ksync.Continues(ctx, on.Owner, on.Source, c.Slot, server.SystemIdentifier, Recoveries[c.Replication.Recovery])
	if err == nil {
		return nil, nil
	}
	finding := inspect.Finding{Severity: inspect.Error, Code: codeSlotPosition, What: err.Error()}
	if stop := (*ksync.StopError)(nil); errors.As(err, &stop) {
		finding.What, finding.Fix = stop.What, stop.Fix
	}
	return inspect.Report{finding}, nil
}

// Advise connects as the owner and reports what the values of the protected tables reveal, and what
// the policy allows although the operator may not have meant it. It reads the tables, and its
// findings contain values that the policy names: they are for the operator only. It reports
// nothing if something cannot be published.
func Advise(ctx context.Context, c *config.Config, checked Result) (inspect.Report, error) {
	if slices.ContainsFunc(checked.Report.Errors(), func(f inspect.Finding) bool { return f.Code != inspect.CodePublishedKey }) {
		return nil, nil
	}
	conn, err := upstream.ConnectSource(ctx, c)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	policy := OfSource(c)
	report, err := inspect.Joinable(ctx, conn, policy, checked.Relations)
	if err != nil {
		return nil, err
	}
	advice, err := inspect.Advise(ctx, conn, policy, checked.Publications)
	if err != nil {
		return nil, err
	}
	narrowing, err := adviseNarrowing(ctx, conn, c, checked.Relations, slices.Concat(checked.Report, report))
	if err != nil {
		return nil, err
	}
	coarse, err := adviseCoarse(ctx, conn, c, checked.Relations)
	return slices.Concat(report, narrowing, advice, coarse), err
}

// Own returns an *Error where the private store is another configuration's, or sealed with keys that this one does not have.
func Own(ctx context.Context, c *config.Config) error {
	conn, err := upstream.ConnectOwner(ctx, c)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	other, err := inspect.Installation(ctx, conn, checkInput(c))
	if err == nil && len(other.Errors()) == 0 {
		other, err = checkSeal(ctx, conn, c)
	}
	if err == nil && len(other.Errors()) > 0 {
		err = &Error{Config: c, Report: other}
	}
	return err
}

func checkInput(c *config.Config) inspect.CheckInput {
	whole, _ := ksync.NewPolicy(c.Policy, upstream.Place(c.LocateSetting("").File)) // policies can be written
	return inspect.CheckInput{
		Place: whole.Place, Fingerprint: whole.Fingerprint,
		Policy: c.Policy, Owner: c.Upstream.Owner.User, Reader: c.Upstream.Reader.User, Readers: furtherRoles(c), Finest: c.Finest(),
		Publication: c.Publication, Slot: c.Slot, Standby: c.HasPrimary(),
		TemporaryTables: c.TemporaryTables == config.TemporaryAllow, Distribute: c.Distributes(),
	}
}

// Recoveries maps the configuration's ways to recover to those of replication.
var Recoveries = map[config.Recovery]ksync.Recovery{
	config.Resynchronize: ksync.ResynchronizeOnLoss,
	config.StopOnLoss:    ksync.StopOnLoss,
}
