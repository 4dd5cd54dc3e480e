package main

import (
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/cmd/kproxy/daemon"
)

func newServe() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Publish the protected tables, keep them in step, and serve them",
		Long: `Serve checks configuration and privileges, publishes every protected table
that is not published yet, and then serves clients while it applies the source's
changes. It refuses to start when a check fails, and listens only once every
table is published. SIGINT or SIGTERM lets running statements finish.`,
		Args: noArguments,
	}
	path := configFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := loadConfig(*path)
		if err != nil {
			return err
		}
		bar := newProgress(os.Stderr)
		defer bar.done()
		return daemon.New(cfg, daemon.Options{
			Logger:    newLogger(cfg.Log),
			Progress:  bar.show,
			Failpoint: failpoint(os.Getenv(failpointEnv)),
			Seed:      1,
		}).Run(c.Context())
	}
	return c
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
