package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/accept"
	"github.com/kproxy/kproxy/cmd/kproxy/processes"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/cmd/kproxy/views"
	"github.com/kproxy/kproxy/internal/config"
)

const acceptHelp = `Accept compares each protected table, readable relation and listed function, or those
named, with its definition when it was accepted, and the policy of the configuration with the
policy in force. It prints the differences and asks for confirmation.

A policy names columns, but anyone who may alter a table can give a name to another column.
kproxy therefore publishes nothing of a table whose columns, by number, have other names,
types or collations than were accepted, whose enumerations have renamed labels, or whose
composite types have other fields. Such a table is halted until the change is reverted, or
accepted here. Read every line: once accepted, each name in the policy stands for the
column that has it now, and a field that was added is shown like the others.

An accepted immediate table is published afresh. An accepted guarded table keeps its
lineage if its release stays the same. Otherwise it also needs 'kproxy rebuild TABLE
--new-lineage', since readers who kept the old classes can compare them.

A readable relation is accepted when it is first served; so is a listed view, but for one over
protected tables, which is published from what these publish, whatever its definition. It is
refused to readers when its name comes to stand for another relation, its columns have other
names or types, composite types in it or under it have other fields, or a view has another
definition, until the change is reverted, or accepted here. Columns that were added since are
left out until then, including those of tables of which a view shows whole rows.

A function that the configuration lists is accepted when it is first served, too. If it gets
another definition or another owner, or another function gets its name, it cannot be called
until the change is reverted, or accepted here.

Without names, a policy that is not in force is accepted, too: processes with another policy
then stop publishing. 'kproxy reload' does the same for the process that applies changes.
Running processes read their configurations again afterwards.

If nothing differs, nothing is done. If the policy does not fit a table as it is now,
nothing is accepted: correct the policy first.

Exit codes: 0 accepted, or there is nothing to accept; 1 not accepted, or the policy does
not fit; 2 wrong command line.`

func newAccept() *cobra.Command {
	c := &cobra.Command{
		Use:   "accept [NAME ...]",
		Short: "Show what changed in relations, functions and the policy since they were accepted, and accept it",
		Long:  acceptHelp,
		Example: `  kproxy accept
  kproxy accept public.patients
  kproxy accept public.patients --yes`,
	}
	path := configFlag(c)
	yes := c.Flags().BoolP("yes", "y", false, "accept without asking")
	asJSON := jsonFlag(c)
	limited := timeoutFlag(c, reloadTimeout, "wait at most `LONG`, including for the answers of running processes")
	c.ValidArgsFunction = completeRelations
	c.RunE = func(c *cobra.Command, arguments []string) error {
		ctx, cancel, err := limited(c.Context())
		if err != nil {
			return err
		}
		defer cancel()
		cfg, err := loadConfig(*path)
		if err != nil {
			return err
		}
		out := forReading(c)
		if *asJSON {
			out = io.Discard
		}
		confirm := func() error { return confirmAcceptance(ctx, dialog(c)) }
		if *yes {
			confirm = func() error { return nil }
		}
		a, err := acceptShown(ctx, cfg, upstream.Place(*path), tableNames(arguments), out, confirm)
		if err != nil {
			return err
		}
		if *asJSON {
			return writeJSON(c.OutOrStdout(), a)
		}
		return nil
	}
	return c
}

// acceptShown shows what there is to accept, has it confirmed, and accepts it. What is no longer
// as it was shown is shown and confirmed again, some times.
func acceptShown(ctx context.Context, cfg *config.Config, place string, named []catalog.Name, out io.Writer, confirm func() error) (accepted, error) {
	for attempt := 1; ; attempt++ {
		proposal, err := accept.Propose(ctx, cfg, place, named)
		if err != nil {
			return accepted{}, err
		}
		a := acceptedOf(proposal)
		if attempt > 1 {
			fmt.Fprintln(out, "nothing was accepted, since something changed meanwhile; now:")
		}
		writeProposal(out, a)
		if proposal.Empty() {
			return a, nil
		}
		if err := confirm(); err != nil {
			return accepted{}, err
		}
		a.InForce, err = accept.Accept(ctx, cfg, proposal)
		if errors.Is(err, views.ErrMeanwhile) && attempt < 10 {
			continue
		}
		if err != nil {
			return accepted{}, err
		}
		a.Accepted = true
		// Whoever runs takes it up at once; one that does not answer finds it in the store.
		if _, _, err := processes.AskToTakeUp(ctx, cfg); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return accepted{}, err
		}
		fmt.Fprintln(out, acceptedNote(a))
		return a, nil
	}
}

