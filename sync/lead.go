package sync

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/repeats"
)

// Any number of processes serve; one applies. It holds an advisory lock on the
// connection that carries its stream, which ends with the process, and on which the
// server waits for an answer no longer than the lease. Its successor ends what is left
// of its sessions and raises the epoch, without which nothing can be written.
const (
	// lease is how long a process that does not answer stays the one that applies.
	lease = 10 * time.Second
	// followInterval is how often one that follows looks whether it may apply.
	followInterval = 500 * time.Millisecond
	// ownInterval is how often one looks that waits for its own last session to end.
	ownInterval = 50 * time.Millisecond
	// followerName is what sessions are called that do not apply.
	followerName = "kproxy"
)

// ApplierName is what the sessions of the process that applies are called.
// PostgreSQL cuts names at 63 bytes.
func ApplierName(slot string) string {
	name := "kproxy apply " + slot
	return name[:min(len(name), 63)]
}

// Two keys stand for applying through a slot. A process holds both; while it moves from
// one connection to another, each holds one of them, so that nobody else can.
func lockKeys(slot string) [2]string {
	var keys [2]string
	for i := range keys {
		keys[i] = fmt.Sprintf("pg_catalog.hashtextextended(%s, %d)", catalog.QuoteLiteral("kproxy applies "+slot), i)
	}
	return keys
}

// tryLock makes this process the one that applies, unless another is.
func (s *session) tryLock(ctx context.Context) (bool, error) {
	keys := lockKeys(s.store.slot)
	locked, err := ask(ctx, s.replication, fmt.Sprintf(`SELECT CASE WHEN pg_catalog.pg_try_advisory_lock(%[1]s)
		THEN pg_catalog.pg_try_advisory_lock(%[2]s) OR (pg_catalog.pg_advisory_unlock(%[1]s) AND false) ELSE false END`, keys[0], keys[1]))
	if err != nil {
		return false, fmt.Errorf("locking the store: %w", err)
	}
	return locked == "t", nil
}

// ask reads one value on a connection for replication.
func ask(ctx context.Context, conn *pgconn.PgConn, sql string) (string, error) {
	results, err := conn.Exec(ctx, sql).ReadAll()
	if err != nil {
		return "", err
	}
	if len(results) != 1 || len(results[0].Rows) != 1 {
		return "", errors.New("one row was expected")
	}
	return string(results[0].Rows[0][0]), nil
}

// moveLock takes the lock from the connection to a new one, and closes the old one.
func (s *session) moveLock(ctx context.Context, to *pgconn.PgConn) error {
	ctx, cancel := context.WithTimeout(ctx, lease)
	defer cancel()
	keys := lockKeys(s.store.slot)
	if _, err := ask(ctx, s.replication, "SELECT pg_catalog.pg_advisory_unlock("+keys[1]+")"); err != nil {
		return fmt.Errorf("moving the lock: %w", err)
	}
	if _, err := ask(ctx, to, "SELECT pg_catalog.pg_advisory_lock("+keys[1]+")"); err != nil {
		return fmt.Errorf("moving the lock: %w", err)
	}
	closeConn(s.replication)
	s.replication = to
	s.syncer.setSession(to.PID())
	if _, err := ask(ctx, to, "SELECT pg_catalog.pg_advisory_lock("+keys[0]+")"); err != nil {
		return fmt.Errorf("moving the lock: %w", err)
	}
	return nil
}

