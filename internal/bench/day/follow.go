package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// glance is how often is asked where kproxy's position is, the resolution of the lag.
	glance = 20 * time.Millisecond
	// look is how often is asked who is visible.
	look = 100 * time.Millisecond
)

// mark is a place in the source's log, and a time at which all commits before it were
// done.
type mark struct {
	lsn uint64
	at  time.Time
}

// follow measures how long kproxy takes until its position is beyond a place of the log:
// what was committed before the place is in the private store then.
func (s *site) follow(ctx context.Context, d *diary) error {
	conn, err := pgx.Connect(ctx, s.admin)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var ahead []mark
	for ctx.Err() == nil {
		asked := time.Now()
		end, position, err := positions(ctx, conn)
		if err != nil {
			return err
		}
		now := time.Now()
		for len(ahead) > 0 && ahead[0].lsn <= position {
			d.note(appliedLag, float64(now.Sub(ahead[0].at))/float64(time.Millisecond))
			ahead = ahead[1:]
		}
		ahead = append(ahead, mark{end, asked})
		rest(ctx, glance-time.Since(asked))
	}
	return nil
}

// positions are the end of the source's log and the place up to which it is applied.
func positions(ctx context.Context, conn *pgx.Conn) (end, applied uint64, err error) {
	const both = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint, (lsn - '0/0')::bigint FROM kproxy_store.position"
	err = conn.QueryRow(ctx, both).Scan(&end, &applied)
	return end, applied, err
}

// appear measures how long newcomers wait: to be one of many, and then for kproxy. Records
// are numbered in the order of their commits, and published in batches of all that wait.
func (s *site) appear(ctx context.Context, d *diary, g *ledger) error {
	conn, err := pgx.Connect(ctx, s.admin)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	newest := fmt.Sprintf("SELECT patient_id FROM kproxy_store.records_%d WHERE kproxy_row IS NOT NULL ORDER BY kproxy_record DESC LIMIT 1", s.generation)
	before := int64(s.Patients)
	for ctx.Err() == nil {
		asked := time.Now()
		var patient int64
		if err := conn.QueryRow(ctx, newest).Scan(&patient); err != nil {
			return err
		}
		if patient > before {
			before = patient
			note(d, g.take(patient))
		}
		rest(ctx, look-time.Since(asked))
	}
	return nil
}

// note takes down a batch that has appeared. It was due when its last one came.
func note(d *diary, batch []admission) {
	if len(batch) == 0 {
		return
	}
	now := time.Now()
	last := batch[0].committed
	waits := make([]float64, len(batch))
	for i, a := range batch {
		waits[i] = now.Sub(a.committed).Seconds()
		if a.committed.After(last) {
			last = a.committed
		}
	}
	d.note(newcomers, waits...)
	d.took(dueLag, last)
}

// rest waits, unless ctx ends.
func rest(ctx context.Context, long time.Duration) {
	if long <= 0 {
		return
	}
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
