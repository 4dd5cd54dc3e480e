package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/cmd/kproxy/daemon"
	"github.com/kproxy/kproxy/config"
)

func newServe() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Publish the protected tables, keep them in step, and serve them",
		Long: `Serve checks configuration and privileges, publishes every protected table
that is not published yet, and then serves clients while it applies the source's
changes. It refuses to start when a check fails, and listens once every table is
published, or is withdrawn and waits for the operator.

Any number of processes serve the same database, on as many machines as you like. One of
them applies the changes; when it ends or does not answer for 10 seconds, another one
takes over within seconds, and clients of the others notice nothing.

SIGINT or SIGTERM lets running statements finish. SIGHUP, or 'kproxy reload' for all
processes at once, reads the configuration again.`,
		Args: noArguments,
	}
	path := configFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		// From the start: a signal that nobody waits for would end the process.
		hangups := make(chan os.Signal, 1)
		signal.Notify(hangups, syscall.SIGHUP)
		defer signal.Stop(hangups)
		cfg, err := loadConfig(*path)
		if err != nil {
			return err
		}
		level := &slog.LevelVar{}
		level.Set(cfg.Log.Level)
		bar := newProgress(os.Stderr)
		defer bar.done()
		d := daemon.New(cfg, daemon.Options{
			Logger:    newLogger(cfg.Log, level),
			Level:     level,
			Load:      func() (*config.Config, error) { return loadConfig(*path) },
			Progress:  bar.show,
			Failpoint: failpoint(os.Getenv(failpointEnv)),
			Seed:      1,
		})
		ctx, cancel := context.WithCancel(c.Context())
		defer cancel()
		go reloadOn(ctx, hangups, d)
		return d.Run(ctx)
	}
	return c
}

// reloadOn has the configuration read again at every signal until ctx ends.
func reloadOn(ctx context.Context, signals <-chan os.Signal, d *daemon.Daemon) {
	for {
		select {
		case <-signals:
			d.Reload(ctx)
		case <-ctx.Done():
			return
		}
	}
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
