package proxy

import (
	"errors"
	"time"

	"github.com/kproxy/kproxy/proxy/reactor"
)

// onClient handles an event of the client's connection.
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
	case s.wantsClient() && (e.Readable || e.Gone):
		return s.pull(&s.client)
	case e.Gone:
		return errClientGone
	default:
		return nil
	}
}

// onServer handles an event of the server's connection.
func (s *session) onServer(e reactor.Event) error {
	if e.Writable && s.server.congested() && s.server.raw.Flush() != nil {
		s.stopWriting()
	}
	switch {
	case s.wantsServer() && (e.Readable || e.Gone):
		return s.pull(&s.server)
	case e.Gone:
		// It is heard of again when there is room for what it has sent.
		s.server.raw.Mute()
	}
	return nil
}

// wantsClient reports whether there is a use for what the client sends.
func (s *session) wantsClient() bool {
	return s.relay.client.until == nil && s.canceling == 0 && !s.server.unwritable && !s.server.congested() &&
		s.client.raw.Unsent() <= maxUnsent
}

// wantsServer reports whether there is a use for what the server sends.
func (s *session) wantsServer() bool { return !s.relay.server.working && !s.client.congested() }

// pull relays what a peer has sent.
func (s *session) pull(p *peer) error {
	for range pulls {
		if !p.wanted() {
			return nil
		}
		in, drained, err := p.read(s.shard.loop.In)
		if err := p.lost(err); err != nil {
			return err
		}
		if len(in) > 0 {
			if err := p.take(in); err != nil {
				return err
			}
		}
		if drained {
			return nil
		}
	}
	return nil
}

// lostClient returns the reason to end the session after a read from the client; nil = none.
func (s *session) lostClient(err error) error {
	switch {
	case err == nil:
		return nil
	case s.relay.client.terminated:
		return errTerminated
	default:
		return errClientGone
	}
}

// lostServer returns the reason to end the session after a read from the server; nil = none.
func (s *session) lostServer(err error) error {
	if err != nil || s.server.raw.Unsent() > s.relay.server.config.mostUnsent() {
		return errUpstreamGone
	}
	return nil
}

// takeClient relays input of the client.
func (s *session) takeClient(in []byte) error {
	out := &s.shard.out
	defer out.clear()
	taken, need, err := s.relay.fromClient(in, out)
	switch {
	case errors.Is(err, errFrameLength):
		return violation(err.Error())
	case err != nil:
		return err
	}
	if s.server.write(out.gathered()) != nil {
		s.stopWriting()
	}
	keeper := &s.relay.client.keeper
	reply := keeper.reply
	keeper.reply = nil
	if s.client.write(reply) != nil {
		return errClientGone
	}
	s.client.hold(in, taken, need)
	return nil
}

// takeServer relays input of the server.
func (s *session) takeServer(in []byte) error {
	out := &s.shard.out
	defer out.clear()
	taken, need, err := s.relay.fromServer(in, out)
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

// stopWriting stops writing to a server that is gone. It may have said why.
func (s *session) stopWriting() {
	if !s.server.unwritable {
		s.server.unwritable = true
		time.AfterFunc(upstreamLastWords, func() {
			s.shard.loop.Post(func() { s.end(errUpstreamGone) })
		})
	}
}

// settle goes on with what had to wait, returns the reason to end the session if it is
// time, and watches for what is to come.
func (s *session) settle() error {
	for s.relay.client.until != nil && s.canceling == 0 && !s.server.congested() && !s.relay.client.waits() {
		if err := s.resume(&s.client); err != nil {
			return err
		}
	}
	switch {
	case s.relay.tracker.running(), s.client.congested(), s.relay.client.keeper.waits(): // what was sent before is answered
	case s.relay.client.terminated:
		return errTerminated
	case s.shard.draining:
		return errShutdown
	}
	return errors.Join(s.watch(&s.client), s.watch(&s.server))
}

// watch has a connection watched for what is of use.
func (s *session) watch(p *peer) error {
	read := p.wanted()
	if read && (!p.watched || !p.drained) && p.encrypted() {
		s.pullSoon(p) // what TLS has taken already, no event announces
	}
	p.watched = read
	return p.raw.Watch(read, p.congested() && !p.unwritable)
}

// pullSoon pulls after the other sessions have had their turns.
func (s *session) pullSoon(p *peer) {
	if p.due {
		return
	}
	p.due = true
	s.shard.loop.Post(func() {
		p.due = false
		s.guarded(func() error { return s.pull(p) })
	})
}

// resume takes what of a peer's input had to wait, and what is behind it.
func (s *session) resume(p *peer) error {
	if len(p.held) > 0 && len(p.held) >= p.need {
		if err := p.take(p.held); err != nil {
			return err
		}
	}
	return s.pull(p)
}

// resumeServer resumes the server's input where there is a use for it.
func (s *session) resumeServer() error {
	if !s.wantsServer() {
		return nil
	}
	return s.resume(&s.server)
}

// ruleInBackground has the Gate decide on a text in a goroutine of its own.
func (s *session) ruleInBackground(sql string, in State, early bool) {
	var given ruling
	s.inBackground(func() { given = s.relay.gate.decide(sql, in) }, func() error {
		given.sql, given.early = sql, early
		s.relay.gate.given = &given
		return nil
	})
}

// inBackground does what takes time in a goroutine, and something with it in the loop. The
// session keeps its place until then, so that there is no more of it than sessions.
func (s *session) inBackground(work func(), then func() error) {
	s.background.Add(1)
	go func() {
		defer s.background.Done()
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
