package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// group completes a command that is there for those below it: it shows its help, and takes
// nothing but --json, for the errors of commands that there are not.
func group(c *cobra.Command) *cobra.Command {
	asJSON := c.Flags().Bool("json", false, "write errors as JSON")
	_ = c.Flags().MarkHidden("json") // fails only without the flag
	c.Args = func(c *cobra.Command, arguments []string) error {
		if len(arguments) > 0 {
			return noCommand(c, arguments[0])
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *asJSON {
			return usageError{fmt.Errorf("%s --json names no command, and help is not written as JSON", c.CommandPath())}
		}
		return c.Help()
	}
	return c
}

// noCommand says that a group has no command of a name.
func noCommand(c *cobra.Command, name string) error {
	text := fmt.Sprintf("there is no command %q", name)
	if c.HasParent() {
		text += " in " + c.CommandPath()
	}
	c.SuggestionsMinimumDistance = (len(name) + 1) / 3 // all short words are alike
	if near := c.SuggestionsFor(name); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return usageError{fmt.Errorf("%s", text)}
}

// wrongFlag is a mistake in the flags of a command. Where the command is a group and was
// given a word, the word is the mistake: the flags were meant for what it names.
func wrongFlag(c *cobra.Command, err error) error {
	if c.HasSubCommands() && c.Flags().NArg() > 0 {
		return noCommand(c, c.Flags().Arg(0))
	}
	return usageError{err}
}

// newHelp takes the place of cobra's own, which shows everything for what there is not.
func newHelp() *cobra.Command {
	c := &cobra.Command{
		Use:   "help [COMMAND ...]",
		Short: "Show the description and the flags of a command",
	}
	find := func(c *cobra.Command, named []string) (*cobra.Command, []string) {
		found, rest, _ := c.Root().Find(named) // what it does not find is among the rest
		return found, rest
	}
	c.ValidArgsFunction = func(c *cobra.Command, named []string, _ string) ([]string, cobra.ShellCompDirective) {
		var names []string
		if found, rest := find(c, named); len(rest) == 0 {
			for _, below := range found.Commands() {
				if below.IsAvailableCommand() {
					names = append(names, below.Name())
				}
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	c.RunE = func(c *cobra.Command, named []string) error {
		found, rest := find(c, named)
		if len(rest) > 0 {
			return noCommand(found, rest[0])
		}
		found.InitDefaultHelpFlag()
		return found.Help()
	}
	return c
}
