package console

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/kproxy/kproxy/internal/crash"
	"github.com/kproxy/kproxy/internal/repeats"
	"github.com/kproxy/kproxy/internal/scram"
)

// User is an operator who may log in.
type User struct {
	Name     string
	Verifier scram.Verifier
}

// Access says who may log in, and what they may do.
type Access struct {
	Users []User
	// Actions says whether anything may be changed from the console.
	Actions bool
}

// Options of a console.
type Options struct {
	Source Source
	Access Access
	// Loopback says that only this machine can connect. The console then refuses requests for names
	// of other hosts, which come from web sites whose names resolve to 127.0.0.1.
	Loopback bool
	// TLS says that connections are encrypted. Cookies are then restricted to encrypted connections.
	TLS bool
	// Port distinguishes the cookies of several consoles on one machine. Cookies have no ports.
	Port int
	// Recognized, if not nil, is called with the context of each request, and whether its user is
	// logged in.
	Recognized func(ctx context.Context, known bool)
	// Profiles, if not nil, serves /debug/pprof/ to users who are logged in.
	Profiles http.Handler
	Logger   *slog.Logger     // nil logs nothing
	Now      func() time.Time // nil is time.Now
}

// Console serves the pages. It is safe for concurrent use.
type Console struct {
	options  Options
	access   atomic.Pointer[Access]
	sessions *sessions
	throttle *throttle
	repeats  repeats.Log
	deriving chan struct{} // bounds how many passwords are checked at once
	trials   *trials
	mux      *http.ServeMux
	routes   []route
}

// maxDeriving bounds the passwords that are checked at the same time. Each takes milliseconds of CPU
// time, depending on the verifier's iterations.
const maxDeriving = 2

// New returns a console. Trials end with ctx.
func New(ctx context.Context, o Options) *Console {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Console{
		options: o, sessions: newSessions(o.Now), throttle: newThrottle(o.Now),
		deriving: make(chan struct{}, maxDeriving), trials: newTrials(ctx, o.Source, o.Now, o.Logger), mux: http.NewServeMux(),
	}
	c.access.Store(&o.Access)
	c.routes = c.allRoutes()
	for _, r := range c.routes {
		c.mux.Handle(r.pattern(), c.guarded(r))
	}
	return c
}

// Reconfigure replaces the access. It ends the sessions of users who were removed or have another
// verifier.
func (c *Console) Reconfigure(a Access) {
	before := c.access.Swap(&a)
	for _, u := range before.Users {
		if now, known := a.user(u.Name); !known || now.Verifier.String() != u.Verifier.String() {
			c.sessions.endOf(u.Name)
		}
	}
}

func (a *Access) user(name string) (User, bool) {
	for _, u := range a.Users {
		if u.Name == name {
			return u, true
		}
	}
	return User{}, false
}

// ServeHTTP answers one request.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if failure := recover(); failure != nil {
			c.options.Logger.Error("the console failed", append(crash.Of(failure).Log(), "path", r.Pattern)...)
			http.Error(w, "The console failed to answer; the log says where.", http.StatusInternalServerError)
		}
	}()
	setHeaders(w.Header())
	if !c.isOwnHost(r.Host) {
		http.Error(w, "This console answers to localhost and 127.0.0.1 only.", http.StatusMisdirectedRequest)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
	c.mux.ServeHTTP(w, r)
}
