package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pglogrepl"
)

// caughtUp waits until every table has everything that was committed.
func (r *run) caughtUp(ctx context.Context) error {
	end := &comparer{bench: r.bench, logged: r.logged}
	defer end.close(context.WithoutCancel(ctx))
	target := pglogrepl.LSN(0)
	const patience = 60 * time.Second
	for start := time.Now(); ; pause(ctx, 20*time.Millisecond) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		now, err := r.standingNow(ctx, end)
		if err == nil && target == 0 {
			target, err = r.commitTarget(ctx)
		}
		behind := err != nil || len(now.tables) < len(r.tables)
		for _, t := range now.tables {
			behind = behind || t.lsn < target || t.shows != 0 || t.lost || t.asked != ""
		}
		if !behind {
			return nil
		}
		if err != nil && !passing(err) {
			return err
		}
		if time.Since(start) > patience {
			return &mistake{fmt.Sprintf("the store does not catch up within %s: %+v, target %s, last error %v", patience, now, target, err)}
		}
	}
}

// commitTarget commits a row of every table, and gives a position behind that. What it
// commits afterwards changes nothing, but who has applied it stands behind the position.
func (r *run) commitTarget(ctx context.Context) (lsn pglogrepl.LSN, err error) {
	conn, err := connect(ctx, r.server.DSN(r.database))
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, s := range r.plan.drawn() {
		row := s.row(rand.New(rand.NewPCG(1, 1)))
		if s.far != "" { // which may be detached
			row[0].text = "north"
		}
		statements, _ := makeRoomAnyway(s, row)
		for _, sql := range append(statements, insertInto(s, row)) {
			if _, err := conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
				return 0, err
			}
		}
	}
	if err := conn.QueryRow(ctx, "SELECT pg_current_wal_insert_lsn()::text").Scan(&lsn); err != nil {
		return 0, err
	}
	return lsn, r.makeChange(ctx)
}

func makeRoomAnyway(s *shape, row []datum) (statements []string, rows [][]datum) {
	if !s.keyed() {
		return nil, [][]datum{row}
	}
	room, rows := makeRoom(s, [][]datum{row})
	return []string{room[0].sql}, rows
}

func (r *run) standingNow(ctx context.Context, c *comparer) (standing, error) {
	if err := c.connect(ctx); err != nil {
		return standing{}, err
	}
	tx, err := c.admin.Begin(ctx)
	if err != nil {
		return standing{}, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it has only read
	return readStanding(ctx, tx, r.slot())
}

// finish compares source, store, oracle and release at the end, and has the verifier
// prove the release.
func (r *run) finish(ctx context.Context, c *comparer) error {
	defer func() { r.states = c.states }()
	for start := time.Now(); ; pause(ctx, 50*time.Millisecond) {
		err := c.compare(ctx, true)
		if err == nil {
			err = c.verify(ctx)
		}
		// The stream does not tell of partitions that come and go: that is looked for.
		unseen := err != nil && r.plan.partitioned() && time.Since(start) < 30*time.Second
		if err == nil || !passing(err) && !unseen {
			return err
		}
		if ctx.Err() != nil || time.Since(start) > time.Minute {
			return fmt.Errorf("the final comparison: %w", err)
		}
	}
}

// end ends children and relays; after a failure not gently.
func (r *run) end(failed bool) error {
	var err error
	if r.comparer != nil {
		r.comparer.close(context.Background())
	}
	for i := range r.relays {
		p := r.child(i)
		switch {
		case p == nil:
		case failed:
			p.dump()
			p.kill()
			r.logs = append(r.logs, fmt.Sprintf("child %d, at the end:\n%s", i, p.logged()))
		default:
			err = errors.Join(err, p.terminate())
		}
		r.relays[i].close()
		if r.isApart() {
			r.stores[i].close()
		}
	}
	return err
}
