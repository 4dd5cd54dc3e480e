// Package explain shows what becomes of a statement under a configuration, and why it is refused.
package explain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/check"
	"github.com/kproxy/kproxy/cmd/kproxy/gate"
	"github.com/kproxy/kproxy/cmd/kproxy/status"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/cmd/kproxy/views"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/proxy"
	"github.com/kproxy/kproxy/rewrite"
	ksync "github.com/kproxy/kproxy/sync"
)

// Options say whose statements are explained, and how thoroughly.
type Options struct {
	// User is who sends them.
	User string
	// SearchPath is the session's from its beginning; empty is PostgreSQL's own.
	SearchPath string
	// Plan asks the server how it would run them.
	Plan bool
	// Offline asks nobody: what the database has beside the names that the configuration
	// lists is then not known.
	Offline bool
}

// Result is what becomes of one statement.
type Result struct {
	Statement string `json:"statement"`
	// Allowed says that it runs, as far as the gate, and the server if it was asked, say.
	Allowed bool `json:"allowed"`
	// Sent is what the server gets in its place, laid out in lines.
	Sent string `json:"sent,omitempty"`
	// Reads are the relations it reads, by clients' names.
	Reads []Read `json:"reads,omitempty"`
	// Effects are what it does to the session.
	Effects []string `json:"effects,omitempty"`
	// FromClasses says that questions about groups in it are answered from one row a class, not
	// one a record.
	FromClasses bool `json:"from_classes"`
	// Cached says that it, and others that differ in constants as a rule, need not be
	// parsed when they come again.
	Cached bool `json:"cached"`
	// Plan is the server's, by clients' names; NoPlan says why there is none.
	Plan   []string `json:"plan,omitempty"`
	NoPlan string   `json:"no_plan,omitempty"`
	// Refusal says why it does not run.
	Refusal *Refused `json:"refusal,omitempty"`
}

// Read is a relation that a statement reads.
type Read struct {
	Relation string `json:"relation"`
	// As is protected, view (published from what its tables publish), mirrored (rows as they are at the
	// source) or readable.
	As string `json:"as"`
	// Place is where the configuration names it, empty if it does not.
	Place string `json:"place,omitempty"`
}

