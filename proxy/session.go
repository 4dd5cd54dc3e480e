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
	errRevoked      = newFatal(stateAdminShutdown, "terminating connection because a published table was withdrawn").withHint("Connect again; the other tables can be read.")
	errNoUser       = newFatal(stateAdminShutdown, "terminating connection because its user may no longer log in as it did")
	errMisled       = newFatal(stateAdminShutdown, "terminating connection because its database server does not follow the one that kproxy publishes on").withHint("Connect again: sessions go to the servers that do.")
	errShutdown     = newFatal(stateAdminShutdown, "terminating connection due to administrator command")
)

// session is an authenticated client with its upstream connection. It lives on a shard,
// in whose loop all its methods are called that do not say otherwise.
type session struct {
	*relay
	who    access.Identity
	shard  *shard
	client peer
	server peer
	link   *upstream
	about  Client             // for the Observer
	over   func(reason error) // called at the end, in a goroutine of its own

	canceling int            // cancel requests on their way; nothing is sent meanwhile
	canceled  sync.WaitGroup // the same, to wait for
	asides    sync.WaitGroup // what is done for it in goroutines
	ended     bool

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
	if s.diary != nil {
		s.diary.client = &s.about
	}
	s.think, s.later = s.thinkAside, s.aside
	s.client.pull, s.server.pull = s.pullClient, s.pullServer
	if up.link != nil {
		s.fresh, s.good = up.link.Fresh, up.link.Good
	}
	return s
}

// greet sends the messages that say that the client is authenticated, and all that
// follows them; it is called before begin.
func (s *session) greet(key cancelKey, messages []pgproto3.BackendMessage) error {
	for _, name := range slices.Sorted(maps.Keys(s.link.parameters)) {
		messages = append(messages, s.visible(name, s.link.parameters[name]))
	}
	messages = append(messages,
		&pgproto3.BackendKeyData{ProcessID: key.pid, SecretKey: key.secret},
		&pgproto3.ReadyForQuery{TxStatus: 'I'})
	return sendMessages(s.client.conn, messages...)
}

// begin puts the session on a shard. From then on it ends by itself, and over is called
// when it has; unless begin returns an error. It is called once, from any goroutine.
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
	s.guarded(func() error { return cmp.Or(err, s.pullClient()) })
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

// onClient is told of the client's connection.
func (s *session) onClient(e reactor.Event) error {
	if e.Writable && s.client.congested() {
		if s.client.raw.Flush() != nil {
			return errClientGone
		}
		if err := s.resumeServer(); err != nil {
			return err
		}
	}
	switch {
	case s.hearsClient() && (e.Readable || e.Gone):
		return s.pullClient()
	case e.Gone:
		return errClientGone
	default:
		return nil
	}
}

// onServer is told of the server's connection.
func (s *session) onServer(e reactor.Event) error {
	if e.Writable && s.server.congested() && s.server.raw.Flush() != nil {
		s.silence()
	}
	switch {
	case s.hearsServer() && (e.Readable || e.Gone):
		return s.pullServer()
	case e.Gone:
		// It is heard of again when there is room for what it has sent.
		s.server.raw.Mute()
	}
	return nil
}

// hearsClient tells whether there is a use for what the client sends.
func (s *session) hearsClient() bool {
	return s.until == nil && s.canceling == 0 && !s.server.silenced && !s.server.congested() && s.client.raw.Unsent() <= maxUnsent
}

// hearsServer tells whether there is a use for what the server sends.
func (s *session) hearsServer() bool { return !s.working && !s.client.congested() }

// pullClient takes what the client has sent.
func (s *session) pullClient() error {
	for range pulls {
		if !s.hearsClient() {
			return nil
		}
		in, drained, err := s.client.read(s.shard.loop.In)
		if err != nil {
			if s.terminated {
				return errTerminated
			}
			return errClientGone
		}
		if len(in) > 0 {
			if err := s.takeClient(in); err != nil {
				return err
			}
		}
		if drained {
			return nil
		}
	}
	return nil
}

// takeClient relays input of the client.
func (s *session) takeClient(in []byte) error {
	out := &s.shard.out
	defer out.clear()
	taken, need, err := s.fromClient(in, out)
	switch {
	case errors.Is(err, errFrameLength):
		return violation(err.Error())
	case err != nil:
		return err
	}
	if s.server.write(out.gathered()) != nil {
		s.silence()
	}
	s.client.hold(in, taken, need)
	return nil
}

