// Command kproxy publishes anonymized views of PostgreSQL tables and keeps
// them in step with their source.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/cmd/kproxy/build"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

func run(ctx context.Context, arguments []string) int {
	root := newRoot()
	root.SetArgs(arguments)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	p := problemOf(ctx, err, command)
	p.write(os.Stderr, wantsJSON(command, arguments))
	return p.exitCode()
}

func newRoot() *cobra.Command {
	root := group(&cobra.Command{
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
  kproxy accept     show what changed of tables and policy, and accept it
  kproxy resync     compare tables with their source and apply the difference
  kproxy explain    show what becomes of a statement, and why one is refused
  kproxy user       add, list and remove users
  kproxy init       draft a policy from the data
  kproxy eval       compare methods and parameters on your data

Exit codes: 0 done, 1 failed or does not hold, 2 wrong command line, 3 (of status) something
needs the operator. With --json, errors are {"error": {"code", "message", "hint"}} on standard
error.`,
		Version:       build.This().Version,
		SilenceUsage:  true,
		SilenceErrors: true,
	})
	root.SetFlagErrorFunc(wrongFlag)
	root.SetHelpCommand(newHelp())
	root.AddCommand(newDemo(), newSetup(), newCheck(), newServe(), newVerify(), newStatus(), newReload(), newAccept(), newRebuild(), newResync(), newReanonymize(), newPassword(), newInit(), newEval(), newHealth(), newConsole(),
		newVersion(), newSchema(), newUser(), newExplain(), newGenerate())
	return root
}

// noArguments refuses positional arguments as a usage error.
func noArguments(c *cobra.Command, arguments []string) error {
	if len(arguments) > 0 {
		return usageError{fmt.Errorf("%s takes no argument, but was given %q", c.CommandPath(), arguments[0])}
	}
	return nil
}
