package verify

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// Options say how Run goes about its work. The zero Options verify one table after another.
type Options struct {
	// Connect makes another connection as the one that Run is given. Nil makes none.
	Connect func(context.Context) (*pgx.Conn, error)
	// Jobs is how many tables are verified at the same time, each on a connection of its own;
	// tables that are released together count as one. Below 2 there is one at a time.
	Jobs int
	// Progress is told what begins to be checked. It is called by one goroutine at a time.
	Progress func(Progress)
}

// Progress says what begins to be checked of a table, and how many of the tables are verified.
type Progress struct {
	Table, Checks string
	Done, Tables  int
}

// begin pins the settings that the text form of values and the meaning of names depend
// on, and lets grouping stay in memory.
const begin = "SET LOCAL search_path = pg_catalog; SET LOCAL extra_float_digits = 1; " +
	"SET LOCAL DateStyle = 'ISO'; SET LOCAL TimeZone = 'UTC'; SET LOCAL jit = off; SET LOCAL work_mem = '128MB'"

// session is a transaction that verifies. All of a verification have one snapshot.
type session struct {
	ctx  context.Context
	tx   pgx.Tx
	tell func(table, checks string)
}

// job verifies a table, or some that are released together.
type job struct {
	tables int
	do     func(session) error
}

// verification is one run over all tables.
type verification struct {
	options Options
	jobs    []job
	tables  int

	mu   sync.Mutex
	next int // of the jobs
	done int // tables
}

// verifyAll verifies on one snapshot.
func verifyAll(ctx context.Context, conn *pgx.Conn, publications []catalog.Publication, options Options) (Report, error) {
	report := make(Report, len(publications))
	v := &verification{options: options, jobs: jobsFor(publications, report), tables: len(publications)}
	err := within(ctx, conn, "", func(tx pgx.Tx) error {
		snapshot, others := "", min(options.Jobs, len(v.jobs))-1
		if options.Connect != nil && others > 0 {
			if err := tx.QueryRow(ctx, "SELECT pg_catalog.pg_export_snapshot()").Scan(&snapshot); err != nil {
				return fmt.Errorf("exporting the snapshot: %w", err)
			}
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		failed := make(chan error)
		begun := 1
		go func() { failed <- v.work(session{ctx, tx, v.tell}) }()
		for ; snapshot != "" && begun <= others; begun++ {
			go func() { failed <- v.workBeside(ctx, snapshot) }()
		}
		var first error
		for range begun {
			if err := <-failed; err != nil && first == nil {
				first = err
				cancel()
			}
		}
		return first
	})
	return report, err
}

// jobsFor are the jobs that fill the report of some tables.
func jobsFor(publications []catalog.Publication, report Report) (jobs []job) {
	kinds := make(map[string][]int)
	for i, p := range publications {
		if p.Membership != nil {
			kinds[p.Membership.People.Kind] = append(kinds[p.Membership.People.Kind], i)
			continue
		}
		jobs = append(jobs, job{1, func(s session) (err error) {
			if report[i], err = s.verifyTable(p); err != nil {
				return fmt.Errorf("verifying %s: %w", p.Policy.Table, err)
			}
			return nil
		}})
	}
	for kind, places := range kinds {
		jobs = append(jobs, job{len(places), func(s session) error {
			of := s.newPersons()
			for _, i := range places {
				p, err := s.linked(publications[i])
				if err != nil {
					return err
				}
				of.add(p)
			}
			if err := of.verify(); err != nil {
				return fmt.Errorf("verifying the tables of %s: %w", kind, err)
			}
			for _, i := range places {
				report[i] = of.members[publications[i].Membership.Table].report
			}
			return nil
		}})
	}
	return jobs
}

// within does something in a transaction with a snapshot, or with one of its own.
func within(ctx context.Context, conn *pgx.Conn, snapshot string, do func(pgx.Tx) error) (err error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("verifying: %w", err)
	}
	defer func() {
		if failed := tx.Rollback(context.WithoutCancel(ctx)); failed != nil && !errors.Is(failed, pgx.ErrTxClosed) {
			err = errors.Join(err, fmt.Errorf("ending the verification: %w", failed))
		}
	}()
	settings := begin
	if snapshot != "" {
		settings = "SET TRANSACTION SNAPSHOT " + catalog.QuoteLiteral(snapshot) + "; " + begin
	}
	if _, err := conn.PgConn().Exec(ctx, settings).ReadAll(); err != nil {
		return fmt.Errorf("verifying: %w", err)
	}
	return do(tx)
}

// work does jobs until none is left.
func (v *verification) work(s session) error {
	for {
		v.mu.Lock()
		i := v.next
		v.next++
		v.mu.Unlock()
		if i >= len(v.jobs) || s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		if err := v.jobs[i].do(s); err != nil {
			return err
		}
		v.mu.Lock()
		v.done += v.jobs[i].tables
		v.mu.Unlock()
	}
}

// workBeside does the same on another connection. Where there is none to be had, the others do all.
func (v *verification) workBeside(ctx context.Context, snapshot string) error {
	conn, err := v.options.Connect(ctx)
	if err != nil {
		return nil //nolint:nilerr // fewer connections only take longer
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return within(ctx, conn, snapshot, func(tx pgx.Tx) error { return v.work(session{ctx, tx, v.tell}) })
}

// tell tells what begins to be checked.
func (v *verification) tell(table, checks string) {
	if v.options.Progress == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.options.Progress(Progress{Table: table, Checks: checks, Done: v.done, Tables: v.tables})
}
