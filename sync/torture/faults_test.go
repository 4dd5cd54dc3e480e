package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"
)

// fault is something that happens to a run. Behind it at least one child runs.
type fault struct {
	name     string
	weight   int
	slow     bool
	children int // that it needs
	do       func(context.Context, *run, *rand.Rand) error
}

// possibleFaults are all faults that the core must survive.
func possibleFaults() []fault {
	return []fault{
		{"kill -9", 4, false, 1, killApplier},
		{"kill -9 at a failpoint", 8, false, 1, killAtFailpoint},
		{"restart of the server", 3, false, 1, restartServer},
		{"crash of the server", 3, false, 1, crashServer},
		{"connections cut", 4, false, 1, cut},
		{"slow network", 1, false, 1, slowNetwork},
		{"pause", 2, false, 1, pauseApplier},
		{"sessions terminated", 4, false, 1, terminateSessions},
		{"epoch raised", 3, false, 1, raiseEpoch},
		{"failover", 8, false, 2, failOver},
		{"graceful restart", 2, false, 1, gracefully},
		{"slot dropped", 3, false, 1, dropSlot},
		{"slot advanced", 3, false, 1, advanceSlot},
		{"half-open connections", 2, true, 1, halfOpen},
		{"long sleep", 2, true, 1, sleepLong},
	}
}

// drawFault draws one that so many children allow; among the slow ones if there are any.
func drawFault(rng *rand.Rand, children int, slow bool) fault {
	var drawn fault
	total := 0
	for _, f := range possibleFaults() {
		if f.children > children || f.slow != slow {
			continue
		}
		if total += f.weight; rng.IntN(total) < f.weight {
			drawn = f
		}
	}
	return drawn
}

func killApplier(ctx context.Context, r *run, rng *rand.Rand) error {
	i, err := r.applier(ctx)
	if err != nil {
		return err
	}
	r.child(i).kill()
	pause(ctx, time.Duration(rng.IntN(300))*time.Millisecond)
	return r.launch(i, "", 0)
}

// killAtFailpoint has the one that applies die at a step of a commit; if it does not get
// there, it is killed where it is.
func killAtFailpoint(ctx context.Context, r *run, rng *rand.Rand) error {
	i, err := r.applier(ctx)
	if err != nil {
		return err
	}
	r.child(i).kill()
	name := streamFailpoints[rng.IntN(len(streamFailpoints))]
	r.note(name)
	if err := r.launch(i, name, 1+rng.IntN(3)); err != nil {
		return err
	}
	r.dies(ctx, i, 2*time.Second)
	return r.launch(i, "", 0)
}

func restartServer(ctx context.Context, r *run, rng *rand.Rand) error {
	return r.oneServer(rng).Restart(ctx)
}

func crashServer(ctx context.Context, r *run, rng *rand.Rand) error {
	server := r.oneServer(rng)
	if err := server.Kill(); err != nil {
		return err
	}
	return server.Restart(ctx)
}

func cut(ctx context.Context, r *run, rng *rand.Rand) error {
	for range 1 + rng.IntN(4) {
		for _, relay := range r.network(rng) {
			relay.cut()
		}
		pause(ctx, time.Duration(rng.IntN(200))*time.Millisecond)
	}
	return nil
}

func slowNetwork(ctx context.Context, r *run, rng *rand.Rand) error {
	for _, relay := range r.network(rng) {
		relay.slow(time.Duration(2+rng.IntN(20)) * time.Millisecond)
		defer relay.slow(0)
	}
	pause(ctx, 600*time.Millisecond)
	return nil
}

// stopFor has the one that applies sleep, and says which one that was.
func stopFor(ctx context.Context, r *run, d time.Duration) (int, error) {
	i, err := r.applier(ctx)
	if err != nil {
		return 0, err
	}
	if err := r.child(i).signal(syscall.SIGSTOP); err != nil {
		return 0, err
	}
	pause(ctx, d)
	return i, r.child(i).signal(syscall.SIGCONT)
}

func pauseApplier(ctx context.Context, r *run, rng *rand.Rand) error {
	_, err := stopFor(ctx, r, time.Duration(200+rng.IntN(1300))*time.Millisecond)
	return err
}

// sleepLong has the one that applies sleep for longer than its lease. Another one has to
// take over meanwhile, and the sleeper must not write when it wakes up, which the
// comparisons show.
func sleepLong(ctx context.Context, r *run, rng *rand.Rand) error {
	sleeper, err := stopFor(ctx, r, 13*time.Second+time.Duration(rng.IntN(3000))*time.Millisecond)
	if err != nil || len(r.relays) == 1 {
		return err
	}
	for i := range r.relays {
		if i != sleeper && r.child(i).applies() {
			return nil
		}
	}
	return &mistake{"no other child took over from one that slept for longer than its lease"}
}

