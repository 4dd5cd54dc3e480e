package console

import (
	"crypto/rand"
	"crypto/subtle"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/internal/repeats"
	"github.com/kproxy/kproxy/internal/scram"
)

// maxPasswordBytes is more than any password has.
const maxPasswordBytes = 1024

// loginPage is the content of the login page.
type loginPage struct {
	Next, User, Problem string
}

func (c *Console) showLogin(w http.ResponseWriter, r *http.Request, s *session) error {
	next := localPath(r.URL.Query().Get("next"))
	if s != nil {
		http.Redirect(w, r, next, http.StatusSeeOther)
		return nil
	}
	return c.render(w, r, nil, http.StatusOK, "login", page{Title: "Sign in", Body: loginPage{Next: next}})
}

func (c *Console) login(w http.ResponseWriter, r *http.Request, _ *session) error {
	name, password := r.PostFormValue("user"), r.PostFormValue("password")
	form := loginPage{Next: localPath(r.PostFormValue("next")), User: name}
	from := c.throttle.origin(r.RemoteAddr, name)
	if wait := c.throttle.attempt(from); wait > 0 {
		seconds := int(math.Ceil(wait.Seconds()))
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		form.Problem = "Too many attempts. Wait " + strconv.Itoa(seconds) + " s, then try again."
		return c.render(w, r, nil, http.StatusTooManyRequests, "login", page{Title: "Sign in", Body: form})
	}
	if !c.knows(r, name, password) {
		c.repeats.Note(c.options.Logger, slog.LevelWarn, repeats.Key{Kind: "login"}, "a login to the console failed", "remote", r.RemoteAddr)
		form.Problem = "User or password is wrong."
		return c.render(w, r, nil, http.StatusUnauthorized, "login", page{Title: "Sign in", Body: form})
	}
	c.throttle.succeeded(from)
	if s := c.sessionOf(r); s != nil {
		c.sessions.end(s)
	}
	http.SetCookie(w, c.cookie(c.sessions.begin(name), sessionTime))
	c.options.Logger.Info("an operator logged in to the console", "user", name, "remote", r.RemoteAddr)
	http.Redirect(w, r, form.Next, http.StatusSeeOther)
	return nil
}

// knows checks a password against the user's verifier. It takes the same time for a user who does not
// exist.
func (c *Console) knows(r *http.Request, name, password string) bool {
	if password == "" || len(password) > maxPasswordBytes || strings.ContainsRune(password, 0) {
		return false
	}
	select {
	case c.deriving <- struct{}{}:
		defer func() { <-c.deriving }()
	case <-r.Context().Done():
		return false
	}
	same := false
	for _, v := range c.access.Load().verifiers(name) {
		got, err := scram.Derive(password, v.Salt, v.Iterations)
		same = err == nil && subtle.ConstantTimeCompare(got.StoredKey, v.StoredKey) == 1 || same
	}
	return same
}

// verifiers returns the verifiers to check a password against: one for each number of iterations in
// use, so that all checks take the same time. One is the user's own, if the user exists; no password
// matches the others.
func (a *Access) verifiers(name string) []scram.Verifier {
	own, known := a.user(name)
	var all []scram.Verifier
	for _, u := range a.Users {
		v := scram.Verifier{Iterations: u.Verifier.Iterations, Salt: make([]byte, scram.SaltBytes)}
		if slices.ContainsFunc(all, func(other scram.Verifier) bool { return other.Iterations == v.Iterations }) {
			continue
		}
		_, _ = rand.Read(v.Salt) // never fails (package crypto/rand)
		if known && own.Verifier.Iterations == v.Iterations {
			v = own.Verifier
		}
		all = append(all, v)
	}
	return all
}

func (c *Console) logout(w http.ResponseWriter, r *http.Request, s *session) error {
	c.sessions.end(s)
	gone := c.cookie("", 0)
	gone.MaxAge = -1
	http.SetCookie(w, gone)
	w.Header().Set("Clear-Site-Data", `"cache"`)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
	return nil
}

// localPath returns the path of the console to open after the login, and rejects other targets.
func localPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Opaque != "" || !strings.HasPrefix(next, "/") ||
		strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") || u.Path == "/login" || strings.HasPrefix(u.Path, "/api/") {
		return "/"
	}
	return next
}

func loginPath(next string) string {
	if next = localPath(next); next == "/" {
		return "/login"
	}
	return "/login?next=" + url.QueryEscape(next)
}