// awaitLock returns once this process is the one that applies. Until then it tells what
// the store says.
func (s *session) awaitLock(ctx context.Context) error {
	for {
		may, err := s.syncer.mayApply(ctx, s.store.conn)
		locked := false
		if err == nil && may {
			locked, err = s.tryLock(ctx)
		}
		if err != nil {
			return err
		}
		if locked {
			s.locked = true
			s.syncer.setSession(s.replication.PID())
			return s.becomeApplier(ctx)
		}
		own := false
		if may {
			if own, err = s.awaitsItself(ctx); err != nil {
				return err
			}
		}
		if !own {
			s.ownSince = time.Time{}
		}
		if !own {
			if err := s.findHolder(ctx); err != nil {
				return err
			}
			if err := s.follow(ctx); err != nil {
				return err
			}
		}
		if err := s.store.depose(ctx); err != nil {
			return err
		}
		pause := followInterval
		if own {
			pause = ownInterval
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// awaitsItself tells whether nobody keeps this process from applying but its own last session, which the
// server has not ended yet. No other process has applied since.
func (s *session) awaitsItself(ctx context.Context) (bool, error) {
	if s.syncer.formerPID == 0 {
		return false, nil
	}
	holder, err := FindHolder(ctx, s.store.source, s.store.slot)
	if err != nil {
		return false, err
	}
	if holder != nil && holder.Applies && uint32(holder.PID) == s.syncer.formerPID {
		s.tellOwn(holder.Dead())
		return true, nil
	}
	s.syncer.formerPID = 0
	return holder == nil, nil // it ended just now
}

// tellOwn tells of the last session of this process, for which it waits. The log is told once the
// server should have ended it.
func (s *session) tellOwn(left *Holder) {
	problem := "the server has not ended this process's own last session, which holds the lock by which one process applies: " + left.String()
	s.syncer.setState(Reconnecting, problem, left.Fix())
	switch {
	case s.ownSince.IsZero():
		s.ownSince = time.Now()
	case time.Since(s.ownSince) > lease:
		s.syncer.repeats.Note(s.syncer.config.Logger, slog.LevelError, repeats.Key{Kind: "own session", Who: left.String()}, "nobody applies changes: "+problem, "pid", left.PID, "fix", left.Fix())
	}
}

// becomeApplier takes the name of the one that applies, and ends the sessions of the one that
// did: it may sleep inside a transaction.
func (s *session) becomeApplier(ctx context.Context) error {
	name := ApplierName(s.store.slot)
	rename := "SELECT pg_catalog.set_config('application_name', " + catalog.QuoteLiteral(name) + ", false)"
	named := []*pgconn.PgConn{s.replication}
	for _, conn := range s.store.connections() {
		named = append(named, conn.PgConn())
	}
	for _, conn := range named {
		if _, err := conn.Exec(ctx, rename).ReadAll(); err != nil {
			return fmt.Errorf("naming the session: %w", err)
		}
	}
	if err := endLeft(ctx, s.store.source, name, s.replication); err != nil {
		return err
	}
	if s.store.isApart() {
		if err := endLeft(ctx, s.store.conn, name, nil); err != nil {
			return err
		}
	}
	if s.syncer.config.Distribute {
		if err := s.store.settleWorkers(ctx); err != nil {
			return err
		}
		if err := s.store.grantWorkers(ctx); err != nil {
			return err
		}
	}
	may, err := s.syncer.takeOn(ctx, s.store.conn)
	if err == nil && !may {
		err = errRestart // another policy was accepted meanwhile
	}
	s.syncer.mu.Lock()
	s.syncer.applies = err == nil
	s.syncer.mu.Unlock()
	return err
}

// endLeft ends what a predecessor has left of its sessions in a database, but for the one that asks and
// another one of this process.
func endLeft(ctx context.Context, conn *pgx.Conn, name string, other *pgconn.PgConn) error {
	pids := []int32{int32(conn.PgConn().PID())}
	if other != nil {
		pids = append(pids, int32(other.PID()))
	}
	const left = `SELECT count(pg_catalog.pg_terminate_backend(pid)) FROM pg_catalog.pg_stat_activity
		WHERE application_name = $1 AND usename = current_user AND datname = pg_catalog.current_database() AND pid <> ALL ($2::int[])`
	for start := time.Now(); ; {
		var sessions int
		if err := conn.QueryRow(ctx, left, name, pids).Scan(&sessions); err != nil {
			return fmt.Errorf("ending the sessions of a predecessor: %w", err)
		}
		if sessions == 0 {
			return nil
		}
		if time.Since(start) > lease {
			return &pgconn.PgError{Severity: "ERROR", Code: "55006", Message: "sessions of a kproxy that applied before do not end"}
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// depose ends the sessions of a process that holds the lock and has done nothing for
// longer than the lease: it sleeps, before its stream has begun. While that runs the
// server itself watches.
func (s *store) depose(ctx context.Context) error {
	_, err := s.source.Exec(ctx, `SELECT pg_catalog.pg_terminate_backend(a.pid) FROM pg_catalog.pg_stat_activity a
		WHERE a.application_name = $1 AND a.usename = current_user AND a.datname = pg_catalog.current_database()
		AND a.backend_type = 'walsender' AND a.state LIKE 'idle%' AND a.state_change < pg_catalog.clock_timestamp() - $2::text::interval`,
		ApplierName(s.slot), fmt.Sprintf("%d milliseconds", lease.Milliseconds()))
	if err != nil {
		return fmt.Errorf("ending the sessions of a process that sleeps: %w", err)
	}
	return nil
}

// follow tells what the store says of the tables while another process applies.
func (s *session) follow(ctx context.Context) error {
	found, err := s.store.generations(ctx)
	if err != nil {
		return err
	}
	s.syncer.setUnreadable(false) // another process sees to that
	s.syncer.handover = nil       // which writes the store
	position, _, err := s.store.storedPosition(ctx)
	if err != nil {
		return err
	}
	s.syncer.mu.Lock()
	entered := s.syncer.status.State != Following
	s.syncer.status.State, s.syncer.status.Reason, s.syncer.status.Fix = Following, s.syncer.status.Refused, ""
	switch {
	case s.syncer.status.Refused != "":
		s.syncer.status.Fix = FixPolicyRefused
	case s.holder.Obstructs():
		s.syncer.status.Reason, s.syncer.status.Fix = s.holder.Problem(), s.holder.Fix()
	}
	s.syncer.status.Position, s.syncer.status.Stale = position.lsn, time.Time{}
	s.syncer.followed, s.syncer.applies, s.syncer.byOperator = true, false, false
	s.tellStored(found)
	s.syncer.mu.Unlock()
	if entered && !s.holder.Obstructs() {
		s.syncer.config.Logger.Info("another kproxy applies in this database; following it")
	}
	if refused := s.syncer.Status().Refused; refused != s.loggedRefusal {
		if s.loggedRefusal = refused; refused != "" {
			s.syncer.config.Logger.Error("this process does not apply: "+refused, "fix", FixPolicyRefused)
		}
	}
	s.syncer.notify()
	return nil
}

// tellStored has the status tell of each table what the store says. The Syncer's mutex is held.
func (s *session) tellStored(found map[catalog.Name]generation) {
	clear(s.syncer.status.Tables)
	for _, t := range s.policy {
		g, known := found[t.layout.name()]
		by := Superseded(s.syncer.superseded.Load())
		if s.syncer.status.Refused != "" {
			by = KeepNone
		}
		status := TableStatus{}
		if known {
			status = t.layout.stored(g, by)
		}
		if known && !t.layout.fits(g) && status.State == Unpublished {
			status.State, status.Problem = Halted, "it is published under another policy, or another definition of the table, than this process has"
			status.Fix = "give all kproxy processes the same configuration, and run 'kproxy reload'"
			if s.syncer.status.Refused != "" {
				status.Problem, status.Fix, status.Outdated = s.syncer.status.Refused, FixPolicyRefused, s.syncer.status.InForce
			}
		}
		s.syncer.status.Tables[t.layout.name()] = status
	}
	for _, name := range s.unfit {
		s.syncer.status.Tables[name] = TableStatus{State: Halted, Problem: "the table and its policy do not fit", Fix: "see 'kproxy check', and run 'kproxy reload' afterwards"}
	}
}
