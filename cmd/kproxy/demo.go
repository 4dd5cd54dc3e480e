package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/cmd/kproxy/demo"
)

func newDemo() *cobra.Command {
	var o demo.Options
	c := &cobra.Command{
		Use:   "demo",
		Short: "Try kproxy: a private server, a hospital of 5,000 persons and 50,000 patients, a port for psql",
		Long: `Demo starts a private PostgreSQL server on the loopback interface, fills it with
a generated hospital, publishes it, and serves it until Ctrl-C. It then removes
everything it created.

Persons, their stays, diagnoses, prescriptions and labs are released together: they are
joined by their keys, and the output says what an outsider may know. Two single tables,
about others, show both modes of updates. Patients (config.example.yaml) have immediate
updates, as persons have: readers see each change at once, and can learn from comparing
versions. Staff has guarded updates, which hide who came, left or changed. The output says
which applies to each table.

Its configuration is in no file, and cannot be changed. To try other settings, audiences for
example, run 'kproxy init' on a database of your own.

With --csv and --policy, demo publishes your own table instead. The policy file
has the sections csv (the format of the file) and tables (the policy).

With --once, demo runs a scripted tour that checks what it shows, and exits.`,
		Args: noArguments,
	}
	errorsAsJSON(c)
	flags := c.Flags()
	flags.BoolVar(&o.Once, "once", false, "run the scripted tour and exit: 0 when everything held, 1 otherwise")
	flags.BoolVar(&o.Guarded, "guarded", false, "use guarded updates for all tables, with short waits")
	flags.StringVar(&o.CSV, "csv", "", "publish this CSV `FILE` instead of the hospital (needs --policy)")
	flags.StringVar(&o.Policy, "policy", "", "policy `FILE` for --csv")
	flags.IntVar(&o.Persons, "persons", demo.DefaultPersons, "`NUMBER` of persons to generate, with their stays and what belongs to these")
	flags.IntVar(&o.Patients, "patients", demo.DefaultPatients, "`NUMBER` of patients to generate")
	flags.Uint64Var(&o.Seed, "seed", 1, "`SEED` of the generator and of the anonymization")
	flags.StringVar(&o.Listen, "listen", "", "`ADDRESS` to serve on (default 127.0.0.1:6432, or a free port when that is taken)")
	flags.StringVar(&o.BinDir, "pg-bin", "", "`FOLDER` with the PostgreSQL server binaries (default: KPROXY_PG_BIN, PATH, pg_config, the distributions' folders)")
	flags.BoolVarP(&o.Verbose, "verbose", "v", false, "show kproxy's log")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if (o.CSV == "") != (o.Policy == "") {
			return usageError{errors.New("--csv and --policy belong together")}
		}
		if o.Patients < 0 {
			return usageError{errors.New("--patients must not be negative")}
		}
		if o.Persons < 1 {
			return usageError{errors.New("--persons must be positive")}
		}
		bar := newProgress(os.Stderr)
		o.Out, o.Err, o.Progress, o.ProgressDone = c.OutOrStdout(), c.ErrOrStderr(), bar.show, bar.done
		return demo.Run(c.Context(), o)
	}
	return c
}
