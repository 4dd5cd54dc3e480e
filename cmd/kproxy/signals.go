package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/kproxy/kproxy/cmd/kproxy/daemon"
	"github.com/kproxy/kproxy/cmd/kproxy/systemd"
)

// signals are those that a running 'kproxy serve' has use for.
type signals struct {
	hangups chan os.Signal // SIGHUP
	ends    chan os.Signal // SIGINT and SIGTERM, which also end the command's context
}

func hear() signals {
	s := signals{hangups: make(chan os.Signal, 1), ends: make(chan os.Signal, 2)}
	signal.Notify(s.hangups, syscall.SIGHUP)
	signal.Notify(s.ends, os.Interrupt, syscall.SIGTERM)
	return s
}

func (s signals) stop() {
	signal.Stop(s.hangups)
	signal.Stop(s.ends)
}

// reload has the configuration read again at every SIGHUP until ctx ends.
func (s signals) reload(ctx context.Context, d *daemon.Daemon, manager systemd.Manager) {
	for {
		select {
		case <-s.hangups:
		case <-ctx.Done():
			return
		}
		select {
		case <-d.Ready():
			manager.Reloading()
			d.Reload(ctx)
			manager.Ready(d.Summary())
		default: // it has yet to say for the first time that it is ready
			d.Reload(ctx)
		}
	}
}

// endAtSecond ends all sessions at the second signal to end, and the process at the
// third, until the process is over.
func (s signals) endAtSecond(over context.Context, d *daemon.Daemon, log *slog.Logger) {
	for _, what := range []string{"ending: running statements may finish", "ending at once"} {
		select {
		case <-s.ends:
			log.Info(what, "sessions", d.Clients().Sessions)
		case <-over.Done():
			return
		}
	}
	signal.Reset(os.Interrupt, syscall.SIGTERM)
	d.EndSessions()
}
