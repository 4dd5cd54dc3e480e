package proxy

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/kproxy/kproxy/proxy/access"
	"github.com/kproxy/kproxy/proxy/reactor"
)

// upstreamLastWords is how long the server may take to say why it is gone, after a
// write to it has failed.
const upstreamLastWords = time.Second

// Ends of a session.
var (
	errClientGone   = errors.New("the client is gone")
	errUpstreamGone = newFatal(stateConnectionFailure, "the connection to the database server was lost")
	errUncallable   = newFatal(stateAdminShutdown, "terminating connection because a function was withdrawn").withHint("Connect again; other functions can be called.")
	errMoved        = newFatal(stateAdminShutdown, "terminating connection because its role reads other releases now").withHint("Connect again.")
	errRevoked      = newFatal(stateAdminShutdown, "terminating connection because a published table was withdrawn").withHint("Connect again; the other tables can be read.")
	errNoUser       = newFatal(stateAdminShutdown, "terminating connection because its user may no longer log in as it did")
	errMisled       = newFatal(stateAdminShutdown, "terminating connection because its database server does not follow the one that kproxy publishes on").withHint("Connect again: sessions go to the servers that do.")
	errShutdown     = newFatal(stateAdminShutdown, "terminating connection due to administrator command")
)

// session is an authenticated client with its upstream connection. It lives on a shard,
// in whose loop all its methods are called that do not say otherwise.
type session struct {
	relay  *relay
	who    access.Identity
	shard  *shard
	client peer
	server peer
	link   *upstream
	about  Client             // for the Observer
	over   func(reason error) // called at the end, in a goroutine of its own

	canceling  int            // cancel requests on their way; nothing is sent meanwhile
	canceled   sync.WaitGroup // the same, to wait for
	background sync.WaitGroup // what is done for it in goroutines
	ended      bool

	mu      sync.Mutex
	begun   bool  // under mu: it is on its shard
	revoked error // under mu: why it is to end as soon as it is there
}

// newSession joins two connections; neither has anything buffered elsewhere.
func newSession(config *Config, user string, state State, client net.Conn, raw *reactor.Conn, up *upstream) *session {
	s := &session{
		relay:  newRelay(config, user, state, up.parameters),
		client: peer{raw: raw, conn: client},
		server: peer{raw: up.raw, conn: up.conn},
		link:   up,
	}
	if o := s.relay.tracker.observation; o != nil {
		o.client = &s.about
	}
	s.relay.gate.think, s.relay.server.later = s.ruleInBackground, s.inBackground
	s.client.wanted, s.client.take, s.client.lost = s.wantsClient, s.takeClient, s.lostClient
	s.server.wanted, s.server.take, s.server.lost = s.wantsServer, s.takeServer, s.lostServer
	s.relay.client.keeper.wake = func() { s.shard.loop.Post(func() { s.guarded(func() error { return nil }) }) }
	if up.link != nil {
		s.relay.gate.fresh = up.link.Fresh
		s.relay.client.keeper.server, s.relay.client.keeper.role = up.link.Server(), up.link.Role()
	}
	return s
}

// greet sends the messages that say that the client is authenticated, and all that
// follows them; it is called before begin.
func (s *session) greet(key cancelKey, messages []pgproto3.BackendMessage) error {
	for _, name := range slices.Sorted(maps.Keys(s.link.parameters)) {
		messages = append(messages, s.relay.server.visible(name, s.link.parameters[name]))
	}
	messages = append(messages,
		&pgproto3.BackendKeyData{ProcessID: key.pid, SecretKey: key.secret},
		&pgproto3.ReadyForQuery{TxStatus: 'I'})
	return sendMessages(s.client.conn, messages...)
}

// begin puts the session on a shard. Unless begin returns an error, the session then ends on its
// own, and over is called when it has ended. It is called once, from any goroutine.
func (s *session) begin(on *shard, over func(reason error)) error {
	if err := errors.Join(s.client.raw.Detach(), s.server.raw.Detach()); err != nil {
		return err
	}
	s.over = over
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shard, s.begun = on, true
	revoked := s.revoked
	if !on.loop.Post(func() { s.enter(revoked) }) {
		return errShutdown
	}
	return nil
}

// enter begins to relay.
func (s *session) enter(revoked error) {
	s.shard.sessions[s] = struct{}{}
	err := cmp.Or(revoked,
		s.shard.loop.Add(s.client.raw, func(e reactor.Event) { s.guarded(func() error { return s.onClient(e) }) }),
		s.shard.loop.Add(s.server.raw, func(e reactor.Event) { s.guarded(func() error { return s.onServer(e) }) }))
	// TLS may have taken from the connection what was sent behind the login.
	s.guarded(func() error { return cmp.Or(err, s.pull(&s.client)) })
}

// guarded does what an event asks for, goes on with what had to wait, and ends the session
// if either fails.
func (s *session) guarded(do func() error) {
	err := guard(func() error {
		if s.ended {
			return nil
		}
		if err := do(); err != nil {
			return err
		}
		return s.settle()
	})
	if err != nil {
		s.end(err)
	}
}

// tick checks what changes only with time, and returns the reason to end the session, if there is
// one.
func (s *session) tick(now time.Time) error {
	tracker := s.relay.tracker
	if link := s.link.link; link != nil && !link.Good() {
		return errMisled
	}
	if fresh := s.relay.gate.fresh; fresh != nil && !fresh() && tracker.status != 'T' && tracker.idle() {
		return newFatal(stateAdminShutdown, "terminating connection because the data of its database server are too old").
			withHint("Connect again: another server may have newer ones.")
	}
	keeper := &s.relay.client.keeper
	if s.client.congested() {
		keeper.close() // nobody is to wait for what this client does not take
	}
	if keeper.waits() {
		return s.tickWaiting(now)
	}
	if s.relay.clock == nil {
		return nil
	}
	switch reached := s.relay.clock.due(now, tracker.running(), tracker.open); reached {
	case noLimit:
		return nil
	case limitStatement:
		go func() {
			// Where it fails, limitUnanswered is next.
			_ = s.cancelRunning(context.Background())
		}()
		return nil
	default:
		last := fatal(reached.report())
		return &last
	}
}

// tickWaiting looks at the time of a statement that waits for the answer to another session's.
func (s *session) tickWaiting(now time.Time) error {
	keeper := &s.relay.client.keeper
	if s.relay.clock == nil {
		return nil
	}
	if most := s.relay.clock.limits.Statement; most > 0 && now.Sub(keeper.asking.began) >= most {
		keeper.stop(errOverdue)
	}
	return nil
}

// revoke ends the session for a reason; any goroutine may call it.
func (s *session) revoke(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.begun {
		s.revoked = cmp.Or(s.revoked, reason)
		return
	}
	s.shard.loop.Post(func() { s.end(reason) })
}