// pullServer takes what the server has sent.
func (s *session) pullServer() error {
	for range pulls {
		if !s.hearsServer() {
			return nil
		}
		in, drained, err := s.server.read(s.shard.loop.In)
		if err != nil || s.server.raw.Unsent() > s.config.mostUnsent() {
			return errUpstreamGone
		}
		if len(in) > 0 {
			if err := s.takeServer(in); err != nil {
				return err
			}
		}
		if drained {
			return nil
		}
	}
	return nil
}

// takeServer relays input of the server.
func (s *session) takeServer(in []byte) error {
	out := &s.shard.out
	defer out.clear()
	taken, need, err := s.fromServer(in, out)
	if s.client.write(out.gathered()) != nil {
		return errClientGone
	}
	switch {
	case errors.Is(err, errFrameLength), errors.Is(err, errOutOfStep):
		return newFatal(stateProtocolViolation, errOutOfStep.Error())
	case err != nil:
		return err
	}
	s.server.hold(in, taken, need)
	return nil
}

// silence stops writing to a server that is gone. It may have said why.
func (s *session) silence() {
	if !s.server.silenced {
		s.server.silenced = true
		time.AfterFunc(upstreamLastWords, func() {
			s.shard.loop.Post(func() { s.end(errUpstreamGone) })
		})
	}
}

// settle goes on with what had to wait, returns the reason to end the session if it is
// time, and watches for what is to come.
func (s *session) settle() error {
	for s.until != nil && s.canceling == 0 && !s.server.congested() && !s.waits() {
		if err := s.resume(); err != nil {
			return err
		}
	}
	switch {
	case s.pipeline.running(), s.client.congested(): // what was sent before is answered
	case s.terminated:
		return errTerminated
	case s.shard.draining:
		return errShutdown
	}
	return errors.Join(s.watch(&s.client, s.hearsClient()), s.watch(&s.server, s.hearsServer()))
}

// watch has a connection watched for what is of use.
func (s *session) watch(p *peer, read bool) error {
	if read && (!p.watched || !p.drained) && p.encrypted() {
		s.soon(p) // what TLS has taken already, no event tells of
	}
	p.watched = read
	return p.raw.Watch(read, p.congested() && !p.silenced)
}

// soon pulls after the other sessions have had their turns.
func (s *session) soon(p *peer) {
	if p.due {
		return
	}
	p.due = true
	s.shard.loop.Post(func() {
		p.due = false
		s.guarded(p.pull)
	})
}

// resume takes up the client's message that had to wait, and what is behind it.
func (s *session) resume() error {
	if len(s.client.held) > 0 {
		if err := s.takeClient(s.client.held); err != nil {
			return err
		}
	}
	return s.pullClient()
}

// resumeServer takes up what the server has sent and what could not go on, and what is
// behind it.
func (s *session) resumeServer() error {
	if p := &s.server; s.hearsServer() && len(p.held) > 0 && len(p.held) >= p.need {
		if err := s.takeServer(p.held); err != nil {
			return err
		}
	}
	return s.pullServer()
}

// thinkAside has the Gate decide on a text in a goroutine of its own.
func (s *session) thinkAside(sql string, in State, early bool) {
	var thought ruling
	s.aside(func() { thought = s.decideAndNote(sql, in) }, func() error {
		thought.sql, thought.early = sql, early
		s.ruling = &thought
		return nil
	})
}

// aside does what takes time in a goroutine, and something with it in the loop. The
// session keeps its place until then, so that there is no more of it than sessions.
func (s *session) aside(work func(), then func() error) {
	s.asides.Add(1)
	go func() {
		defer s.asides.Done()
		err := guard(func() error {
			work()
			return nil
		})
		s.shard.loop.Post(func() {
			s.guarded(func() error {
				if err != nil {
					return err
				}
				if err := then(); err != nil {
					return err
				}
				return s.resumeServer()
			})
		})
	}()
}

// tick looks at what changes with time alone, and returns the reason to end the session,
// if there is one.
func (s *session) tick(now time.Time) error {
	if s.good != nil && !s.good() {
		return errMisled
	}
	if s.fresh != nil && !s.fresh() && s.status != 'T' && !s.pipeline.running() {
		return newFatal(stateAdminShutdown, "terminating connection because the data of its database server are too old").
			withHint("Connect again: another server may have newer ones.")
	}
	if !s.timed {
		return nil
	}
	switch reached := s.clock.due(now, s.pipeline.running(), s.pipeline.open); reached {
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
