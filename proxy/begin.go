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
		return newRefusal(err, stateInvalidParameterValue).fatal()
	}
	up, err := a.connect(ctx, parameters)
	if err != nil {
		if ctx.Err() != nil {
			return errShutdown
		}
		// A limit that the client meets is told with the refusal.
		if full := (*pool.Refusal)(nil); !errors.As(err, &full) || full.SQLState() != stateTooManyConnections {
			a.log.Error("connecting upstream failed", "error", err)
		}
		return connectFailure(err)
	}
	if !interrupt() {
		up.release('I')
		return errShutdown
	}
	if err := a.raw.SetDeadline(time.Time{}); err != nil {
		up.release('I')
		return err
	}
	session := newSession(&a.Config, st.user, state, a.conn, a.raw, up)
	session.who = a.who
	session.application = st.parameters["application_name"]
	key := s.keys.add(session, st.secretBytes())
	forget := func() { s.keys.remove(key) }
	if !s.current.Load().admits(session) { // a Reconfigure before that did not see it
		forget()
		up.release('I')
		return errNoUser
	}
	if err := session.greet(key); err != nil {
		forget()
		up.release('I')
		return err
	}
	a.log.Info("session began")
	began, log, leave := time.Now(), a.log, a.leave
	err = session.begin(s.shards.pick(), func(reason error) {
		forget()
		var crash *panicError
		if errors.As(reason, &crash) {
			log.Error("session crashed", "error", reason, "stack", string(crash.stack))
		}
		log.Info("session ended", "reason", reason, "seconds", int(time.Since(began).Seconds()))
		leave()
	})
	if err != nil {
		forget()
		up.close()
		return err
	}
	a.over = true
	return nil
}

// cancel serves a cancel request, which is never answered.
func (a *attempt) cancel(ctx context.Context, body []byte) error {
	session := a.server.keys.find(body)
	if session == nil {
		return errors.New("cancel request with an unknown key")
	}
	return session.cancelRunning(ctx)
}
