package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/catalog/provision"
	"github.com/kproxy/kproxy/cmd/kproxy/check"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// preparation prepares the databases of a configuration as their administrators. It writes warnings.
type preparation struct {
	config   *config.Config
	file     string                    // that the configuration was read from
	admins   map[provision.Side]string // connection URLs
	warnings io.Writer
}

// prepare prepares the databases of some sides, in their order.
func (p *preparation) prepare(ctx context.Context, sides []provision.Side) error {
	for _, side := range sides {
		if p.admins[side] == "" {
			flag, variable, of := "--admin-url", adminEnv, ""
			switch side {
			case provision.SourceSide:
				flag, variable, of = "--source-admin-url", sourceAdminEnv, " to the source's database"
			case provision.ReleaseSide:
				of = " to the release's database"
			}
			return usageError{fmt.Errorf("setup needs an administrator's connection%s: set %s or %s, or use --print", of, flag, variable)}
		}
	}
	for _, side := range sides {
		if err := p.prepareSide(ctx, side); err != nil {
			return err
		}
	}
	return nil
}

func (p *preparation) prepareSide(ctx context.Context, side provision.Side) error {
	conn, err := p.connect(ctx, side)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	input, err := provisioned(p.config, p.file, side)
	if err != nil {
		return err
	}
	if input.Policy, err = p.present(ctx, conn, side); err != nil {
		return err
	}
	if err := provision.Apply(ctx, conn, input); err != nil || side != provision.ReleaseSide {
		return err
	}
	return p.mirrorTypes(ctx, conn)
}

// connect connects as the administrator, to the database that the configuration names: another one
// would be prepared for nothing.
func (p *preparation) connect(ctx context.Context, side provision.Side) (*pgx.Conn, error) {
	database := p.config.Upstream.Owner.Database
	if side == provision.SourceSide {
		database = p.config.Source.Database
	}
	admin, err := pgx.ParseConfig(p.admins[side])
	if err != nil {
		return nil, usageError{fmt.Errorf("the administrator's connection: %w", err)}
	}
	if admin.Database != "" && admin.Database != database {
		return nil, usageError{fmt.Errorf("the administrator's connection is to database %q, but the configuration's is %q", admin.Database, database)}
	}
	admin.Database = database
	told := map[string]bool{} // what is tried again warns again
	admin.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized != "WARNING" || told[n.Message] {
			return
		}
		told[n.Message] = true
		fmt.Fprintln(p.warnings, "warning: "+n.Message)
		if n.Hint != "" {
			fmt.Fprintln(p.warnings, "    fix: "+n.Hint)
		}
	}
	conn, err := pgx.ConnectConfig(ctx, admin)
	if err != nil {
		return nil, fmt.Errorf("connecting as the administrator: %w", ksync.Reason(err))
	}
	var standby bool
	if err := conn.QueryRow(ctx, "SELECT pg_catalog.pg_is_in_recovery()").Scan(&standby); err != nil || standby {
		_ = conn.Close(context.WithoutCancel(ctx))
		if err != nil {
			return nil, fmt.Errorf("asking the server what it is: %w", err)
		}
		return nil, usageError{errors.New("the administrator's connection leads to a standby, where nothing can be prepared: let it lead to the primary")}
	}
	return conn, nil
}

// present is the policy without the listed names that the database does not have, about
// which it warns. A protected table that is not there is an error, which tells of all names.
func (p *preparation) present(ctx context.Context, conn *pgx.Conn, side provision.Side) (catalog.Policy, error) {
	policy := p.config.Policy
	looked := policy
	switch side {
	case provision.SourceSide:
		looked.Readable, looked.Functions = nil, nil
	case provision.ReleaseSide:
		looked.Tables = nil
	}
	report, err := inspect.Names(ctx, conn, looked)
	if err == nil && side == provision.ReleaseSide && len(report) > 0 {
		report, err = p.withoutViews(ctx, ofRelease(report))
	}
	if err != nil || len(report) == 0 {
		return policy, err
	}
	if slices.ContainsFunc(report, func(f inspect.Finding) bool { return f.Code == inspect.CodeTableMissing }) {
		return policy, errors.New("nothing was prepared, as the database lacks what the configuration names:\n" + check.Format(p.config, report))
	}
	without := func(names []catalog.Name, code string) []catalog.Name {
		return slices.DeleteFunc(slices.Clone(names), func(name catalog.Name) bool {
			return slices.ContainsFunc(report, func(f inspect.Finding) bool { return f.Code == code && f.Table == name })
		})
	}
	policy.Readable = without(policy.Readable, inspect.CodeReadableMissing)
	policy.Functions = without(policy.Functions, inspect.CodeFunctionMissing)
	for i := range report {
		report[i].Severity = inspect.Warning
	}
	fmt.Fprintln(p.warnings, check.Format(p.config, report))
	return policy, nil
}

