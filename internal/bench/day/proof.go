package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// patience bounds the wait until the changes of the day are applied; nothing is measured
// against it.
const patience = 30 * time.Minute

// prove waits until all changes of the day are applied, has `kproxy verify` prove the
// release, and compares the private store with the source. What does not hold is in the
// diary; the error is for what could not be asked.
func (s *site) prove(ctx context.Context, d *diary) error {
	conn, err := pgx.Connect(ctx, s.admin)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := s.awaitAll(ctx, conn); err != nil {
		return fmt.Errorf("waiting until everything is applied: %w", err)
	}
	if output, err := s.command(ctx, "verify").CombinedOutput(); ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
		d.wrong("kproxy verify: %v\n%s", err, output)
	}
	different, err := s.different(ctx, conn)
	if err != nil {
		return fmt.Errorf("comparing the private store with the source: %w", err)
	}
	if different != 0 {
		d.wrong("%d records of the private store are not what the source has", different)
	}
	reader, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer reader.Close(context.WithoutCancel(ctx))
	last, err := lookAt(ctx, reader)
	if err != nil {
		return fmt.Errorf("reading the release: %w", err)
	}
	if wrong := last.violation(); wrong != "" {
		d.wrong("the last state of %d rows: %s", last.rows, wrong)
	}
	return nil
}

// awaitAll waits until kproxy's position is beyond what is in the log now. A last
// change, of nothing, brings it there: before PostgreSQL 14 nothing else could.
func (s *site) awaitAll(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	end, applied, err := positions(ctx, conn)
	if err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "UPDATE patients SET cost = cost WHERE patient_id = (SELECT max(patient_id) FROM patients)"); err != nil {
		return err
	}
	for err == nil && applied < end {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.kproxy.Exited():
			return errors.New("kproxy ended")
		case <-time.After(glance):
		}
		_, applied, err = positions(ctx, conn)
	}
	return err
}

// different counts the records that only one of source and private store has, or that are
// not the same in both.
func (s *site) different(ctx context.Context, conn *pgx.Conn) (n int64, err error) {
	store := fmt.Sprintf("kproxy_store.records_%d", s.generation)
	rows, err := conn.Query(ctx, `SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped
		AND attname NOT LIKE 'kproxy%' ORDER BY attnum`, store)
	if err != nil {
		return 0, err
	}
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, err
	}
	const fewest = 10 // without the name and the national number
	if len(columns) < fewest {
		return 0, fmt.Errorf("the store has the columns %v", columns)
	}
	of := func(side string) string { return side + "." + strings.Join(columns, ", "+side+".") }
	compare := fmt.Sprintf("SELECT count(*) FROM patients s FULL JOIN %s r USING (patient_id) WHERE (%s) IS DISTINCT FROM (%s)", store, of("s"), of("r"))
	if _, err := conn.Exec(ctx, "SET work_mem = '256MB'"); err != nil {
		return 0, err
	}
	err = conn.QueryRow(ctx, compare).Scan(&n)
	return n, err
}