// Refused is what the client is told, and for the operator why.
type Refused struct {
	// By is kproxy or server.
	By       string `json:"by"`
	SQLState string `json:"sqlstate"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
	// Position counts the characters of the statement from 1; 0 is unknown.
	Position int    `json:"position,omitempty"`
	Why      string `json:"why"`
}

// Run puts statements, one after the other as of one session, through the gate that
// 'kproxy serve' has under the configuration, and asks the server, as the reader role, to
// parse what comes of them. Nothing is run, but EXPLAIN where a plan is asked for.
func Run(ctx context.Context, c *config.Config, statements []string, o Options) ([]Result, error) {
	e := explainer{config: c, options: o}
	if err := e.open(ctx); err != nil {
		return nil, err
	}
	defer e.close(ctx)
	parameters := map[string]string{}
	if o.SearchPath != "" {
		parameters[rewrite.PathParameter] = o.SearchPath
	}
	in, _, err := e.gate.Open(o.User, gate.ReaderOf(c, o.User), parameters)
	if err != nil {
		return nil, fmt.Errorf("beginning a session: %w", err)
	}
	var all []Result
	for _, sql := range statements {
		one, next, err := e.explain(ctx, sql, in)
		if err != nil {
			return nil, err
		}
		all, in = append(all, one), next
	}
	return all, nil
}

type explainer struct {
	config    *config.Config
	options   Options
	gate      gate.Gate
	relations []catalog.Relation
	views     []catalog.View
	reader    *pgconn.PgConn // nil where the server is not asked
	// temporary says that the session has temporary tables, which the server's does not.
	temporary bool
}

// open makes the gate, by the database or by the configuration alone.
func (e *explainer) open(ctx context.Context) error {
	if e.options.Offline {
		for i, name := range configuredNames(e.config.Policy) {
			e.relations = append(e.relations, catalog.Relation{OID: catalog.OID(i + 1), Name: name})
		}
		// Of names that are called, those that all servers have are known.
		none := catalog.ServerNames{Callable: map[string]bool{}}
		e.gate.SetLimits(e.config, e.snapshots(nil, nil, func(s *catalog.Snapshot, _ map[catalog.Name]string) *catalog.Snapshot { return s.WithNames(none) }))
		return nil
	}
	conn, err := upstream.ConnectOwner(ctx, e.config)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	checked, err := check.Serving(ctx, e.config)
	if err != nil {
		return err
	}
	e.relations, e.views = catalog.WithApart(checked.Relations, checked.Views), checked.Views
	replication, err := storedStatus(ctx, conn, e.config.Policy)
	if err != nil {
		return err
	}
	withdrawn := status.Withdrawals(e.config.Policy, replication, check.Divide(e.config.Policy, checked.Report.Errors()).Broken)
	audiences := status.AudienceWithdrawals(e.config.Policy, replication)
	if err := views.AddWithdrawn(ctx, conn, e.config, e.views, withdrawn, audiences); err != nil {
		return err
	}
	names, err := inspect.Callable(ctx, conn)
	if err != nil {
		return err
	}
	e.gate.SetLimits(e.config, e.snapshots(withdrawn, audiences, func(s *catalog.Snapshot, gone map[catalog.Name]string) *catalog.Snapshot {
		return s.WithNames(names).WithViews(e.views, gone).WithReleased(status.Released(replication))
	}))
	reader := e.connection()
	if e.reader, err = upstream.ConnectReader(ctx, e.config, reader); err != nil {
		return &upstream.ConnectError{Role: reader.User, Address: upstream.Address(reader), Err: err}
	}
	return nil
}

// snapshots are what names resolve to, for the policy's own readers and for audiences.
func (e *explainer) snapshots(withdrawn map[catalog.Name]string, audiences map[string]map[catalog.Name]string, with func(*catalog.Snapshot, map[catalog.Name]string) *catalog.Snapshot) gate.Snapshots {
	policy := e.config.Policy
	all := gate.Snapshots{Own: with(catalog.NewSnapshot(policy, e.relations, withdrawn), withdrawn), Audiences: make(map[string]*catalog.Snapshot)}
	for _, a := range policy.Audiences {
		seen, _ := policy.For(a.Name)
		gone := audiences[a.Name]
		all.Audiences[a.Name] = with(catalog.NewSnapshot(seen, e.relations, gone), gone)
	}
	return all
}

// connection is that of the reader as whom the user's sessions run.
func (e *explainer) connection() config.Connection {
	name := gate.ReaderOf(e.config, e.options.User)
	for _, r := range e.config.Upstream.Readers {
		if r.Name == name && name != "" {
			r.Connection.Database = e.config.Upstream.Reader.Database
			return r.Connection
		}
	}
	return e.config.Upstream.Reader
}

func (e *explainer) close(ctx context.Context) {
	if e.reader != nil {
		_ = e.reader.Close(context.WithoutCancel(ctx))
	}
}

// configuredNames are the relations that a policy names.
func configuredNames(policy catalog.Policy) []catalog.Name {
	var names []catalog.Name
	for _, t := range policy.Tables {
		names = append(names, t.Table)
	}
	return append(names, policy.Readable...)
}

// storedStatus is as much of the store as decides which tables are served.
func storedStatus(ctx context.Context, conn *pgx.Conn, policy catalog.Policy) (ksync.Status, error) {
	status := ksync.Status{State: ksync.Following, Tables: make(map[catalog.Name]ksync.TableStatus)}
	rows, _ := conn.Query(ctx, `SELECT table_schema, table_name, generation, halted IS NOT NULL, shows IS NULL OR previous IS NOT NULL, coalesce(withheld_why, ''), coalesce(audiences, '{}')
		FROM kproxy_store.generation`) // the rows carry its error
	var name catalog.Name
	var table ksync.TableStatus
	var halted, published bool
	var audiences string
	_, err := pgx.ForEachRow(rows, []any{&name.Schema, &name.Relation, &table.Generation, &halted, &published, &table.Reason, &audiences}, func() error {
		if table.Audiences = nil; json.Unmarshal([]byte(audiences), &table.Audiences) != nil {
			table.Audiences = nil // those who see nothing of it are refused
		}
		table.State = ksync.Unpublished
		switch {
		case halted:
			table.State = ksync.Halted
		case published:
			table.State = ksync.Published
		}
		status.Tables[name] = table
		return nil
	})
	if err != nil {
		return status, upstream.Unprepared(err)
	}
	return status, nil
}

// explain is of one statement in a session; next is the session after it.
func (e *explainer) explain(ctx context.Context, sql string, in proxy.State) (one Result, next proxy.State, err error) {
	one = Result{Statement: sql}
	statement, err := e.gate.Rewrite(sql, in)
	if err != nil {
		one.Refusal = e.refusal(err)
		return one, in.Synced('I', true), nil
	}
	_, one.Cached, _ = e.gate.Recall(sql, in)
	one.FromClasses = e.gate.FromClasses(sql, in)
	one.Allowed, one.Sent = true, rewrite.Layout(statement.SQL)
	for _, name := range statement.Reads {
		one.Reads = append(one.Reads, e.read(catalog.ParseName(name)))
	}
	next = in
	for _, effect := range statement.Effects {
		if of, ok := effect.(rewrite.Effect); ok {
			one.Effects = append(one.Effects, rewrite.Describe(of))
			next = next.After(effect)
			e.temporary = e.temporary || strings.Contains(rewrite.Describe(of), "temporary")
		}
	}
	if e.reader != nil && !e.temporary {
		if err := e.ask(ctx, sql, statement, in, &one); err != nil {
			return one, next, err
		}
	}
	status := byte('I')
	if block, ok := next.(gate.State); ok && block.InBlock() {
		status = 'T'
	}
	return one, next.Synced(status, false), nil
}

func (e *explainer) read(name catalog.Name) Read {
	r := Read{Relation: name.String(), As: "readable"}
	switch {
	case slices.Contains(e.config.Policy.Mirrored(), name):
		r.As = "mirrored"
	case upstream.Protects(e.config.Policy, name):
		r.As = "protected"
	case slices.ContainsFunc(e.views, func(v catalog.View) bool { return v.Name == name }):
		r.As = "view"
	}
	if at := e.config.Locate(name, ""); at.Line > 0 {
		r.Place = at.String()
	}
	return r
}

// ask has the server parse what is sent, and plan it where that is asked for.
func (e *explainer) ask(ctx context.Context, sql string, statement proxy.Statement, in proxy.State, one *Result) error {
	_, err := e.reader.Prepare(ctx, "", statement.SQL, nil)
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) {
		one.Allowed = false
		one.Refusal = &Refused{
			By: "server", SQLState: refused.Code, Message: e.gate.ScrubMessage(refused.Message), Hint: e.gate.ScrubMessage(refused.Hint),
			Position: e.gate.Position(sql, in, int(refused.Position)),
		}
		one.Refusal.Why = e.whyServer(refused.Code, rewrite.NameAt(sql, one.Refusal.Position), statement.Reads)
		return nil
	}
	if err != nil {
		return fmt.Errorf("asking the server: %w", ksync.Reason(err))
	}
	if !e.options.Plan {
		return nil
	}
	plan, err := e.gate.Rewrite("EXPLAIN "+sql, in)
	if err != nil {
		one.NoPlan = "only queries have one"
		return nil
	}
	results, err := e.reader.Exec(ctx, plan.SQL).ReadAll()
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) {
		one.NoPlan = e.gate.ScrubMessage(refused.Message)
		return nil
	}
	if err != nil {
		return fmt.Errorf("asking the server for a plan: %w", ksync.Reason(err))
	}
	for _, result := range results {
		for _, row := range result.Rows {
			one.Plan = append(one.Plan, e.gate.ScrubPlan(string(row[0])))
		}
	}
	return nil
}

// refusal is one of the gate.
func (e *explainer) refusal(err error) *Refused {
	r := &Refused{By: "kproxy", SQLState: "0A000", Message: err.Error()}
	if refusal := (*rewrite.Refusal)(nil); errors.As(err, &refusal) {
		r.SQLState, r.Hint, r.Position = refusal.SQLState(), refusal.Hint(), refusal.Position()
		r.Why = e.why(refusal)
	}
	return r
}
