package proxy

import (
	"context"
	"errors"
	"time"

	"github.com/kproxy/kproxy/proxy/pool"
)

// session connects upstream and relays.
func (a *attempt) session(ctx context.Context, interrupt func() bool, st startup) error {
	s := a.server
	state, parameters, err := a.Gate.Open(st.user, st.parameters)
	if err != nil {
		return refusedParameter(err)
	}
	asked := time.Now()
	up, err := a.connect(ctx, parameters)
	if a.Observer != nil && ctx.Err() == nil {
		a.Observer.Connected(time.Since(asked), err == nil)
	}
	if err != nil {
		if ctx.Err() != nil {
			return errShutdown
		}
		// A limit that the client meets is told with the refusal.
		if full := (*pool.Refusal)(nil); !errors.As(err, &full) || full.SQLState() != stateTooManyConnections {
			a.log.Error("connecting upstream failed", "error", withoutParameters(err))
		}
		return connectFailure(err)
	}
	if !interrupt() {
		up.release('I', true)
		return errShutdown
	}
	if err := a.raw.SetDeadline(time.Time{}); err != nil {
		up.release('I', true)
		return err
	}
	session := newSession(&a.Config, st.user, state, a.conn, a.raw, up)
	session.who = a.who
	session.application = st.parameters["application_name"]
	session.about = Client{
		Session: s.sessions.Add(1), User: a.who.User, Reader: a.who.Reader,
		Address: a.who.Address, Transport: a.who.Transport, Since: time.Now(),
	}
	key := s.keys.add(session, st.secretBytes())
	forget := func() { s.keys.remove(key) }
	if !s.current.Load().admits(session) { // a Reconfigure before that did not see it
		forget()
		up.release('I', true)
		return errNoUser
	}
	unsent := a.unsent
	a.unsent = nil
	err = session.greet(key, unsent)
	if err == nil {
		err = a.settle(ctx, up)
	}
	if err != nil {
		forget()
		up.release('I', true)
		return err
	}
	a.log.Info("session began")
	began, log, leave, observer := time.Now(), a.log, a.leave, a.Observer
	if observer != nil {
		observer.Began(&session.about)
	}
	ended := func(reason error) {
		if observer != nil {
			observer.Ended(&session.about, End{Lasted: time.Since(began), SQLState: endState(reason)})
		}
	}
	err = session.begin(s.shards.pick(), func(reason error) {
		forget()
		var crash *panicError
		if errors.As(reason, &crash) {
			log.Error("session crashed", "error", reason, "stack", string(crash.stack))
		}
		log.Info("session ended", "reason", reason, "seconds", int(time.Since(began).Seconds()))
		ended(reason)
		leave()
	})
	if err != nil {
		forget()
		up.close()
		ended(err)
		a.told = true
		return err
	}
	a.over = true
	return nil
}

// cancel serves a cancel request, which is never answered.
func (a *attempt) cancel(ctx context.Context, body []byte) error {
	session := a.server.keys.find(body)
	a.told = true
	if a.Observer != nil {
		a.Observer.Canceled(session != nil)
	}
	if session == nil {
		return errors.New("cancel request with an unknown key")
	}
	return session.cancelRunning(ctx)
}
