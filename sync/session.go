package sync

import (
	"context"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
)

// store is the private store as one connection reads and writes it, for the process of one
// slot and epoch. One goroutine at a time uses it: that of the oldest batch under way, else
// the session's.
type store struct {
	conn           *pgx.Conn // reads and writes the store
	source         *pgx.Conn // reads the source; conn itself where both are in one database
	slot           string
	publication    string
	reader         string
	system         string // the system identifier of the source's server
	timeline       int64
	history        []timelineEnd // of that server, where it is on another timeline than the stored position
	end            pglogrepl.LSN // of that server's log, where it was asked for; 0 where it was not
	standby        bool          // the source's server is one
	home           storeServer   // where the store is, if that is not the source's database
	epoch          int64
	lastGeneration int64 // the last number given
	sealed         bool  // kproxy_store.seal has keys, or will have
}

// shared is what the goroutines of a session have in common: the applier writes it, receiver,
// worker and watcher read it; the worker also writes ack.held. All of it is atomic.
type shared struct {
	ack      acknowledgement
	consumed atomic.Uint64 // up to where the stream was consumed while nothing had to be written
	watching atomic.Pointer[[]watchedTable]
	timeline atomic.Int64 // of the source's server, as the stored position has it
}

// session is one attempt at applying: two connections, the tables in memory,
// and the position they stand at. After any failure it is thrown away, as its
// memory may be ahead of the store.
type session struct {
	syncer *Syncer
	store  store
	ending <-chan struct{} // closed where the session is to end at the next commit boundary

	replication *pgconn.PgConn // holds the lock and carries the stream
	locked      bool           // it has held the lock

	accepted int64           // the number of the policy in force when the session began to apply
	kept     map[*table]bool // that a session before has left in memory

	policy []*table       // as configured, empty; a job's or the applier's once it is given away
	unfit  []catalog.Name // configured, but at odds with their tables
	tables tables         // applied
	jobs   []job          // to be done beside the stream

	loggedRefusal string  // as the log was told last
	holder        *Holder // of the lock for applying, as it was found last
	holderAsked   time.Time
	holderHeard   time.Time     // when the holder had answered anew
	ownSince      time.Time     // for how long this process has waited for its own last session to end
	position      pglogrepl.LSN // of the store: every applied table has at least that
	shared        shared
	progressed    *progress
}

// sessionSettings are those of kproxy's sessions. Keys, digests and hierarchies depend on catalog.TextForms.
var sessionSettings = withTextForms(map[string]string{
	"timezone":        "UTC",
	"client_encoding": "UTF8",
	// The role's own settings must not cut long work short, nor let a commit be
	// acknowledged before it is on disk.
	"statement_timeout":                   "0",
	"lock_timeout":                        "0",
	"idle_in_transaction_session_timeout": "0",
	"synchronous_commit":                  "on",
	"default_transaction_read_only":       "off",
	"default_transaction_isolation":       "read committed",
	// Rows that are hidden from the owner are refused, not left out.
	"row_security": "off",
	// What one group writes is sorted and joined in memory.
	"work_mem": "64MB",
	// Statements that carry their rows look costly to the server, which knows nothing of
	// these: compiling one takes longer than running it.
	"jit": "off",
	// A stable scan order makes a release a function of the table and the seed.
	"synchronize_seqscans": "off",
})

func withTextForms(settings map[string]string) map[string]string {
	maps.Copy(settings, catalog.TextForms)
	return settings
}

// newerSettings are pinned likewise where the server knows them (PostgreSQL 14
// and 17).
const newerSettings = `SELECT pg_catalog.set_config(name, '0', false) FROM pg_catalog.pg_settings
	WHERE name IN ('idle_session_timeout', 'transaction_timeout')`

// connection is how all connections of a Syncer to one of its databases are made. Their name tells
// a successor which sessions are left over.
func (s *Syncer) connection(to *pgx.ConnConfig, name string) *pgx.ConnConfig {
	config := to.Copy()
	maps.Copy(config.RuntimeParams, sessionSettings)
	config.RuntimeParams["application_name"] = name
	return config
}

// open connects to the store, for reading and writing.
func (s *Syncer) open(ctx context.Context, name string) (*pgx.Conn, error) {
	owner, _ := s.logins()
	conn, err := s.openTo(ctx, owner, &s.conns, name)
	if err != nil {
		return nil, fmt.Errorf("connecting as the owner: %w", err)
	}
	return conn, nil
}

// openSource connects to the source, for reading.
func (s *Syncer) openSource(ctx context.Context, name string) (*pgx.Conn, error) {
	_, source := s.logins()
	conn, err := s.openTo(ctx, source, s.sourceConns(), name)
	if err != nil {
		return nil, fmt.Errorf("connecting to the source: %w", err)
	}
	return conn, nil
}