// halfOpen leaves the connections of the one that applies open and dead.
func halfOpen(ctx context.Context, r *run, rng *rand.Rand) error {
	i, err := r.applier(ctx)
	if err != nil {
		return err
	}
	return r.swallowed(ctx, r.network(rng)[i])
}

// swallowed leaves connections open and dead, which has to be noticed.
func (r *run) swallowed(ctx context.Context, network *relay) error {
	before, err := r.positionNow(ctx)
	if err != nil {
		return err
	}
	network.swallow()
	if err := r.makeChange(ctx); err != nil {
		return err
	}
	for start := time.Now(); time.Since(start) < 90*time.Second; pause(ctx, 100*time.Millisecond) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if now, err := r.positionNow(ctx); err == nil && now > before {
			return nil
		}
	}
	return &mistake{"nothing was applied in 90 s after connections became half-open"}
}

func terminateSessions(ctx context.Context, r *run, rng *rand.Rand) error {
	which := []string{"true", "backend_type = 'walsender'", "backend_type <> 'walsender'"}[rng.IntN(3)]
	for range 1 + rng.IntN(2) {
		err := r.maintain(ctx, fmt.Sprintf("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename IN ('%s', '%s') AND %s", r.owner(), r.sourceRole(), which))
		if err != nil {
			return err
		}
		pause(ctx, time.Duration(rng.IntN(150))*time.Millisecond)
	}
	return nil
}

// raiseEpoch does what another process would that takes over.
func raiseEpoch(ctx context.Context, r *run, _ *rand.Rand) error {
	return executeOn(ctx, r.store.DSN(r.database), "UPDATE kproxy_store.position SET epoch = epoch + 1")
}

// failOver kills the one that applies; another one must take over in seconds.
func failOver(ctx context.Context, r *run, rng *rand.Rand) error {
	for range 1 + rng.IntN(2) {
		dead, err := r.applier(ctx)
		if err != nil {
			return err
		}
		r.child(dead).kill()
		const patience = time.Minute
		start := time.Now()
		for taken := false; !taken; pause(ctx, 20*time.Millisecond) {
			for i := range r.relays {
				taken = taken || i != dead && r.child(i).applies()
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if time.Since(start) > patience {
				return &mistake{fmt.Sprintf("no other child took over within %s", patience)}
			}
		}
		if err := r.launch(dead, "", 0); err != nil {
			return err
		}
	}
	return nil
}

func gracefully(ctx context.Context, r *run, _ *rand.Rand) error {
	i, err := r.applier(ctx)
	if err != nil {
		return err
	}
	if err := r.child(i).terminate(); err != nil {
		return err
	}
	return r.launch(i, "", 0)
}

// whileDown kills all children, has something done to the slot, and starts them again.
func whileDown(ctx context.Context, r *run, sql string) error {
	if _, err := r.applier(ctx); err != nil { // there is a slot
		return err
	}
	for i := range r.relays {
		r.child(i).kill()
	}
	r.plan.tampered.Store(true)
	for start := time.Now(); ; pause(ctx, 20*time.Millisecond) {
		err := r.execute(ctx, fmt.Sprintf(sql, r.slot()))
		if err == nil {
			break
		}
		if ctx.Err() != nil || time.Since(start) > time.Minute {
			return fmt.Errorf("tampering with the slot: %w", err)
		}
	}
	for i := range r.relays {
		if err := r.launch(i, "", 0); err != nil {
			return err
		}
	}
	if _, err := r.applier(ctx); err != nil {
		return err
	}
	r.plan.tampered.Store(false)
	return nil
}

func dropSlot(ctx context.Context, r *run, _ *rand.Rand) error {
	return whileDown(ctx, r, "SELECT pg_drop_replication_slot('%s')")
}

// advanceSlot skips changes. A store on another server would look like a restored backup, in which
// guarded tables wait for the operator: there the slot is dropped.
func advanceSlot(ctx context.Context, r *run, rng *rand.Rand) error {
	if r.isApart() {
		return dropSlot(ctx, r, rng)
	}
	pause(ctx, time.Duration(rng.IntN(200))*time.Millisecond)
	return whileDown(ctx, r, "SELECT pg_replication_slot_advance('%s', pg_current_wal_lsn())")
}
