package main

import (
	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/internal/config"
)

func newSchema() *cobra.Command {
	c := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the configuration, for editors",
		Long: `Schema prints the JSON Schema (2020-12) of the configuration, generated from the code
that reads it. Editors with a YAML language server use it to complete keys and mark mistakes.
The first line of a configuration can name the file:

  # yaml-language-server: $schema=config.schema.json

'kproxy check' reports what a schema cannot express, such as settings that contradict each
other. With --policy, schema prints the schema of the policy files of 'kproxy demo' and
'kproxy eval'.`,
		Example: `  kproxy schema >config.schema.json`,
		Args:    noArguments,
	}
	jsonFlag(c) // what it prints is JSON in any case: errors are, too
	policy := c.Flags().Bool("policy", false, "the schema of policy files")
	c.RunE = func(c *cobra.Command, _ []string) error {
		text, err := schemaText(*policy)
		if err != nil {
			return err
		}
		_, err = c.OutOrStdout().Write(text)
		return err
	}
	return c
}

func schemaText(policy bool) ([]byte, error) {
	if policy {
		return config.Schema("A policy file of kproxy", config.DescribePolicy())
	}
	return config.Schema("The configuration of kproxy", config.Describe())
}
