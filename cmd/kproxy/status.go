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
		Short: "Show the state of the published tables and of replication, and what needs attention",
		Long: `Status shows the state of the published tables, whether or not 'kproxy serve' runs. It
reads the private store as the owner, and reports which kproxy applies changes, how many
clients the running processes have, how far the published tables are behind their source,
how much write-ahead log the server keeps for the replication slot, and the state, records,
rows and classes of each table. The states are

  unpublished  being made; readers are told to try again
  published    served, and in step with its source
  withheld     not served: it has too few records, or they cannot meet its constraints
  halted       not served: it can no longer be kept in step; needs attention
  withdrawn    not served: a check found something about it, or a process does not
               serve it; needs attention

The state of one table does not affect the others. A listed view is withdrawn while a table
that it shows rows of is not served; its line names the table. Where an audience does not
see a view, a line says why. For tables with guarded updates, status also shows

  WAITING  records that wait to be published, and how long the oldest has waited
  STALE    records that are still published as they were before a change, and since when
  GHOSTS   rows whose records are deleted; they vanish once enough others have left
  UNTOLD   by how many rows counts by kproxy_weight are too high now; below 0, too low
  RETURNED records that were deleted and inserted again with the same key, and took their
           rows back, since the release was begun
  EXPIRED  records that are withheld for good: they waited until the deadline, or
           violated the constraints together with the rest of their batch

PROOF is the last result of 'kproxy verify', or of the process's own verification. A proof
of an earlier release says nothing about the present one. WITHHELD counts all records that
are not published. Tables of more than about 100,000 records are not counted: the figures
are those that processes that serve count now and then, and say how old they are; --count
counts all tables. The figures are for the operator: they would tell readers who came and
who left. Below are the certificates that the configuration names, by their ends.

That readers are refused comes first, since when and why. A table that is being published
shows how far that is, or that it is blocked; the last lines say by whom, and what ends that.
If the database cannot be asked, status asks the process of this machine, if there are
metrics.

Exit codes: 0 all is well; 1 the status could not be read; 2 wrong command line;
3 something needs attention, and the last lines say what, and how to fix it: a table is
halted or withdrawn, or its proof fails; a listed name cannot be used; the audit fails; the
slot is gone, lost or about to be lost, or keeps more log than replication.alarm allows; no
kproxy applies changes; a certificate has expired or does so soon; or auth_query fails.`,
		Args: noArguments,
	}
	asJSON := jsonFlag(c)
	count := c.Flags().Bool("count", false, "count the records of large tables, however long it takes")
	bounded := boundedConfig(c, 0, "wait at most `LONG`")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return bounded(func(ctx context.Context, cfg *config.Config) error {
			status, err := status.Read(ctx, cfg, *count)
			if err != nil {
				return withRefusal(ctx, cfg, err)
			}
			write := status.WriteText
			if *asJSON {
				write = status.WriteJSON
			}
			if err := write(forReading(c)); err != nil {
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
