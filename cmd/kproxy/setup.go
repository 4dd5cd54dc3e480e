package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/provision"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	ksync "github.com/kproxy/kproxy/sync"
)

// Environment variables with the connection URLs of administrators.
const (
	adminEnv       = "KPROXY_ADMIN_URL"
	sourceAdminEnv = "KPROXY_SOURCE_ADMIN_URL"
)

func newSetup() *cobra.Command {
	c := &cobra.Command{
		Use:   "setup",
		Short: "Prepare the database: roles, schemas, publication and grants (or --print the SQL)",
		Long: `Setup creates, or updates, what kproxy needs in the database: the owner and reader roles,
including further readers and those of audiences, kproxy's schemas, the publication, the
grants, and the stand-ins for the system catalogs. It can be run again at any time, and never
touches data. A table is left out of the publication if UPDATE and DELETE would then fail at the source: it needs a
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

If the configuration has a source section, there are two databases. Setup prepares both: that
of the protected tables, in which it makes a role that reads them and replicates, and the
publication; and that of the release, in which it makes all else, and the types of users that
the store needs. Each has its administrator. With --side, it prepares or prints one of them.

Before pg_upgrade takes the database to another major version of PostgreSQL, stop kproxy and run
setup with --before-upgrade. It connects as the owner and drops the stand-ins for the system
catalogs, which the new version may not be able to restore. Run setup again after the upgrade.

At run time, kproxy needs an owner role with LOGIN, REPLICATION (on Amazon RDS: membership
in rds_replication), SELECT on the protected and mirrored tables and ownership of its own schemas,
and a publication of these tables. 'kproxy serve' works with a publication and a slot that
were created by other means; 'kproxy check' reports what they lack.`,
		Args: noArguments,
	}
	path := configFlag(c)
	show := c.Flags().Bool("print", false, "print the SQL instead of running it")
	admin := c.Flags().String("admin-url", "", "connection `URL` of an administrator (environment: "+adminEnv+", which keeps a password off the command line)")
	sourceAdmin := c.Flags().String("source-admin-url", "", "connection `URL` of an administrator of the source's database, where that is another one (environment: "+sourceAdminEnv+")")
	side := c.Flags().String("side", "", "prepare or print one of two databases: `source or release`")
	upgrade := c.Flags().Bool("before-upgrade", false, "only drop the stand-ins for the system catalogs, which pg_upgrade may not be able to restore")
	asJSON := jsonFlag(c)
	c.MarkFlagsMutuallyExclusive("before-upgrade", "side")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *upgrade {
			return beforeUpgrade(c, *path, *show, *asJSON)
		}
		if *show {
			return printSetup(c.OutOrStdout(), *path, *side, *asJSON)
		}
		cfg, err := loadConfig(*path)
		if err != nil {
			return err
		}
		sides, err := sidesOf(cfg, *side)
		if err != nil {
			return err
		}
		p := preparation{config: cfg, file: *path, warnings: c.ErrOrStderr(), admins: map[provision.Side]string{
			provision.SourceSide:  cmp.Or(*sourceAdmin, os.Getenv(sourceAdminEnv)),
			provision.ReleaseSide: cmp.Or(*admin, os.Getenv(adminEnv)),
			provision.BothSides:   cmp.Or(*admin, os.Getenv(adminEnv)),
		}}
		if err := p.prepare(c.Context(), sides); err != nil {
			return err
		}
		if *asJSON {
			return writeJSON(c.OutOrStdout(), map[string]any{"ok": true, "tables": len(cfg.Policy.Protecting().Tables), "mirrored": len(cfg.Policy.Mirrored())})
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "ok: the %s prepared for %s; 'kproxy check' verifies it\n", nameOf(sides), preparedTables(cfg.Policy))
		return err
	}
	return c
}

// printSetup prints what setup would run. Passwords are not part of it, and not looked for.
func printSetup(w io.Writer, path, side string, asJSON bool) error {
	cfg, err := parseConfig(path)
	if err != nil {
		return err
	}
	sides, err := sidesOf(cfg, side)
	if err != nil {
		return err
	}
	if len(sides) > 1 {
		return usageError{errors.New("the scripts for source and release are for two databases: write --side source or --side release")}
	}
	input, err := provisioned(cfg, path, sides[0])
	if err != nil {
		return err
	}
	script, err := provision.Script(input)
	if err != nil {
		return fmt.Errorf("writing the script: %w", err)
	}
	if asJSON {
		return writeJSON(w, map[string]string{"sql": script})
	}
	_, err = fmt.Fprint(w, script)
	return err
}

// sidesOf are the databases that are to be prepared: the one of a side, or all.
func sidesOf(cfg *config.Config, side string) ([]provision.Side, error) {
	if !cfg.IsApart() {
		if side != "" {
			return nil, usageError{errors.New("--side is for two databases, and the configuration has no source section")}
		}
		return []provision.Side{provision.BothSides}, nil
	}
	switch side {
	case "":
		// Where the release's is refused, nothing of the source has been changed.
		return []provision.Side{provision.ReleaseSide, provision.SourceSide}, nil
	case "source":
		return []provision.Side{provision.SourceSide}, nil
	case "release":
		return []provision.Side{provision.ReleaseSide}, nil
	}
	return nil, usageError{fmt.Errorf("--side %s: there are source and release", side)}
}

// nameOf is what the databases are called, with the verb.
func nameOf(sides []provision.Side) string {
	switch {
	case len(sides) > 1:
		return "databases are"
	case sides[0] == provision.SourceSide:
		return "source's database is"
	case sides[0] == provision.ReleaseSide:
		return "release's database is"
	}
	return "database is"
}

// provisioned is what a configuration, read from a file, wants in a database.
func provisioned(cfg *config.Config, file string, side provision.Side) (provision.Input, error) {
	owner, besides := cfg.Upstream.Owner, []string(nil)
	switch side {
	case provision.SourceSide:
		owner, besides = cfg.Source.Connection, []string{cfg.Upstream.Owner.Database}
	case provision.ReleaseSide:
		besides = []string{cfg.Source.Database}
	}
	policy, err := ksync.NewPolicy(cfg.Policy, upstream.Place(file))
	return provision.Input{
		Place: policy.Place, Fingerprint: policy.Fingerprint, Besides: besides,
		Side:        side,
		Standby:     cfg.HasPrimary(),
		Policy:      cfg.Policy,
		Owner:       login(owner),
		Reader:      login(cfg.Upstream.Reader),
		Readers:     furtherLogins(cfg.Upstream.Readers),
		Finest:      cfg.Finest(),
		Publication: cfg.Publication,
		Slot:        cfg.Slot,
		Database:    cfg.Database,

		TemporaryTables: cfg.TemporaryTables == config.TemporaryAllow,
		Distribute:      cfg.Distributes() && side == provision.ReleaseSide,
	}, err
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

// preparedTables counts the tables of a policy.
func preparedTables(policy catalog.Policy) string {
	text := fmt.Sprintf("%d protected tables", len(policy.Protecting().Tables))
	if mirrored := len(policy.Mirrored()); mirrored > 0 {
		text += fmt.Sprintf(" and %d mirrored ones", mirrored)
	}
	return text
}
