package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/cmd/kproxy/draft"
)

func newInit() *cobra.Command {
	var o draft.Options
	c := &cobra.Command{
		Use:   "init",
		Short: "Draft a policy from the data: roles, hierarchies and constraints to start from",
		Long: `Init looks at a table's columns and values and drafts its policy: which columns
identify, which are quasi-identifying or sensitive, and how they can be
generalized, each with the reason. Read every line of it: only somebody who knows
the data knows what others know.

From a CSV file it drafts a policy file for 'kproxy demo' and 'kproxy eval'; from a
database, the section "tables" of a configuration. The database is only read, in
one READ ONLY transaction.

  kproxy init --data people.csv
  kproxy init --dsn "host=127.0.0.1 dbname=hospital user=dba" --table public.patients`,
		Args: noArguments,
	}
	flags := c.Flags()
	flags.StringVar(&o.Data, "data", "", "CSV `FILE` with a header to draft from")
	flags.StringVar(&o.Delimiter, "delimiter", ",", "`CHARACTER` between the fields of --data, or tab")
	flags.StringVar(&o.Missing, "missing", "", "`TEXT` in --data that stands for a missing value")
	flags.StringVar(&o.DSN, "dsn", "", "connection `STRING` of a database to draft from; libpq's environment variables count as well")
	flags.StringVar(&o.Table, "table", "", "`TABLE` of the database as schema.table; with --data, the table to be made (default: public and the file's name)")
	flags.IntVar(&o.Sample, "sample", draft.DefaultSample, "`NUMBER` of records of the database's table to look at; 0 is all")
	out := flags.StringP("out", "o", "", "write to this `FILE`, which must not exist, instead of the terminal")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if o.Data == "" && o.Table == "" || o.Data != "" && o.DSN != "" {
			return usageError{errors.New("give either --data FILE, or --table TABLE with --dsn")}
		}
		if o.Sample < 0 {
			return usageError{errors.New("--sample must not be negative")}
		}
		text, err := draft.Draft(c.Context(), o)
		if err != nil {
			return err
		}
		if *out == "" {
			_, err = fmt.Fprint(c.OutOrStdout(), text)
			return err
		}
		return writeNew(*out, text)
	}
	return c
}

// writeNew makes a file and refuses to replace one.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("writing the draft: %s exists; remove it or choose another name", path)
	}
	if err != nil {
		return fmt.Errorf("writing the draft: %w", err)
	}
	if _, err := f.WriteString(text); err != nil {
		_ = f.Close()
		return fmt.Errorf("writing the draft: %w", err)
	}
	return f.Close()
}