// accepted is what was shown, as JSON.
type accepted struct {
	Accepted bool            `json:"accepted"` // false where there was nothing to accept
	InForce  int64           `json:"policy_in_force"`
	Policy   []string        `json:"policy"`
	Tables   []acceptedTable `json:"tables"`
	// Readable are relations that are readable, and listed views.
	Readable []acceptedRelation `json:"readable"`
	// Functions are those that clients may call.
	Functions []acceptedFunction `json:"functions"`
	was       int64
}

type acceptedTable struct {
	Table   string   `json:"table"`
	Changes []string `json:"changes"`
	// NewLineage says that the table needs 'kproxy rebuild TABLE --new-lineage' as well.
	NewLineage bool `json:"new_lineage"`
}

type acceptedFunction struct {
	Function string   `json:"function"`
	Changes  []string `json:"changes"`
}

type acceptedRelation struct {
	Relation string   `json:"relation"`
	Changes  []string `json:"changes"`
}

func acceptedOf(p accept.Proposal) accepted {
	a := accepted{InForce: p.InForce, Policy: append([]string{}, p.Policy...), Tables: []acceptedTable{}, Readable: []acceptedRelation{}, Functions: []acceptedFunction{}, was: p.Was}
	for _, r := range p.Relations {
		a.Readable = append(a.Readable, acceptedRelation{Relation: r.Relation.String(), Changes: r.Changes})
	}
	for _, f := range p.Functions {
		a.Functions = append(a.Functions, acceptedFunction{Function: f.Function.String(), Changes: f.Changes})
	}
	for _, t := range p.Tables {
		a.Tables = append(a.Tables, acceptedTable{Table: t.Table.String(), Changes: t.Changes, NewLineage: t.Guarded && t.NewRelease})
	}
	return a
}

func writeProposal(w io.Writer, a accepted) {
	if len(a.Policy) > 0 {
		fmt.Fprintf(w, "the policy of the configuration is not number %d, which is in force:\n", a.InForce)
		if a.was != 0 {
			fmt.Fprintf(w, "  it is number %d, which was superseded\n", a.was)
		}
		for _, line := range a.Policy {
			fmt.Fprintln(w, "  "+line)
		}
	}
	for _, t := range a.Tables {
		fmt.Fprintln(w, t.Table+":")
		for _, line := range t.Changes {
			fmt.Fprintln(w, "  "+line)
		}
	}
	for _, r := range a.Readable {
		fmt.Fprintln(w, "readable "+r.Relation+":")
		for _, line := range r.Changes {
			fmt.Fprintln(w, "  "+line)
		}
	}
	for _, f := range a.Functions {
		fmt.Fprintln(w, "function "+f.Function+":")
		for _, line := range f.Changes {
			fmt.Fprintln(w, "  "+line)
		}
	}
	if len(a.Policy)+len(a.Tables)+len(a.Readable)+len(a.Functions) == 0 {
		fmt.Fprintf(w, "nothing to accept; policy number %d is in force\n", a.InForce)
	}
}

func acceptedNote(a accepted) string {
	note := fmt.Sprintf("accepted; policy number %d is in force", a.InForce)
	var lineages []string
	for _, t := range a.Tables {
		if t.NewLineage {
			lineages = append(lineages, t.Table)
		}
	}
	if len(lineages) > 0 {
		note += fmt.Sprintf("\nguarded tables that wait for a new lineage: kproxy rebuild %s --new-lineage", strings.Join(lineages, " "))
	}
	return note
}

// confirmAcceptance asks at the terminal whether what was shown is meant.
func confirmAcceptance(ctx context.Context, t terminal) error {
	if !t.interactive {
		return usageError{errors.New("nobody can be asked here; if what is shown is meant, give --yes")}
	}
	return t.confirm(ctx, "Type yes to accept that: ",
		failure{codeRefused, "take the change back, and halted tables go on by themselves", errors.New("nothing was accepted: the answer was not yes")})
}
