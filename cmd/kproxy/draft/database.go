// Package draft drafts the configuration of kproxy for a database, or the policy of a CSV file,
// from names and values. For a database it also measures the effect of the draft on the records.
package draft

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/propose"
	ksync "github.com/kproxy/kproxy/sync"
)

// DefaultSample is the default of Options.Sample.
const DefaultSample = 10_000

// Options say which tables of a database to read, and what to write into the configuration.
type Options struct {
	// DSN is a libpq connection string; libpq's environment counts as well.
	DSN string
	// Tables are patterns of names, with or without a schema, as path.Match has them; empty
	// is all tables. Schemas are those to look in; empty is all but the system's.
	Tables, Schemas []string
	// Sample is the number of records that are read of each table; 0 is all.
	Sample int
	Seed   uint64
	// Out is the path of the configuration. The files of passwords stand beside it.
	Out string
	// User is who may log in, Listen where.
	User, Listen string
	// Progress, if not nil, receives the present activity and its progress.
	Progress func(what string, done, total int)
}

func (o Options) tell(format string, arguments ...any) func(done, total int) {
	return func(done, total int) {
		if o.Progress != nil {
			o.Progress(fmt.Sprintf(format, arguments...), done, total)
		}
	}
}

// ErrNobody means that no table has personal data that can be published.
var ErrNobody = errors.New("no table with data of persons was found that could be published")

// Database drafts a configuration for a database. It reads the database in one READ ONLY
// transaction and writes no files. The error is the database's, or that of a pattern that
// matches no table. If no table is to be protected, the outcome gives the reason for each,
// and has no Text.
func Database(ctx context.Context, o Options) (*Outcome, error) {
	conn, err := connect(ctx, o.DSN)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, fmt.Errorf("beginning to read: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	source, err := look(ctx, tx, o)
	if err != nil {
		return nil, err
	}
	tables, err := source.read(ctx, tx, o)
	if err != nil {
		return nil, err
	}
	p := &proposing{Options: o, tx: tx, source: source, proposals: propose.Database(tables)}
	if err := p.findPeople(ctx, tables); err != nil {
		return nil, err
	}
	if err := p.fitAll(ctx); err != nil {
		return nil, err
	}
	effects, err := p.measure(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.measurePeople(ctx); err != nil {
		return nil, err
	}
	surroundings, err := lookAround(ctx, tx)
	if err != nil {
		return nil, err
	}
	return p.outcome(conn.Config(), surroundings, effects, source.skipped)
}

func connect(ctx context.Context, dsn string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("the connection string: %w", err)
	}
	config.RuntimeParams["application_name"] = "kproxy init"
	config.RuntimeParams["standard_conforming_strings"] = "on"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the database: %w", ksync.Reason(err))
	}
	return conn, nil
}

// drafts are those of the protected tables.
func drafts(proposals []propose.Proposal) []propose.Draft {
	var all []propose.Draft
	for _, p := range proposals {
		if p.Verdict == propose.Protect {
			all = append(all, p.Draft)
		}
	}
	return all
}

// of are the tables with a verdict.
func of(proposals []propose.Proposal, verdict propose.Verdict) []catalog.Name {
	var names []catalog.Name
	for _, p := range proposals {
		if p.Verdict == verdict {
			names = append(names, p.Table)
		}
	}
	slices.SortFunc(names, catalog.Name.Compare)
	return names
}
