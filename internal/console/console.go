package console

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/kproxy/kproxy/internal/crash"
	"github.com/kproxy/kproxy/internal/scram"
)

// User is an operator who may log in.
type User struct {
	Name     string
	Verifier scram.Verifier
}

// Access says who may do what.
type Access struct {
	Users []User
	// Actions says whether anything may be changed from the console.
	Actions bool
}

// Options of a console.
type Options struct {
	Source Source
	Access Access
	// Loopback says that only the machine itself can connect. Requests for other hosts'
	// names are then refused: a web site whose name is made to lead to 127.0.0.1 asks so.
	Loopback bool
	// TLS says that connections are encrypted, so that cookies are for these alone.
	TLS bool
	// Port keeps cookies of several consoles on one machine apart; cookies know no ports.
	Port int
	// Recognized is told of each request, by its context, whether it is of who is logged in;
	// nil is not.
	Recognized func(ctx context.Context, known bool)
	// Profiles serves /debug/pprof/ to who is logged in; nil is none.
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
	deriving chan struct{} // bounds how many passwords are checked at once
	trials   *trials
	mux      *http.ServeMux
	routes   []route
}

// maxDeriving is how many passwords are checked at once: each costs milliseconds of CPU,
// as a verifier's iterations say.
const maxDeriving = 2

// New makes a console. Trials end with ctx.
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

// Reconfigure takes over who may do what. Sessions end of users who are gone or have
// another verifier.
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
