package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/kproxy/kproxy/internal/pgserver"
)

func (r *run) source() *seat       { return r.server }
func (r *run) release() *seat      { return r.store }
func (r *run) toSource() []*relay  { return r.relays }
func (r *run) toRelease() []*relay { return r.stores }

// killServer has a server crash, and be away for a while.
func killServer(which func(*run) *seat) func(context.Context, *run, *rand.Rand) error {
	return func(ctx context.Context, r *run, rng *rand.Rand) error {
		if err := which(r).Kill(); err != nil {
			return err
		}
		pause(ctx, time.Duration(rng.IntN(1500))*time.Millisecond)
		return which(r).Restart(ctx)
	}
}

// killBoth has both servers crash, and come back in an order that the seed decides.
func killBoth(ctx context.Context, r *run, rng *rand.Rand) error {
	seats := []*seat{r.server, r.store}
	rng.Shuffle(2, func(i, j int) { seats[i], seats[j] = seats[j], seats[i] })
	var err error
	for _, s := range seats {
		err = errors.Join(err, s.Kill())
	}
	rng.Shuffle(2, func(i, j int) { seats[i], seats[j] = seats[j], seats[i] })
	for _, s := range seats {
		pause(ctx, time.Duration(rng.IntN(1000))*time.Millisecond)
		err = errors.Join(err, s.Restart(ctx))
	}
	return err
}

// cutLinks cuts the connections to one server, several times.
func cutLinks(which func(*run) []*relay) func(context.Context, *run, *rand.Rand) error {
	return func(ctx context.Context, r *run, rng *rand.Rand) error {
		for range 1 + rng.IntN(4) {
			for _, relay := range which(r) {
				relay.cut()
			}
			pause(ctx, time.Duration(rng.IntN(200))*time.Millisecond)
		}
		return nil
	}
}

// cutWithin cuts the connections to one server after some bytes more, wherever in a message these end.
func cutWithin(which func(*run) []*relay) func(context.Context, *run, *rand.Rand) error {
	return func(ctx context.Context, r *run, rng *rand.Rand) error {
		for range 2 + rng.IntN(4) {
			for _, relay := range which(r) {
				relay.cutAfter(1+rng.IntN(1500), rng.IntN(2) == 0)
			}
			pause(ctx, time.Duration(50+rng.IntN(500))*time.Millisecond)
		}
		return nil
	}
}

// halfOpenTo leaves the connections to one server open and dead.
func halfOpenTo(which func(*run) []*relay) func(context.Context, *run, *rand.Rand) error {
	return func(ctx context.Context, r *run, _ *rand.Rand) error {
		i, err := r.applier(ctx)
		if err != nil {
			return err
		}
		return r.swallowed(ctx, which(r)[i])
	}
}

// more waits for so many more transactions of the writers.
func (r *run) more(ctx context.Context, count int) {
	for due := r.done.Load() + int64(count); r.done.Load() < due && ctx.Err() == nil; {
		pause(ctx, 5*time.Millisecond)
	}
}

// restore goes back to a copy of a server that lacks what was committed since: on a new timeline without slots, as from an
// archive, or on the same one, as when the snapshot of a disk is put back.
func restore(which func(*run) *seat, same bool) func(context.Context, *run, *rand.Rand) error {
	return func(ctx context.Context, r *run, rng *rand.Rand) (err error) {
		if _, err := r.applier(ctx); err != nil {
			return err
		}
		dir, err := os.MkdirTemp("", "kproxy-torture-backup-")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		backup, err := which(r).now().Backup(ctx, dir)
		if err != nil {
			return err
		}
		r.more(ctx, 10+rng.IntN(30))
		pause(ctx, time.Duration(rng.IntN(2000))*time.Millisecond)
		return r.move(ctx, rng, which(r), same, func() (*pgserver.Server, error) {
			return pgserver.Start(ctx, pgserver.Options{Backup: backup, SameTimeline: same})
		})
	}
}

