package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/catalog/provision"
	"github.com/kproxy/kproxy/cmd/kproxy/check"
	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

const adminEnv = "KPROXY_ADMIN_URL"

func newSetup() *cobra.Command {
	c := &cobra.Command{
		Use:   "setup",
		Short: "Prepare the database: roles, schemas, publication and grants (or --print the SQL)",
		Long: `Setup creates, or updates, what kproxy needs in the database: the owner and reader roles,
including further readers, kproxy's schemas, the publication, the grants, and the stand-ins
for the system catalogs. It can be run again at any time, and never touches data. A table
is left out of the publication if UPDATE and DELETE would then fail at the source: it needs a
primary key or another replica identity.

Listed names that do not exist, and relations that show rows of protected tables as they are,
are not granted. Setup warns about them.

Setup connects as an administrator: a superuser, or a role with CREATEROLE that owns
the protected tables. It sets the passwords of the roles to those in the configuration. A
further reader role that was removed from upstream.readers loses its login and its
privileges, but is not dropped. With --print, setup connects to nothing and prints the SQL
for a database administrator to read and run, on PostgreSQL 13 to 18, with notes on the
common managed services and on creating the replication slot in advance. The SQL contains no
passwords.

At run time, kproxy needs an owner role with LOGIN, REPLICATION (on Amazon RDS: membership
in rds_replication), SELECT on the protected tables and ownership of its own schemas, and a
publication of the protected tables. 'kproxy serve' works with a publication and a slot that
were created by other means; 'kproxy check' reports what they lack.`,
		Args: noArguments,
	}
	path := configFlag(c)
	show := c.Flags().Bool("print", false, "print the SQL instead of running it")
	admin := c.Flags().String("admin-url", "", "connection `URL` of an administrator (environment: "+adminEnv+", which keeps a password off the command line)")
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *show {
			return printSetup(c.OutOrStdout(), *path, *asJSON)
		}
		cfg, err := loadConfig(*path)
		if err != nil {
			return err
		}
		if *admin == "" {
			*admin = os.Getenv(adminEnv)
		}
		if *admin == "" {
			return usageError{errors.New("setup needs an administrator's connection: set --admin-url or " + adminEnv + ", or use --print")}
		}
		if err := prepare(c.Context(), *admin, cfg, provisioned(cfg), c.ErrOrStderr()); err != nil {
			return err
		}
		if *asJSON {
			return writeJSON(c.OutOrStdout(), map[string]any{"ok": true, "tables": len(cfg.Policy.Tables)})
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "ok: the database is prepared for %d protected tables; 'kproxy check' verifies it\n", len(cfg.Policy.Tables))
		return err
	}
	return c
}

// printSetup prints what setup would run. Passwords are not part of it, and not looked for.
func printSetup(w io.Writer, path string, asJSON bool) error {
	cfg, err := parseConfig(path)
	if err != nil {
		return err
	}
	script, err := provision.Script(provisioned(cfg))
	if err != nil {
		return fmt.Errorf("writing the script: %w", err)
	}
	if asJSON {
		return writeJSON(w, map[string]string{"sql": script})
	}
	_, err = fmt.Fprint(w, script)
	return err
}

// provisioned is what a configuration wants in the database.
func provisioned(cfg *config.Config) provision.Input {
	return provision.Input{
		Policy:      cfg.Policy,
		Owner:       login(cfg.Upstream.Owner),
		Reader:      login(cfg.Upstream.Reader),
		Readers:     furtherLogins(cfg.Upstream.Readers),
		Publication: cfg.Publication,
		Slot:        cfg.Slot,
		Database:    cfg.Database,

		TemporaryTables: cfg.TemporaryTables == config.TemporaryAllow,
	}
}

func login(c config.Connection) provision.Login {
	return provision.Login{Name: c.User, Password: c.Password.Reveal()}
}

func furtherLogins(readers []config.Reader) []provision.Login {
	var logins []provision.Login
	for _, r := range readers {
		logins = append(logins, login(r.Connection))
	}
	return logins
}

// prepare runs the setup as the administrator, in the database that the
// configuration names: another one would be prepared for nothing. It writes warnings.
func prepare(ctx context.Context, url string, cfg *config.Config, input provision.Input, warnings io.Writer) error {
	database := cfg.Upstream.Owner.Database
	admin, err := pgx.ParseConfig(url)
	if err != nil {
		return usageError{fmt.Errorf("the administrator's connection: %w", err)}
	}
	if admin.Database != "" && admin.Database != database {
		return usageError{fmt.Errorf("the administrator's connection is to database %q, but the configuration's is %q", admin.Database, database)}
	}
	admin.Database = database
	told := map[string]bool{} // what is tried again warns again
	admin.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized != "WARNING" || told[n.Message] {
			return
		}
		told[n.Message] = true
		fmt.Fprintln(warnings, "warning: "+n.Message)
		if n.Hint != "" {
			fmt.Fprintln(warnings, "    fix: "+n.Hint)
		}
	}
	conn, err := pgx.ConnectConfig(ctx, admin)
	if err != nil {
		return fmt.Errorf("connecting as the administrator: %w", ksync.Reason(err))
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if input.Policy, err = present(ctx, conn, cfg, warnings); err != nil {
		return err
	}
	return provision.Apply(ctx, conn, input)
}

// present is the policy without the listed names that the database does not have, about
// which it warns. A protected table that is not there is an error, which tells of all names.
func present(ctx context.Context, conn *pgx.Conn, cfg *config.Config, warnings io.Writer) (catalog.Policy, error) {
	policy := cfg.Policy
	report, err := inspect.Names(ctx, conn, policy)
	if err != nil || len(report) == 0 {
		return policy, err
	}
	if slices.ContainsFunc(report, func(f inspect.Finding) bool { return f.Code == inspect.CodeTableMissing }) {
		return policy, errors.New("nothing was prepared, as the database lacks what the configuration names:\n" + check.Format(cfg, report))
	}
	without := func(names []catalog.Name, code string) []catalog.Name {
		return slices.DeleteFunc(slices.Clone(names), func(name catalog.Name) bool {
			return slices.ContainsFunc(report, func(f inspect.Finding) bool { return f.Code == code && f.Table == name })
		})
	}
	policy.Readable = without(policy.Readable, inspect.CodeReadableMissing)
	policy.Functions = without(policy.Functions, inspect.CodeFunctionMissing)
	for i := range report {
		report[i].Severity = inspect.Warning
	}
	fmt.Fprintln(warnings, check.Format(cfg, report))
	return policy, nil
}
