package main

import (
	"context"
	"log/slog"
	"os"
	"syscall"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/cmd/kproxy/daemon"
	"github.com/kproxy/kproxy/cmd/kproxy/systemd"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
)

func newServe() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Publish the protected tables, keep them in step with their source, and serve them",
		Long: `Serve checks the configuration and the privileges, publishes every protected table
that is not published yet, and then serves clients while it applies the changes of the
source. It refuses to start if a check fails. It listens once every table is published, or is
withdrawn and needs attention.

Any number of processes can serve the same database, on any number of machines. One of
them applies the changes. If it ends, or does not answer for 10 seconds, another one
takes over within seconds; clients of the other processes are not affected.

On SIGINT or SIGTERM, running statements may finish, for at most timeouts.shutdown. A second
signal ends all sessions at once, and a third one the process. On SIGHUP, the process reads
the configuration and the certificates again; 'kproxy reload' does that for all processes. A
service manager that understands sd_notify(3) is notified of these events, and may pass
sockets to listen on, which replace those that the configuration names.`,
		Args: noArguments,
	}
	path := configFlag(c)
	errorsAsJSON(c)
	c.RunE = func(c *cobra.Command, _ []string) error { return serve(c.Context(), *path) }
	return c
}

// serve runs a daemon until ctx ends, with the service manager told.
func serve(ctx context.Context, path string) error {
	// From the start: a signal that nobody waits for would end the process.
	heard := hear()
	defer heard.stop()
	cfg, err := loadConfig(path)
	if err != nil {
		return err
	}
	listeners, err := systemd.Listeners()
	if err != nil {
		return err
	}
	level := &slog.LevelVar{}
	level.Set(cfg.Log.Level)
	log := newLogger(os.Stderr, cfg.Log, level)
	limitMemory(log, memlimit.FromCgroup)
	bar := newProgress(os.Stderr)
	defer bar.done()
	d := daemon.New(cfg, daemon.Options{
		Logger:    log,
		Level:     level,
		Load:      func() (*config.Config, error) { return loadConfig(path) },
		Place:     upstream.Place(path),
		Progress:  bar.show,
		Failpoint: failpoint(os.Getenv(failpointEnv)),
		Listeners: listeners,
		Seed:      1,
	})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	over, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	manager := systemd.Manager{Failed: func(err error) { log.Warn("service manager", "error", err) }}
	go heard.reload(ctx, d, manager)
	go heard.endAtSecond(over, d, log)
	go announce(ctx, over, d, manager, cfg.Timeouts.Shutdown)
	return d.Run(ctx)
}

// failpointEnv names a failpoint of package sync at which the process kills
// itself: fault-injection tests use it to crash at a chosen step.
const failpointEnv = "KPROXY_FAILPOINT"

func failpoint(chosen string) func(string) {
	if chosen == "" {
		return nil
	}
	return func(name string) {
		if name == chosen {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the signal is on its way
		}
	}
}
