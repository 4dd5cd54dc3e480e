package console

import (
	"net"
	"net/http"
	"net/netip"
)

// maxFormBytes bounds what a client may send: names, passwords and a few numbers.
const maxFormBytes = 16 << 10

// setHeaders prevents browsers from embedding and caching pages, and from loading anything from other
// origins. The referrer policy is same-origin, which reveals nothing to other origins. With
// no-referrer, browsers would send "Origin: null" with forms, whose origin could not be checked.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-store")
}

// isOwnHost reports whether a request is for this machine, by a name that nobody else can assign to
// it.
func (c *Console) isOwnHost(host string) bool {
	if !c.options.Loopback {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(trimBrackets(host))
	return err == nil && ip.IsLoopback()
}

func trimBrackets(host string) string {
	if len(host) > 1 && host[0] == '[' && host[len(host)-1] == ']' {
		return host[1 : len(host)-1]
	}
	return host
}

// audience says who may use a route.
type audience int

const (
	anybody  audience = iota // without a login
	reader                   // who is logged in
	operator                 // who is logged in, where actions are allowed
)

// route is one entry point of the console.
type route struct {
	method, path string
	audience     audience
	serve        func(w http.ResponseWriter, r *http.Request, s *session) error
}

func (r route) pattern() string {
	if r.method == "" { // of handlers that look at it themselves
		return r.path
	}
	return r.method + " " + r.path
}

// guarded checks the requirements of a route before it serves.
func (c *Console) guarded(to route) http.Handler {
	origins := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := c.sessionOf(r)
		if c.options.Recognized != nil {
			c.options.Recognized(r.Context(), s != nil)
		}
		if to.audience != anybody && s == nil {
			c.refuseStranger(w, r)
			return
		}
		if to.audience == operator && !c.access.Load().Actions {
			c.fail(w, r, s, http.StatusForbidden, "This console only shows. Write console: actions: allow to act from here.")
			return
		}
		if r.Method == http.MethodPost {
			if err := origins.Check(r); err != nil {
				c.fail(w, r, s, http.StatusForbidden, "The request came from another site.")
				return
			}
			if to.audience != anybody && !s.hasToken(r.PostFormValue("csrf")) {
				c.fail(w, r, s, http.StatusForbidden, "The form is too old. Go back, load the page again and repeat it.")
				return
			}
		}
		if err := to.serve(w, r, s); err != nil {
			c.failWith(w, r, s, err)
		}
	})
}

// refuseStranger redirects people to the login, and returns an error to programs.
func (c *Console) refuseStranger(w http.ResponseWriter, r *http.Request) {
	if wantsJSON(r) || r.Method != http.MethodGet {
		_ = writeJSON(w, http.StatusUnauthorized, problem{"not logged in"})
		return
	}
	http.Redirect(w, r, loginPath(r.URL.RequestURI()), http.StatusSeeOther)
}
