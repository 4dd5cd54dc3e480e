package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/kproxy/kproxy/proxy/access"
)

// denial is the end of a login whose reason the log has and the client must not know.
type denial struct {
	shown *fatal
	why   string
}

func (d *denial) Error() string { return d.why }
func (d *denial) Unwrap() error { return d.shown }

// authenticate finds out whether the client may log in and is who it says. Users who do
// not exist, and those whom a rule refuses by name, go all the way, and fail as a wrong
// password does.
func (a *attempt) authenticate(ctx context.Context, st startup) (access.Identity, error) {
	q := a.request(st)
	d := a.access.Decide(q)
	a.log = a.log.With("rule", d.Number)
	if d.Method == access.Reject {
		return access.Identity{}, refusedByRules(q, d)
	}
	if d.NeedsCertificate() && a.certificate == nil { // so do all who come from there
		return access.Identity{}, newFatal(stateInvalidAuthorization, "connection requires a valid client certificate")
	}
	account := a.access.Account(ctx, st.user)
	if d.Method == access.Certificate {
		if wrong := d.CheckCertificate(a.certificate, account); wrong != nil {
			d = d.Refuse(wrong)
		}
	}
	var given proof
	if d.Method == access.Password {
		var err error
		if given, err = a.exchange(account); err != nil {
			return access.Identity{}, err
		}
	}
	var last []pgproto3.BackendMessage
	var wrong, err error
	late := a.judge(ctx, q, func() bool {
		last, wrong, err = a.check(d, account, given)
		return err == nil && wrong == nil && !d.Refused
	})
	switch {
	case late != nil:
		return access.Identity{}, late
	case err != nil:
		return access.Identity{}, err
	case wrong != nil || d.Refused:
		return access.Identity{}, failedLogin(q, d, account, wrong)
	default:
		a.unsent = last
		return a.access.Identity(q, d, account), nil
	}
}

// check looks at what the client proves who it is with. It returns what is wrong with it,
// for the log, or the messages that say that the login succeeds. It does not wait.
func (a *attempt) check(d access.Decision, account access.Account, given proof) (last []pgproto3.BackendMessage, wrong, err error) {
	if d.Method == access.Password {
		final, wrong, err := given.check(account)
		if wrong != nil || err != nil {
			return nil, wrong, err
		}
		last = append(last, final)
	}
	if d.Method == access.Password && d.Certificate == access.VerifyFull {
		if wrong := d.CheckCertificate(a.certificate, account); wrong != nil {
			return nil, wrong, nil
		}
	}
	return append(last, &pgproto3.AuthenticationOk{}), nil, nil
}

// judge calls check, once those who have failed before have waited for it.
func (a *attempt) judge(ctx context.Context, q access.Request, check func() bool) error {
	wait, ok := a.access.Attempt(q, check)
	if !ok {
		return errThrottled
	}
	if wait == 0 {
		return nil
	}
	a.log = a.log.With("delayed", wait)
	timer := time.NewTimer(min(wait, time.Until(a.deadline)))
	defer timer.Stop()
	select {
	case now := <-timer.C:
		if now.After(a.deadline) {
			return os.ErrDeadlineExceeded
		}
		a.access.Waited(q, check)
		return nil
	case <-ctx.Done():
		return errShutdown
	}
}

// errThrottled is sent to clients that would have to wait for too long.
var errThrottled = newFatal(stateInvalidAuthorization, "too many failed attempts to log in").withHint("Try again later.")

// request is who the client says it is, and where from.
func (a *attempt) request(st startup) access.Request {
	return access.Request{
		User: st.user, Database: st.database, Transport: a.transport(), Address: clientAddress(a.raw), Certified: a.certificate != nil,
	}
}

// transport is what the connection comes through, as it is now.
func (a *attempt) transport() access.Transport {
	switch {
	case a.encrypted:
		return access.TLS
	case !clientAddress(a.raw).IsValid():
		return access.Unix
	default:
		return access.Plain
	}
}

// clientAddress is where a client connects from; the zero Addr is a Unix socket.
func clientAddress(conn net.Conn) netip.Addr {
	if tcp, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr()
	}
	return netip.Addr{}
}

// refusedByRules is the error for clients that no proof of identity could help. It says nothing
// about the user: every client from that place gets the same error.
func refusedByRules(q access.Request, d access.Decision) *fatal {
	place := fmt.Sprintf("user \"%s\", database \"%s\", %s", shownName(q.User), shownName(q.Database), q.Transport)
	if q.Address.IsValid() {
		place = fmt.Sprintf("host %q, %s", q.Address.Unmap(), place)
	}
	if d.Number == 0 {
		return newFatal(stateInvalidAuthorization, "no access rule for "+place)
	}
	return newFatal(stateInvalidAuthorization, "an access rule rejects the connection from "+place)
}

// failedLogin is the end of a login with a proof that is wrong or does not help.
func failedLogin(q access.Request, d access.Decision, account access.Account, wrong error) error {
	told := newFatal(stateInvalidPassword, "password authentication failed for user \""+shownName(q.User)+"\"")
	if d.Method == access.Certificate {
		told = newFatal(stateInvalidAuthorization, "certificate authentication failed for user \""+shownName(q.User)+"\"")
	}
	switch {
	case account.Err != nil:
		// Every failed login gets this error, so that it does not reveal who needs no lookup.
		return &denial{newFatal(stateCannotConnectNow, "users cannot be looked up now"), account.Err.Error()}
	case d.Refused:
		return &denial{told, d.Why}
	case errors.Is(wrong, errWrongPassword) && !account.HasPassword:
		return &denial{told, account.Problem}
	default:
		return &denial{told, wrong.Error()}
	}
}
