package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/cmd/kproxy/draft"
)

// initialization are the flags of init.
type initialization struct {
	file     draft.FileOptions
	database draft.Options
	out      string
	print    bool
	json     bool
}

func newInit() *cobra.Command {
	var i initialization
	c := &cobra.Command{
		Use:   "init",
		Short: "Draft a configuration from a database, or a policy from a CSV file",
		Long: `Init examines the tables of a database and drafts a configuration that 'kproxy setup',
'kproxy check' and 'kproxy serve' accept without changes. It decides which tables are
protected, which are look-up tables that clients may read, and which are left out; for each
column of a protected table, whether it is identifying, quasi-identifying or sensitive, and
how it is generalized; and k, l and the column that identifies persons. The reasons are
comments in the file. Init then shows the effect of the draft on a sample of each table. Read
every line: only somebody who knows the data can judge what others know.

Where several tables are about the same persons, by foreign keys or by names and values, init
drafts 'people', so that they are released together and can be joined. For these it shows, on
a sample of persons with all of their rows, what is lost, how many rows keep their keys, and
the risk by how many rows an outsider knows, as drafted and with the alternatives of 'knows'.

Init only reads the database, in one READ ONLY transaction. It writes the configuration and
the passwords of kproxy's two roles to new files that only you can read, and never replaces a
file. It shows the password of the user who may log in once.

With --data, init drafts a policy file for 'kproxy demo' and 'kproxy eval' from a CSV file.

Exit codes: 0 written; 1 not written (a file exists, nothing to protect was found, or the
database cannot be read); 2 wrong command line.`,
		Example: `  kproxy init --dsn "host=127.0.0.1 dbname=hospital user=dba"
  kproxy init --schema clinic --schema billing --out /etc/kproxy/kproxy.yaml
  kproxy init --table patients --table 'lab_*' --print
  kproxy init --json | jq -r '.tables[] | select(.verdict == "protected") | .table'
  kproxy init --data people.csv --out policy.yaml`,
		Args: noArguments,
	}
	flags := c.Flags()
	flags.StringVar(&i.database.DSN, "dsn", "", "connection `STRING` of a database to draft from; libpq's environment variables count as well")
	flags.StringArrayVar(&i.database.Tables, "table", nil, "`PATTERN` of tables to look at, as table or schema.table, with * and ?; can be repeated (default: all). With --data: the table to be made")
	flags.StringArrayVar(&i.database.Schemas, "schema", nil, "`SCHEMA` to look in; can be repeated (default: all)")
	flags.IntVar(&i.database.Sample, "sample", draft.DefaultSample, "`NUMBER` of records of each table to look at; 0 is all")
	flags.Uint64Var(&i.database.Seed, "seed", 1, "`SEED` of the samples")
	flags.StringVar(&i.database.User, "user", "analyst", "`NAME` of the user who may log in")
	flags.StringVar(&i.database.Listen, "listen", "127.0.0.1:6432", "`HOST:PORT` where clients connect")
	flags.BoolVar(&i.print, "print", false, "print the tables' policies and write nothing")
	flags.StringVar(&i.file.Data, "data", "", "CSV `FILE` with a header to draft from")
	flags.StringVar(&i.file.Delimiter, "delimiter", ",", "`CHARACTER` between the fields of --data, or tab")
	flags.StringVar(&i.file.Missing, "missing", "", "`TEXT` in --data that stands for a missing value")
	flags.StringVarP(&i.out, "out", "o", "", "write to this `FILE`, which must not exist (default: kproxy.yaml; with --data: the terminal)")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		i.json = *asJSON
		if err := i.check(); err != nil {
			return usageError{err}
		}
		if i.file.Data != "" {
			return i.fromFile(c)
		}
		return i.fromDatabase(c)
	}
	return c
}

func (i *initialization) check() error {
	if i.file.Data != "" {
		switch {
		case i.database.DSN != "" || len(i.database.Schemas) > 0:
			return errors.New("give either --data FILE, or --dsn and --schema of a database")
		case len(i.database.Tables) > 1:
			return errors.New("--data makes one table: give one --table")
		case i.json || i.print:
			return errors.New("--json and --print are for a database; --data writes the policy to the terminal without --out")
		}
		return nil
	}
	if i.database.Sample < 0 {
		return errors.New("--sample must not be negative")
	}
	if _, _, err := net.SplitHostPort(i.database.Listen); err != nil {
		return errors.New("--listen must be HOST:PORT")
	}
	if i.database.User == "" {
		return errors.New("--user must not be empty")
	}
	return nil
}

func (i *initialization) fromFile(c *cobra.Command) error {
	if len(i.database.Tables) > 0 {
		i.file.Table = i.database.Tables[0]
	}
	text, err := draft.FromFile(i.file)
	if err != nil {
		return err
	}
	if i.out == "" {
		_, err = fmt.Fprint(c.OutOrStdout(), text)
		return err
	}
	return writeNew(i.out, text)
}

func (i *initialization) fromDatabase(c *cobra.Command) error {
	o := i.database
	if o.Out = i.out; o.Out == "" {
		o.Out = "kproxy.yaml"
	}
	if !i.print {
		if err := draft.CheckOut(o.Out); err != nil {
			return err
		}
	}
	bar := newProgress(os.Stderr)
	defer bar.done()
	o.Progress = func(what string, done, total int) { bar.say(gauge(done, total) + " " + what) }
	outcome, err := draft.Database(c.Context(), o)
	bar.done()
	if err != nil {
		return err
	}
	return i.show(c, outcome)
}

// show writes what there is to write, and tells of it.
func (i *initialization) show(c *cobra.Command, outcome *draft.Outcome) error {
	found := outcome.Text != ""
	switch {
	case i.print && found && !i.json:
		_, err := fmt.Fprint(c.OutOrStdout(), outcome.Section)
		return err
	case i.print:
		outcome.Forget()
	case found:
		if err := outcome.Write(); err != nil {
			return err
		}
	}
	var err error
	if i.json {
		err = writeJSON(c.OutOrStdout(), outcome)
	} else {
		err = outcome.Report(c.OutOrStdout())
		if err == nil && found {
			err = outcome.Written(c.OutOrStdout())
		}
	}
	if err == nil && !found {
		err = draft.ErrNobody
	}
	return err
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
