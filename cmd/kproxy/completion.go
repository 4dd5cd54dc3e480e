package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
)

// What a shell proposes comes from the configuration alone: nothing is asked of the
// database while somebody types.

// completeTables proposes the protected tables that are not named yet.
func completeTables(c *cobra.Command, named []string, _ string) ([]string, cobra.ShellCompDirective) {
	return completeNames(c, named, func(catalog.Policy) []catalog.Name { return nil })
}

// completeRelations proposes protected tables, readable relations and functions.
func completeRelations(c *cobra.Command, named []string, _ string) ([]string, cobra.ShellCompDirective) {
	return completeNames(c, named, func(p catalog.Policy) []catalog.Name { return slices.Concat(p.Readable, p.Functions) })
}

func completeNames(c *cobra.Command, named []string, besides func(catalog.Policy) []catalog.Name) ([]string, cobra.ShellCompDirective) {
	var names []string
	if cfg := configured(c); cfg != nil {
		for _, t := range cfg.Policy.Tables {
			names = append(names, t.Table.String())
		}
		for _, name := range besides(cfg.Policy) {
			names = append(names, name.String())
		}
	}
	return slices.DeleteFunc(names, func(one string) bool { return slices.Contains(named, one) }), cobra.ShellCompDirectiveNoFileComp
}

// completeAudiences proposes the audiences of the configuration.
func completeAudiences(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var audiences []string
	if cfg := configured(c); cfg != nil {
		for _, a := range cfg.Policy.Audiences {
			audiences = append(audiences, a.Name)
		}
	}
	return audiences, cobra.ShellCompDirectiveNoFileComp
}

// completeUsers proposes one user of the configuration.
func completeUsers(c *cobra.Command, named []string, _ string) ([]string, cobra.ShellCompDirective) {
	var users []string
	if cfg := configured(c); cfg != nil && len(named) == 0 {
		for _, u := range cfg.Users {
			users = append(users, u.Name)
		}
	}
	return users, cobra.ShellCompDirectiveNoFileComp
}

// completeMethods proposes the methods of anonymization.
func completeMethods(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return methods.Names(), cobra.ShellCompDirectiveNoFileComp
}

// configured is the configuration of a command that is being typed; nil where it cannot
// be read.
func configured(c *cobra.Command) *config.Config {
	flag := c.Flag("config")
	if flag == nil {
		return nil
	}
	cfg, err := parseConfig(flag.Value.String())
	if err != nil {
		return nil
	}
	return cfg
}