func (s *Syncer) openTo(ctx context.Context, to *pgx.ConnConfig, tracker *connTracker, name string) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, deadAfter)
	defer cancel()
	config := s.connection(to, name)
	tracker.track(&config.Config)
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, Reason(err)
	}
	tracker.identify(conn.PgConn())
	registerArrays(conn.TypeMap())
	if _, err = conn.Exec(ctx, newerSettings); err != nil {
		closeConn(conn)
		return nil, fmt.Errorf("pinning the session's settings: %w", err)
	}
	return conn, nil
}

// openReplication connects for commands of replication. The server ends the
// connection of a process that has not answered for the time of the lease.
func (s *Syncer) openReplication(ctx context.Context, name string) (*pgconn.PgConn, error) {
	ctx, cancel := context.WithTimeout(ctx, deadAfter)
	defer cancel()
	_, source := s.logins()
	config := s.connection(source, name).Config
	s.sourceConns().track(&config)
	config.RuntimeParams["replication"] = "database"
	// What others write, kproxy's own releases among it, is decoded as well before it is
	// left out: not by way of the disk.
	config.RuntimeParams["logical_decoding_work_mem"] = "256MB"
	config.RuntimeParams["wal_sender_timeout"] = fmt.Sprint(lease.Milliseconds())
	conn, err := pgconn.ConnectConfig(ctx, &config)
	if err != nil {
		return nil, fmt.Errorf("connecting for replication: %w", Reason(err))
	}
	s.sourceConns().identify(conn)
	return conn, nil
}

func (s *Syncer) connect(ctx context.Context) (*session, error) {
	ses := &session{syncer: s, store: store{slot: s.config.Slot, publication: s.config.Publication, reader: s.config.Reader}}
	var err error
	if ses.store.conn, ses.store.source, err = s.openBoth(ctx, followerName); err != nil {
		return nil, err
	}
	if ses.replication, err = s.openReplication(ctx, followerName); err != nil {
		ses.close()
		return nil, err
	}
	identity, err := pglogrepl.IdentifySystem(ctx, ses.replication)
	if err != nil {
		ses.close()
		return nil, fmt.Errorf("identifying the server: %w", err)
	}
	if err := ses.checkRole(ctx); err != nil {
		ses.close()
		return nil, err
	}
	ses.store.system, ses.store.timeline = identity.SystemID, int64(identity.Timeline)
	if ses.store.isApart() {
		if ses.store.home, err = findHome(ctx, ses.store.conn); err != nil {
			ses.close()
			return nil, err
		}
	}
	ses.progressed = &progress{system: ses.store.system}
	ses.progressed.timeline.Store(ses.store.timeline)
	ses.shared.timeline.Store(ses.store.timeline)
	if err := ses.addPolicy(); err != nil {
		ses.close()
		return nil, err
	}
	if err := ses.checkSeal(ctx); err != nil {
		ses.close()
		return nil, err
	}
	return ses, nil
}

// addPolicy makes the tables as configured, empty.
func (s *session) addPolicy() error {
	for _, p := range s.syncer.configured() {
		if p.Relation.OID == 0 {
			s.unfit = append(s.unfit, p.Policy.Table)
			continue
		}
		t, err := newTable(p)
		if err != nil {
			return &StopError{What: err.Error(), Fix: fixPolicy}
		}
		t.now, t.logger, t.sealing.ring = s.syncer.config.Now, s.syncer.config.Logger, s.syncer.config.Seal
		s.policy = append(s.policy, t)
	}
	if err := s.groupLinked(); err != nil {
		return &StopError{What: err.Error(), Fix: fixPolicy}
	}
	return nil
}

// closeTimeout bounds the closing of a connection that may be dead.
const closeTimeout = 2 * time.Second

func closeConn(conn interface{ Close(context.Context) error }) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = conn.Close(ctx)
}

func (s *session) close() {
	if s.replication != nil {
		if s.locked {
			s.syncer.formerPID = s.replication.PID()
		}
		closeConn(s.replication)
		s.syncer.setSession(0)
	}
	s.store.close()
}

// prepare brings tables and store to one position and says what has to be made
// beside the stream.
func (s *session) prepare(ctx context.Context) error {
	found, err := s.store.generations(ctx)
	if err != nil {
		return err
	}
	if err := s.dropUnlisted(ctx, found); err != nil {
		return err
	}
	for _, name := range s.unfit {
		if err := s.haltUnfit(ctx, name, found[name]); err != nil {
			return err
		}
	}
	if err := s.continueLineages(ctx, found); err != nil {
		return err
	}
	s.takeHandover(found)
	s.findGroups(found)
	for _, t := range s.policy {
		g, known, err := s.markRenamed(ctx, t, found)
		if err != nil {
			return err
		}
		if err := s.admit(ctx, t, g, known); err != nil {
			return err
		}
	}
	return s.checkKept()
}

func objectInUse(err error) bool { return hasState(err, "55006") }

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