// ofRelease says of relations that the release's database lacks that tables of the source are mirrored.
func ofRelease(report inspect.Report) inspect.Report {
	for i, f := range report {
		if f.Fix == inspect.FixReadableMissing {
			report[i].What = "the database of the release has no such relation"
			report[i].Fix = f.Fix + "; if it is a table of the source, list it under mirrored"
		}
	}
	return report
}

// withoutViews leaves out what is said of listed names that are views of the source over protected tables. Where
// the source cannot be asked, mirrorTypes says so.
func (p *preparation) withoutViews(ctx context.Context, report inspect.Report) (inspect.Report, error) {
	source, err := p.source(ctx)
	if err != nil {
		return report, nil //nolint:nilerr // as said above
	}
	defer source.Close(context.WithoutCancel(ctx))
	views, err := inspect.Views(ctx, source, p.config.Policy, nil)
	return slices.DeleteFunc(report, func(f inspect.Finding) bool {
		return f.Code == inspect.CodeReadableMissing && slices.ContainsFunc(views, func(v catalog.View) bool { return v.Name == f.Table })
	}), err
}

// mirrorTypes makes the types of users that the store needs as the source has them. The source is
// asked as the role that reads it, or as its administrator.
func (p *preparation) mirrorTypes(ctx context.Context, conn *pgx.Conn) error {
	source, err := p.source(ctx)
	if err != nil {
		fmt.Fprintf(p.warnings, "warning: whether the release's database has the types of the source's columns is not known: %v\n    fix: prepare the source, and run this again; 'kproxy check' reports types that are missing\n", err)
		return nil
	}
	defer source.Close(context.WithoutCancel(ctx))
	relations, err := inspect.Relations(ctx, source, source.Config().User)
	if err != nil {
		return err
	}
	types, err := inspect.MirroredTypes(ctx, source, p.config.Policy, relations)
	if err != nil {
		return err
	}
	for _, t := range types {
		statements, _, err := t.Missing(ctx, conn)
		if err != nil {
			return err
		}
		for _, sql := range statements {
			// Each by itself, since a new label cannot be used before it is committed.
			if _, err := conn.Exec(ctx, sql); err != nil {
				return fmt.Errorf("making type %s: %w", t.Name, err)
			}
		}
		grant := fmt.Sprintf("GRANT USAGE ON SCHEMA %s TO %s, %s", catalog.QuoteIdentifier(t.Schema),
			catalog.QuoteIdentifier(p.config.Upstream.Owner.User), catalog.QuoteIdentifier(p.config.Upstream.Reader.User))
		if _, err := conn.Exec(ctx, grant); err != nil {
			return fmt.Errorf("granting the schema of type %s: %w", t.Name, err)
		}
	}
	return nil
}

func (p *preparation) source(ctx context.Context) (*pgx.Conn, error) {
	if p.admins[provision.SourceSide] == "" {
		return upstream.ConnectSource(ctx, p.config)
	}
	conn, err := p.connect(ctx, provision.SourceSide)
	if err != nil {
		return nil, err
	}
	// Names are read as they are everywhere.
	if _, err := conn.Exec(ctx, "SET search_path = pg_catalog"); err != nil {
		_ = conn.Close(context.WithoutCancel(ctx))
		return nil, fmt.Errorf("asking the source for its types: %w", err)
	}
	return conn, nil
}
