package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/cmd/kproxy/status"
	"github.com/kproxy/kproxy/internal/config"
)

func newStatus() *cobra.Command {
	c := &cobra.Command{
		Use:   "status",
		Short: "Show the state of the published tables and of replication, and what needs you",
		Long: `Status reads the private store as the owner, whether 'kproxy serve' runs or not:
which kproxy applies, how many clients those that serve have, how far the published tables
are behind their source, how much of its write-ahead log the server keeps for that, and of
each table its state, records, rows and classes. The states are

  unpublished  being made; readers are told to try again
  published    served, and in step with its source
  withheld     not served, as its records are too few, or cannot meet its constraints
  halted       not served, as it can no longer be kept in step: it needs you
  withdrawn    not served, as a check has found something about it, or a process does not
               serve it: it needs you

The others go on. A listed view is withdrawn while a table whose rows it shows is not
served; its line says which. Of tables with guarded updates status also shows

  WAITING  records that wait to be published, and for how long the first has
  STALE    records that are published as they were before a change, and since when
  GHOSTS   rows whose records are deleted, which vanish when enough others have left
  RETURNED records that were deleted and inserted again, with the same key, and have taken
           the rows back that they left, since the release was begun
  EXPIRED  records that are withheld for good: they waited until the deadline, or
           violated the constraints with all others of their batch

PROOF is what 'kproxy verify', or the process by itself, has found last; one of an earlier
release says nothing of this one. WITHHELD are all records that are not published. The
figures are for the operator: to readers they would tell who came and left.

Exit codes: 0 all is well; 1 the status could not be read; 2 wrong command line;
3 something needs you, and the last lines say what and how it is mended: a table is
halted or withdrawn, or its proof fails, a listed name cannot be used, the audit fails, the
slot is gone, lost or about to be, it keeps more log than replication.alarm allows, or no
kproxy applies.`,
		Args: noArguments,
	}
	asJSON := jsonFlag(c)
	bounded := boundedConfig(c, 0, "ask for at most `LONG`")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return bounded(func(ctx context.Context, cfg *config.Config) error {
			status, err := status.Read(ctx, cfg)
			if err != nil {
				return err
			}
			write := status.WriteText
			if *asJSON {
				write = status.WriteJSON
			}
			if err := write(c.OutOrStdout()); err != nil {
				return err
			}
			if len(status.Needs) > 0 {
				return errNeeded
			}
			return nil
		})
	}
	return c
}
