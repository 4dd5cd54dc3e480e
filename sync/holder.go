package sync

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Holder is a session that holds the lock by which one process applies changes, or a key of it.
type Holder struct {
	PID                        int32 // of the server process
	User, Application, Address string
	// Since is when it connected, nil where the owner may not know that of other users' sessions.
	Since *time.Time
	// Applies says that it is called as the session of a kproxy that applies.
	Applies bool
	// heard is when its kproxy says it has answered last, nil where it has not yet.
	heard *time.Time
	// dead says that its kproxy no longer answers, or is known to have ended.
	dead bool
}

// deadAnswers is for how long a kproxy that applies gives no answer until it counts as dead. The
// server itself ends its session after the lease, if it can.
const deadAnswers = 2 * lease

// Dead returns the holder as the session of a kproxy that has ended.
func (h Holder) Dead() *Holder {
	h.dead = true
	return &h
}

// String says who it is.
func (h *Holder) String() string {
	text := fmt.Sprintf("server process %d of user %q, application %q", h.PID, h.User, h.Application)
	if h.Address != "" {
		text += ", from " + h.Address
	}
	if h.Since != nil {
		text += ", connected since " + h.Since.UTC().Format(time.RFC3339)
	}
	return text
}

// Problem says that nobody applies while the session is there.
func (h *Holder) Problem() string {
	if h.Applies {
		return "the lock by which one process applies is held by what is left of a kproxy that has ended or does not answer: " + h.String()
	}
	return "the lock by which one process applies is held by a session that is no kproxy: " + h.String()
}

// Fix ends the session.
func (h *Holder) Fix() string {
	if h.Applies {
		return "the server ends it within " + lease.String() + " where it can; else " + endSession(h.PID)
	}
	return endSession(h.PID)
}

// Obstructs reports whether nobody applies because of it.
func (h *Holder) Obstructs() bool { return h != nil && (!h.Applies || h.dead) }

// endSession is the statement that ends a session.
func endSession(pid int32) string {
	return fmt.Sprintf("end its session: SELECT pg_terminate_backend(%d)", pid)
}

// FindHolder returns the session that holds the lock, nil where none does. It is the one of the
// process that applies, or somebody's who can connect to the database: anybody may take an advisory
// lock. Processes that follow hold it for moments, and do not count. The lock is in the database of
// the source.
func FindHolder(ctx context.Context, on interface {
	QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row
}, slot string,
) (*Holder, error) {
	keys := lockKeys(slot)
	var h Holder
	err := on.QueryRow(ctx, `SELECT a.pid, coalesce(a.usename::text, ''), coalesce(a.application_name, ''), coalesce(pg_catalog.host(a.client_addr), ''),
			a.backend_start, coalesce(a.usename = current_user AND a.application_name = $1, false), r.reply_time
		FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
		LEFT JOIN pg_catalog.pg_stat_replication r ON r.pid = a.pid
		WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
		AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
		AND (l.classid::bigint << 32 | l.objid::bigint) IN (`+strings.Join(keys[:], ", ")+`)
		AND NOT (a.usename = current_user AND a.application_name = $2)
		ORDER BY a.pid LIMIT 1`, ApplierName(slot), followerName).Scan(&h.PID, &h.User, &h.Application, &h.Address, &h.Since, &h.Applies, &h.heard)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("asking who holds the lock for applying: %w", err)
	}
	return &h, nil
}

// holderInterval is how often a process that follows looks who holds the lock.
const holderInterval = 5 * time.Second

// findHolder looks who keeps this process from applying, and has the log tell of one that does not
// apply itself. The times at which a kproxy has answered are by its own clock: what counts is that
// there are new ones.
func (s *session) findHolder(ctx context.Context) error {
	if time.Since(s.holderAsked) < holderInterval {
		return nil
	}
	found, err := FindHolder(ctx, s.store.source, s.store.slot)
	if err != nil {
		return err
	}
	before := s.holder
	s.holder, s.holderAsked = found, time.Now()
	if !found.silentSince(before) {
		s.holderHeard = s.holderAsked
	}
	if found != nil {
		found.dead = found.Applies && time.Since(s.holderHeard) > deadAnswers
	}
	if found.Obstructs() && (!before.Obstructs() || before.PID != found.PID) {
		s.syncer.config.Logger.Error("nobody applies changes: "+found.Problem(), "pid", found.PID, "fix", found.Fix())
	}
	return nil
}

// silentSince reports whether the same kproxy held the lock before, and has not answered since.
func (h *Holder) silentSince(before *Holder) bool {
	return h != nil && before != nil && h.PID == before.PID && h.heard != nil && before.heard != nil && h.heard.Equal(*before.heard)
}
