package main

import (
	"context"
	"time"

	"github.com/kproxy/kproxy/cmd/kproxy/daemon"
	"github.com/kproxy/kproxy/cmd/kproxy/systemd"
)

const (
	// summaryInterval is how often the line in systemctl status is made anew.
	summaryInterval = 10 * time.Second

	// endingGrace is what ending takes beside the running statements.
	endingGrace = 15 * time.Second
)

// announce tells the service manager how the daemon is until the process is over: ctx
// ends when it is to end, for which running statements have as long as drain.
func announce(ctx, over context.Context, d *daemon.Daemon, manager systemd.Manager, drain time.Duration) {
	manager.Status("Checking the database and publishing")
	defer manager.Stopping(drain+endingGrace, "Waiting for running statements")
	select {
	case <-d.Ready():
	case <-ctx.Done():
		return
	}
	told := d.Summary()
	manager.Ready(told)
	go manager.Watch(over, func(asked context.Context) error {
		if err := d.Responds(asked); err != nil && ctx.Err() == nil {
			return err
		}
		return nil // or nobody can connect any more, as it should be
	})
	ticker := time.NewTicker(summaryInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if now := d.Summary(); now != told {
				told = now
				manager.Status(told)
			}
		case <-ctx.Done():
			return
		}
	}
}
