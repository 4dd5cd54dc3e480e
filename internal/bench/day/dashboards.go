package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// watchDashboards refreshes all dashboards until ctx ends. Each has a session while it is
// refreshed; their queries wait for each other in a queue, as those of a BI server do.
func (s *site) watchDashboards(ctx context.Context, d *diary) {
	var group sync.WaitGroup
	queue := make(chan struct{}, s.Queue)
	for number := range s.Dashboards {
		group.Go(func() {
			rng := rand.New(rand.NewPCG(s.Seed, uint64(number)))
			queries := dashboard(rng)
			rest(ctx, time.Duration(rng.Int64N(int64(s.Refresh))))
			for ctx.Err() == nil {
				begin := time.Now()
				err := s.refresh(ctx, d, queries, queue)
				if ctx.Err() != nil {
					return
				}
				if err != nil {
					d.failed("refreshing dashboard %d: %v", number, err)
				} else {
					d.took(refreshes, begin)
				}
				rest(ctx, s.Refresh-time.Since(begin))
			}
		})
	}
	group.Wait()
}

// refresh asks a dashboard's queries.
func (s *site) refresh(ctx context.Context, d *diary, asked []query, queue chan struct{}) error {
	begin := time.Now()
	conn, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	d.took(logins, begin)
	for i, q := range asked {
		select {
		case queue <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		begin := time.Now()
		err := read(ctx, conn, q)
		<-queue
		if err != nil {
			return fmt.Errorf("query %d: %w", i+1, err)
		}
		d.took(queries, begin)
	}
	return nil
}

// read asks a query and takes its answer.
func read(ctx context.Context, conn *pgx.Conn, q query) error {
	rows, err := conn.Query(ctx, q.sql, q.arguments...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		_ = rows.RawValues() // a dashboard would show them
	}
	return rows.Err()
}
