package console

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// How long a session lasts.
const (
	idleTime    = 30 * time.Minute
	sessionTime = 12 * time.Hour
	// maxSessions bounds the memory of logins. The session unused for longest ends.
	maxSessions = 256
)

// session is one login.
type session struct {
	id    [sha256.Size]byte
	user  string
	csrf  string
	began time.Time
	used  time.Time // guarded by sessions
}

// hasToken compares what a form sent with the session's token.
func (s *session) hasToken(sent string) bool {
	return subtle.ConstantTimeCompare([]byte(s.csrf), []byte(sent)) == 1
}

// sessions are stored by digests of their identifiers: identifiers that are found in the process's
// memory, for example in a profile, cannot be used to log in.
type sessions struct {
	now   func() time.Time
	mutex sync.Mutex
	all   map[[sha256.Size]byte]*session
}

func newSessions(now func() time.Time) *sessions {
	return &sessions{now: now, all: make(map[[sha256.Size]byte]*session)}
}

// begin creates a session and returns its identifier, which has at least 128 random bits.
func (l *sessions) begin(user string) (id string) {
	id = rand.Text()
	now := l.now()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.sweep(now)
	key := sha256.Sum256([]byte(id))
	l.all[key] = &session{id: key, user: user, csrf: rand.Text(), began: now, used: now}
	return id
}

// sweep ends expired sessions and makes room for one more.
func (l *sessions) sweep(now time.Time) {
	var oldest *session
	for id, s := range l.all {
		if s.isOver(now) {
			delete(l.all, id)
		} else if oldest == nil || s.used.Before(oldest.used) {
			oldest = s
		}
	}
	if len(l.all) >= maxSessions {
		delete(l.all, oldest.id)
	}
}

func (s *session) isOver(now time.Time) bool {
	return now.Sub(s.used) >= idleTime || now.Sub(s.began) >= sessionTime
}

// find returns the session of an identifier, nil for none. It records the use if it was by a person.
func (l *sessions) find(id string, byPerson bool) *session {
	key := sha256.Sum256([]byte(id))
	now := l.now()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	s := l.all[key]
	if s == nil {
		return nil
	}
	if s.isOver(now) {
		delete(l.all, key)
		return nil
	}
	if byPerson {
		s.used = now
	}
	return s
}

func (l *sessions) end(s *session) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	delete(l.all, s.id)
}

func (l *sessions) endOf(user string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for id, s := range l.all {
		if s.user == user {
			delete(l.all, id)
		}
	}
}

// cookieName is the name of the session cookie. With TLS, the prefix prevents other hosts of the
// domain from setting it (RFC 6265bis, section 4.1.3.2).
func (c *Console) cookieName() string {
	name := "kproxy_console_" + strconv.Itoa(c.options.Port)
	if c.options.TLS {
		return "__Host-" + name
	}
	return name
}

func (c *Console) cookie(id string, maxAge time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: c.cookieName(), Value: id, Path: "/", MaxAge: int(maxAge.Seconds()),
		HttpOnly: true, Secure: c.options.TLS, SameSite: http.SameSiteStrictMode,
	}
}

// refreshHeader marks requests of the script, which do not extend a session.
const refreshHeader = "X-Console-Refresh"

func (c *Console) sessionOf(r *http.Request) *session {
	cookie, err := r.Cookie(c.cookieName())
	if err != nil {
		return nil
	}
	return c.sessions.find(cookie.Value, r.Header.Get(refreshHeader) == "")
}