// promote makes a standby and promotes it, which has what the former primary had, or lacks the last of it. Where the
// version can, it may have a copy of the slot.
func promote(which func(*run) *seat) func(context.Context, *run, *rand.Rand) error {
	return func(ctx context.Context, r *run, rng *rand.Rand) error {
		if _, err := r.applier(ctx); err != nil {
			return err
		}
		primary := which(r).now()
		opts := pgserver.StandbyOptions{Slot: fmt.Sprintf("standby_%d", primary.Port())}
		opts.SyncSlots = which(r) == r.server && primary.Version().Major >= 17 && rng.IntN(3) > 0
		standby, err := primary.Standby(ctx, opts)
		if err != nil {
			return err
		}
		r.more(ctx, 10+rng.IntN(20))
		complete := rng.IntN(2) == 0
		if opts.SyncSlots {
			if err := r.awaitCopy(ctx, standby); err != nil {
				return errors.Join(err, standby.Stop())
			}
			r.note("with its slot")
		}
		if !complete { // it gets nothing from now on
			if err := standby.Pause(); err != nil {
				return errors.Join(err, standby.Stop())
			}
			r.more(ctx, 5+rng.IntN(20))
			pause(ctx, time.Duration(rng.IntN(800))*time.Millisecond)
		}
		return r.move(ctx, rng, which(r), false, func() (*pgserver.Server, error) {
			err := standby.Resume()
			if err == nil {
				err = standby.Promote(ctx)
			}
			return standby, err
		})
	}
}

// awaitCopy waits until a standby has a lasting copy of the slot.
func (r *run) awaitCopy(ctx context.Context, standby *pgserver.Server) error {
	for start := time.Now(); time.Since(start) < time.Minute; pause(ctx, 200*time.Millisecond) {
		conn, err := connect(ctx, standby.DSN("postgres"))
		if err != nil {
			return err
		}
		var lasts bool
		err = conn.QueryRow(ctx, "SELECT coalesce(bool_or(to_jsonb(s) ->> 'synced' = 'true' AND NOT temporary), false) FROM pg_replication_slots s WHERE slot_name = $1", r.slot()).Scan(&lasts)
		_ = conn.Close(ctx)
		if err != nil || lasts {
			return err
		}
	}
	return &mistake{"the standby has no lasting copy of the slot after a minute"}
}

// move kills a server and has another one in its place. Writers wait until kproxy has found it where nothing else tells that
// server from the former one: with the log that they would write it reaches the former position.
func (r *run) move(ctx context.Context, rng *rand.Rand, to *seat, hold bool, next func() (*pgserver.Server, error)) error {
	r.plan.moved.Store(true)
	r.gate.Lock()
	open := true
	release := func() {
		if open {
			r.gate.Unlock()
			open = false
		}
	}
	defer release()
	if err := to.Kill(); err != nil {
		return err
	}
	pause(ctx, time.Duration(rng.IntN(1000))*time.Millisecond)
	server, err := next()
	if err != nil {
		if server != nil {
			err = errors.Join(err, server.Stop())
		}
		return err
	}
	if err := to.take(server); err != nil {
		return err
	}
	if !hold {
		release()
	}
	return r.begunAnew(ctx)
}

// begunAnew waits until a session of kproxy has begun at the servers as they are now.
func (r *run) begunAnew(ctx context.Context) error {
	before := int64(-1)
	for start := time.Now(); time.Since(start) < time.Minute; pause(ctx, 20*time.Millisecond) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		now, err := r.epochNow(ctx)
		switch {
		case err != nil:
		case before < 0:
			before = now
		}
		if _, applying := r.applying(); err == nil && applying && (now > before || time.Since(start) > 5*time.Second) {
			return nil
		}
	}
	return &mistake{"no session of kproxy has begun a minute after a server took the place of another"}
}

func (r *run) epochNow(ctx context.Context) (epoch int64, err error) {
	conn, err := connect(ctx, r.store.DSN(r.database))
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	err = conn.QueryRow(ctx, "SELECT coalesce(max(epoch), 0) FROM kproxy_store.position").Scan(&epoch)
	return epoch, err
}
