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
	"golang.org/x/term"

	"github.com/kproxy/kproxy/cmd/kproxy/build"
	"github.com/kproxy/kproxy/internal/visible"
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
	root.SetErr(visible.Writer(os.Stderr))
	if term.IsTerminal(int(os.Stdout.Fd())) { // what is redirected may be for programs
		root.SetOut(visible.Writer(os.Stdout))
	}
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

  kproxy demo       try it: a private server, a sample hospital, a port for psql
  kproxy setup      prepare a database (or print the SQL for an administrator)
  kproxy check      check the configuration and the privileges
  kproxy serve      publish the protected tables and serve clients
  kproxy verify     verify that the published tables meet their constraints
  kproxy report     write a dossier of the release: rules, risks, proofs, limits
  kproxy status     show the state of the published tables, and what needs attention
  kproxy reload     make running processes read their configuration again
  kproxy accept     show what changed in tables and policy, and accept it
  kproxy resync     compare tables with their source and apply the difference
  kproxy explain    show how a statement is rewritten, or why it is refused
  kproxy user       add, list and remove users
  kproxy init       draft a configuration from a database
  kproxy eval       compare methods and parameters on your data
  kproxy anonymize  anonymize CSV or Parquet files, without a server
  kproxy export     write what is served to CSV or Parquet files

Exit codes: 0 success; 1 failure; 2 wrong command line; 3 (status only) something needs
attention. With --json, errors are written to standard error as
{"error": {"code", "message", "hint"}}.`,
		Version:       build.This().Version,
		SilenceUsage:  true,
		SilenceErrors: true,
	})
	root.SetFlagErrorFunc(wrongFlag)
	root.SetHelpCommand(newHelp())
	root.AddCommand(newDemo(), newSetup(), newCheck(), newServe(), newVerify(), newReport(), newStatus(), newReload(), newAccept(), newRebuild(), newResync(), newReanonymize(), newPassword(), newInit(), newEval(), newAnonymize(), newExport(), newHealth(), newConsole(),
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
