package main

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/hospital"
)

const (
	// writers is how many sessions change the source.
	writers = 4
	// tick is how often changes become due.
	tick = 10 * time.Millisecond
	// mostTogether is how many changes a session that is behind puts into a transaction.
	mostTogether = 20
	// backlog is how many changes wait for a session before the hospital waits.
	backlog = 20_000
)

// Where the days stand among the values of an admission, in the order of the columns of
// the table patients.
const (
	birthDate     = 3
	admissionDate = 9
)

// work changes the source until ctx ends: each patient's changes go by one session, in
// their order.
func (s *site) work(ctx context.Context, d *diary, g *ledger) {
	var group sync.WaitGroup
	queues := make([]chan hospital.Change, writers)
	for w := range queues {
		queues[w] = make(chan hospital.Change, backlog)
		group.Go(func() {
			if err := s.writer(ctx, d, g, w, queues[w]); err != nil && ctx.Err() == nil {
				d.failed("changing the source: %v", err)
			}
		})
	}
	next, stop := iter.Pull(hospital.Changes(s.Patients, s.Seed))
	defer stop()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	due, last := 0.0, d.begin
	for ctx.Err() == nil {
		now := time.Now()
		due += s.Rate * busyness(moment(d.begin, d.length, now)) * now.Sub(last).Seconds()
		last = now
		d.note(askedChanges, float64(int(due)))
		for ; due >= 1; due-- {
			change, _ := next() // there is always another one
			select {
			case queues[change.PatientID%writers] <- today(change):
			case <-ctx.Done():
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
	for _, queue := range queues {
		close(queue)
	}
	group.Wait()
}

// newYear is the day after the last one that the table has in the morning.
var newYear = func() time.Time {
	for change := range hospital.Changes(1, 0) {
		if change.Kind == hospital.Admission {
			return change.Args[admissionDate].(time.Time)
		}
	}
	return time.Time{}
}()

// today has a newcomer admitted on the day that is lived through, at the same age: the
// generator is for a smaller hospital, and counts days by admissions.
func today(change hospital.Change) hospital.Change {
	if change.Kind == hospital.Admission {
		late := change.Args[admissionDate].(time.Time).Sub(newYear)
		change.Args[birthDate] = change.Args[birthDate].(time.Time).Add(-late)
		change.Args[admissionDate] = newYear
	}
	return change
}

// writer commits what is queued, and is done when the queue is closed and empty.
func (s *site) writer(ctx context.Context, d *diary, g *ledger, number int, queue <-chan hospital.Change) error {
	ctx = context.WithoutCancel(ctx) // what is queued is written
	conn, err := pgx.Connect(ctx, s.admin)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for {
		batch, ok := together(queue)
		if !ok {
			return nil
		}
		if err := commit(ctx, conn, batch); err != nil {
			return err
		}
		now := time.Now()
		d.note(commits, 1)
		d.note(changes, float64(len(batch)))
		var admissions []admission
		for _, change := range batch {
			if change.Kind == hospital.Admission {
				admissions = append(admissions, admission{change.PatientID, now})
			}
		}
		g.add(number, admissions)
	}
}

// together waits for a change and takes those that have come with it.
func together(queue <-chan hospital.Change) ([]hospital.Change, bool) {
	change, ok := <-queue
	if !ok {
		return nil, false
	}
	batch := []hospital.Change{change}
	for len(batch) < mostTogether {
		select {
		case change, ok := <-queue:
			if !ok {
				return batch, true
			}
			batch = append(batch, change)
		default:
			return batch, true
		}
	}
	return batch, true
}

// commit makes changes in one transaction. Each must hit one row: what the generator
// thinks is in the table is there.
func commit(ctx context.Context, conn *pgx.Conn, batch []hospital.Change) error {
	var b pgx.Batch
	for _, change := range batch {
		b.Queue(change.SQL, change.Args...)
	}
	results := conn.SendBatch(ctx, &b)
	for _, change := range batch {
		tag, err := results.Exec()
		if err == nil && tag.RowsAffected() != 1 {
			err = fmt.Errorf("a %s has changed %d rows", change.Kind, tag.RowsAffected())
		}
		if err != nil {
			_ = results.Close() // the first error tells
			return err
		}
	}
	return results.Close()
}
