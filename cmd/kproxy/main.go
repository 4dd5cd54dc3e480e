// Command kproxy publishes anonymized views of PostgreSQL tables and keeps
// them in step with their source.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1 // what was asked for could not be done, or did not hold
	exitUsage   = 2 // the command line is wrong
	exitNeeded  = 3 // what was asked for was shown, and needs the operator
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// usageError marks mistakes on the command line.
type usageError struct{ error }

// errNeeded is the end of a command that has shown what needs the operator.
var errNeeded = errors.New("something needs the operator")

func run(ctx context.Context, arguments []string) int {
	root := newRoot()
	root.SetArgs(arguments)
	command, err := root.ExecuteContextC(ctx)
	switch usage := (usageError{}); {
	case err == nil:
		return exitOK
	case errors.Is(err, errNeeded):
		return exitNeeded
	case errors.As(err, &usage):
		fmt.Fprintf(os.Stderr, "kproxy: %v\nRun '%s --help' for what it takes.\n", err, command.CommandPath())
		return exitUsage
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "kproxy: interrupted")
		return exitFailure
	default:
		fmt.Fprintf(os.Stderr, "kproxy: %v\n", err)
		return exitFailure
	}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "kproxy",
		Short: "Publish anonymized views of PostgreSQL tables, kept in step with their source",
		Long: `kproxy is a PostgreSQL proxy that publishes anonymized views.

It takes a snapshot of each protected table, makes a k-anonymous release of it,
keeps the release in step with the source through logical replication, and
serves it to any PostgreSQL client under the table's own name.

  kproxy demo       see it work: a private server, a hospital, a port for psql
  kproxy setup      prepare a database (or print the SQL for a DBA)
  kproxy check      verify configuration and privileges
  kproxy serve      publish and serve
  kproxy verify     prove that the published tables meet their constraints
  kproxy status     show how fresh the published tables are, and what needs you
  kproxy reload     have running processes read their configuration again
  kproxy resync     compare tables with their source and apply the difference
  kproxy init       draft a policy from the data
  kproxy eval       compare methods and parameters on your data

Exit codes: 0 done, 1 failed or does not hold, 2 wrong command line, 3 (of status) something
needs the operator.`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(_ *cobra.Command, arguments []string) error {
			if len(arguments) > 0 {
				return usageError{fmt.Errorf("there is no command %q", arguments[0])}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(newDemo(), newSetup(), newCheck(), newServe(), newVerify(), newStatus(), newReload(), newRebuild(), newResync(), newReanonymize(), newPassword(), newInit(), newEval(), newHealth())
	return root
}

// noArguments refuses positional arguments as a usage error.
func noArguments(c *cobra.Command, arguments []string) error {
	if len(arguments) > 0 {
		return usageError{fmt.Errorf("%s takes no argument, but was given %q", c.CommandPath(), arguments[0])}
	}
	return nil
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown)"
	}
	return info.Main.Version
}
