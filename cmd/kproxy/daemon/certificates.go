package daemon

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/kproxy/kproxy/cmd/kproxy/certificates"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/observe"
	"github.com/kproxy/kproxy/internal/state"
)

// inUse are the certificates as the process has read them, at its start or a reload. Any goroutine
// may read them.
type inUse struct {
	all    atomic.Pointer[[]state.Certificate] // the first to end first
	warned map[state.Certificate]time.Time     // of the watch goroutine, or of Run before it
}

// certificatesInterval is how often the log tells of a certificate that needs the operator.
const certificatesInterval = 24 * time.Hour

// adopt reads the certificates of a configuration that is taken over.
func (u *inUse) adopt(log *slog.Logger, c *config.Config) {
	all, err := certificates.Read(c)
	if err != nil {
		log.Warn("certificates could not be read", "error", err)
	}
	u.all.Store(&all)
	u.warned = make(map[state.Certificate]time.Time)
}

// look has the log tell of certificates that are not valid now or soon, once a day.
func (u *inUse) look(log *slog.Logger, now time.Time) {
	for _, c := range u.read() {
		what, fix := certificates.Problem(c, now)
		if last, told := u.warned[c]; what == "" || told && now.Sub(last) < certificatesInterval {
			continue
		}
		u.warned[c] = now
		level := slog.LevelWarn
		if now.After(c.Until) {
			level = slog.LevelError
		}
		log.Log(context.Background(), level, what, "fix", fix)
	}
}

func (u *inUse) read() []state.Certificate {
	if all := u.all.Load(); all != nil {
		return *all
	}
	return nil
}

// first is the certificate that ends first; nil where there are none.
func (u *inUse) first() *state.Certificate {
	all := u.read()
	if len(all) == 0 {
		return nil
	}
	return &all[0]
}

// observed are the certificates as metrics show them.
func (u *inUse) observed() []observe.Certificate {
	var all []observe.Certificate
	for _, c := range u.read() {
		all = append(all, observe.Certificate{Use: c.Use, Subject: c.Subject, Warns: c.Warns(), Until: c.Until})
	}
	return all
}
