package proxy

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/kproxy/kproxy/internal/repeats"
)

// session connects upstream and relays.
func (a *attempt) session(ctx context.Context, interrupt func() bool, st startup) error {
	state, parameters, err := a.Gate.Open(st.user, a.who.Reader, st.parameters)
	if err != nil {
		return refusedParameter(err)
	}
	up, err := a.reach(ctx, parameters, state)
	if err != nil {
		return err
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
	session.relay.server.application = st.parameters["application_name"]
	session.about = Client{
		Session: a.server.sessions.Add(1), User: a.who.User, Reader: a.who.Reader, Audience: state.Audience(),
		Address: a.who.Address, Transport: a.who.Transport, Since: time.Now(),
	}
	keys := &a.server.keys
	key := keys.add(session, st.secretBytes())
	if err := a.confirmLogin(ctx, session, key, up); err != nil {
		keys.remove(key)
		up.release('I', true)
		return err
	}
	return a.begin(session, up, func() { keys.remove(key) })
}

// reach takes an upstream connection, and says what becomes of the login without one.
func (a *attempt) reach(ctx context.Context, parameters map[string]string, begin State) (*upstream, error) {
	asked := time.Now()
	up, err := a.connect(ctx, parameters, begin)
	if a.Observer != nil && ctx.Err() == nil {
		a.Observer.Connected(time.Since(asked), err == nil)
	}
	switch {
	case err == nil:
		return up, nil
	case ctx.Err() != nil:
		return nil, errShutdown
	}
	return nil, &unreached{connectFailure(err), withoutParameters(err)}
}

// confirmLogin tells the client that it is logged in.
func (a *attempt) confirmLogin(ctx context.Context, session *session, key cancelKey, up *upstream) error {
	if !a.server.current.Load().admits(session) { // a Reconfigure before its key was there did not see it
		return errNoUser
	}
	unsent := a.unsent
	a.unsent = nil
	if err := session.greet(key, unsent); err != nil {
		return err
	}
	return a.settle(ctx, up)
}

// begin hands the session to the event loops, and reports its beginning and its end. Forget takes
// its key back.
func (a *attempt) begin(session *session, up *upstream, forget func()) error {
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
	err := session.begin(a.server.shards.pick(), func(reason error) {
		forget()
		var crash *panicError
		if errors.As(reason, &crash) {
			log.Error("session crashed", "error", reason, "stack", crash.Stack)
		}
		a.logEnd(log, reason, time.Since(began))
		ended(reason)
		leave()
	})
	if err != nil {
		forget()
		up.close()
		ended(err)
		a.observed = true
		return err
	}
	a.over = true
	return nil
}

// logEnd logs the end of a session. Where it was not the client that ended it, others are likely to end
// for the same reason: they have one line, and later ones their number.
func (a *attempt) logEnd(log *slog.Logger, reason error, lasted time.Duration) {
	state := endState(reason)
	if state == "" {
		log.Info("session ended", "reason", reason, "lasted", lasted)
		return
	}
	key := repeats.Key{Kind: "ended " + state, Who: a.user}
	if state == stateConnectionFailure || strings.HasPrefix(state, "57P0") && state != stateIdleSessionTimeout {
		key.Who = "" // an outage, or the operator
	}
	a.server.repeats.Note(log, slog.LevelInfo, key, "session ended", "reason", reason, "lasted", lasted)
}

// cancel serves a cancel request, which is never answered.
func (a *attempt) cancel(ctx context.Context, body []byte) error {
	session := a.server.keys.find(body)
	a.observed = true
	if a.Observer != nil {
		a.Observer.Canceled(session != nil)
	}
	if session == nil {
		return errors.New("cancel request with an unknown key")
	}
	return session.cancelRunning(ctx)
}
