package sync

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// session is one attempt at applying: two connections, the tables in memory,
// and the position they stand at. After any failure it is thrown away, as its
// memory may be ahead of the store.
type session struct {
	*Syncer
	control     *pgx.Conn      // reads and writes the store
	replication *pgconn.PgConn // makes the slot and carries the stream
	system      string         // the server's system identifier
	tables      []*table
	epoch       int64
	position    pglogrepl.LSN // of the store, and so of the tables in memory
}

// sessionSettings pin the text form of values, which keys, digests and
// hierarchies depend on, and keep every name in kproxy's own SQL qualified.
var sessionSettings = map[string]string{
	"application_name":            "kproxy",
	"search_path":                 "pg_catalog",
	"datestyle":                   "ISO, YMD",
	"intervalstyle":               "postgres",
	"timezone":                    "UTC",
	"extra_float_digits":          "1",
	"bytea_output":                "hex",
	"client_encoding":             "UTF8",
	"standard_conforming_strings": "on",
	// The role's own settings must not cut long work short, nor let a commit be
	// acknowledged before it is on disk.
	"statement_timeout":                   "0",
	"lock_timeout":                        "0",
	"idle_in_transaction_session_timeout": "0",
	"synchronous_commit":                  "on",
	"default_transaction_read_only":       "off",
}

// newerSettings are pinned likewise where the server knows them (PostgreSQL 14
// and 17).
const newerSettings = `SELECT pg_catalog.set_config(name, '0', false) FROM pg_catalog.pg_settings
	WHERE name IN ('idle_session_timeout', 'transaction_timeout')`

func (s *Syncer) connect(ctx context.Context) (*session, error) {
	ses := &session{Syncer: s}
	config := s.Owner.Copy()
	for name, setting := range sessionSettings {
		config.RuntimeParams[name] = setting
	}
	var err error
	if ses.control, err = pgx.ConnectConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("connecting as the owner: %w", err)
	}
	if _, err = ses.control.Exec(ctx, newerSettings); err != nil {
		ses.close()
		return nil, fmt.Errorf("pinning the session's settings: %w", err)
	}
	replication := config.Config.Copy()
	replication.RuntimeParams["replication"] = "database"
	if ses.replication, err = pgconn.ConnectConfig(ctx, replication); err != nil {
		ses.close()
		return nil, fmt.Errorf("connecting for replication: %w", err)
	}
	identity, err := pglogrepl.IdentifySystem(ctx, ses.replication)
	if err != nil {
		ses.close()
		return nil, fmt.Errorf("identifying the server: %w", err)
	}
	ses.system = identity.SystemID
	for _, p := range s.Tables {
		t, err := newTable(p)
		if err != nil {
			ses.close()
			return nil, &StopError{What: err.Error(), Fix: "correct the policy"}
		}
		ses.tables = append(ses.tables, t)
	}
	return ses, nil
}

// closeTimeout bounds the farewell on a connection that may be dead.
const closeTimeout = 2 * time.Second

func (s *session) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if s.replication != nil {
		_ = s.replication.Close(ctx)
	}
	if s.control != nil {
		_ = s.control.Close(ctx)
	}
}

// lock makes this process the only one that applies in the database. The lock
// goes with the connection, so a dead process never holds it for long.
func (s *session) lock(ctx context.Context) error {
	for waited := false; ; waited = true {
		locked, err := s.tryLock(ctx)
		if err != nil || locked {
			return err
		}
		if !waited {
			s.Logger.Info("another kproxy applies in this database; waiting for it to end")
			s.setState(Starting, "another kproxy applies in this database")
		}
		if err := sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

func (s *session) tryLock(ctx context.Context) (locked bool, err error) {
	err = s.control.QueryRow(ctx, "SELECT pg_catalog.pg_try_advisory_lock(pg_catalog.hashtextextended('kproxy applies', 0))").Scan(&locked)
	if err != nil {
		return false, fmt.Errorf("locking the store: %w", err)
	}
	return locked, nil
}

// prepare brings tables and store to one position, publishing afresh where the
// store is empty or does not fit the policy.
func (s *session) prepare(ctx context.Context) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	if err := s.checkOwnership(ctx); err != nil {
		return err
	}
	stored, err := s.loadPosition(ctx)
	if err != nil {
		return err
	}
	found, err := s.generations(ctx)
	if err != nil {
		return err
	}
	slot, err := s.slotState(ctx)
	if err != nil {
		return err
	}
	if stored && !s.fits(found) {
		if err := keepsLineages(found); err != nil {
			return err
		}
	}
	if !stored || !s.fits(found) {
		return s.publishAfresh(ctx, slot)
	}
	if err := s.checkSlot(slot); err != nil {
		return err
	}
	if err := s.takeOver(ctx); err != nil {
		return err
	}
	for _, t := range s.tables {
		g := found[t.name()]
		if err := t.begin(g.number, g.nextRecord, g.nextClass, s.Seed); err != nil {
			return err
		}
		err := t.load(ctx, s.control.PgConn(), func(done int) { s.Progress(Progress{Table: t.name(), Stage: "loading", Done: done}) })
		if err != nil {
			return err
		}
		if err := t.grant(ctx, s.control, s.Reader); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) publishAfresh(ctx context.Context, old slotState) error {
	s.setState(Publishing, "")
	if err := s.dropSlot(ctx, old); err != nil {
		return err
	}
	slot, err := s.createSlot(ctx)
	if err != nil {
		return err
	}
	return s.publishAll(ctx, slot)
}

func objectInUse(err error) bool {
	server := (*pgconn.PgError)(nil)
	return errors.As(err, &server) && server.Code == "55006"
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
