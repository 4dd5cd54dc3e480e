// Package systemd tells the service manager how a process is (sd_notify(3)) and takes
// over the sockets that it listens on for it (sd_listen_fds(3)). Without a service manager
// it does nothing.
package systemd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"
)

// Manager is the service manager that has started the process. Errors of telling it
// something are given to Failed: they are no reason to stop.
type Manager struct {
	Failed func(error)
}

// Ready says that the process serves, or serves again after Reloading.
func (m Manager) Ready(status string) { m.tell(daemon.SdNotifyReady, statusLine(status)) }

// Reloading says that the process reads its configuration; Ready must follow.
func (m Manager) Reloading() {
	m.tell(daemon.SdNotifyReloading, strings.TrimSpace(daemon.SdNotifyMonotonicUsec()), statusLine("Reading the configuration"))
}

// Stopping says that the process ends, which takes as long at most.
func (m Manager) Stopping(most time.Duration, status string) {
	m.tell(daemon.SdNotifyStopping, fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", most.Microseconds()), statusLine(status))
}

// Status shows a line in systemctl status.
func (m Manager) Status(status string) { m.tell(statusLine(status)) }

// statusLine is an assignment of one line, whatever the text is.
func statusLine(text string) string { return "STATUS=" + strings.Join(strings.Fields(text), " ") }

func (m Manager) tell(assignments ...string) {
	if _, err := daemon.SdNotify(false, strings.Join(assignments, "\n")); err != nil {
		m.Failed(fmt.Errorf("telling the service manager: %w", err))
	}
}

// Watch says that the process is alive as often as the service manager wants to hear it
// (WatchdogSec=), as long as healthy returns nil, until ctx ends. Healthy has half of the
// time after which the service manager starts the process again; its errors are given to
// Failed. It returns at once where nobody wants to hear.
func (m Manager) Watch(ctx context.Context, healthy func(context.Context) error) {
	every, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		m.Failed(fmt.Errorf("reading what the service manager wants: %w", err))
	}
	if every <= 0 {
		return
	}
	ticker := time.NewTicker(every / 2)
	defer ticker.Stop()
	for {
		asked, cancel := context.WithTimeout(ctx, every/2)
		err := healthy(asked)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			m.Failed(fmt.Errorf("this process is not healthy: %w", err))
		default:
			m.tell(daemon.SdNotifyWatchdog)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// Listeners are the sockets that the service manager listens on for the process; none
// where it has none.
func Listeners() ([]net.Listener, error) {
	all, err := activation.Listeners()
	if err != nil {
		return nil, fmt.Errorf("taking over the sockets of the service manager: %w", err)
	}
	for _, ln := range all {
		if ln == nil {
			return nil, errors.New("the service manager gave a socket that does not listen: write ListenStream= in the .socket unit")
		}
	}
	return all, nil
}
