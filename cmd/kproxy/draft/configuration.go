package draft

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/propose"
)

// connection is what a configuration says of how the database is reached.
type connection struct {
	host, database        string
	port                  uint16
	sslmode, rootCA       string
	owner, reader, slot   string
	ownerFile, readerFile string
}

// connectionOf takes from the connection that init has what kproxy's own need. The driver
// keeps no sslmode: it is read where libpq reads it.
func connectionOf(c *pgx.ConnConfig, n names, o Options) connection {
	return connection{
		host: c.Host, port: c.Port, database: c.Database,
		sslmode: setting(o.DSN, "sslmode", "PGSSLMODE", "prefer"), rootCA: setting(o.DSN, "sslrootcert", "PGSSLROOTCERT", ""),
		owner: n.owner, reader: n.reader, slot: n.slot,
		ownerFile: filepath.Base(passwordFile(o.Out, n.owner)), readerFile: filepath.Base(passwordFile(o.Out, n.reader)),
	}
}

// setting is a parameter of a connection string, in either form, or of the environment.
func setting(dsn, key, variable, otherwise string) string {
	m := regexp.MustCompile(`(?:^|[\s?&])` + key + `\s*=\s*'?([^\s'&]+)`).FindStringSubmatch(dsn)
	if m != nil {
		return m[1]
	}
	if value := os.Getenv(variable); value != "" {
		return value
	}
	return otherwise
}

// configuration writes the whole file.
func (p *proposing) configuration(c connection, verifier string) string {
	var b strings.Builder
	line := func(format string, arguments ...any) { fmt.Fprintf(&b, format+"\n", arguments...) }
	line("# yaml-language-server: $schema=config.schema.json")
	line("# 'kproxy schema >config.schema.json' makes that file: editors then propose keys and mark mistakes.")
	line("#")
	line("# A configuration of kproxy, drafted by 'kproxy init' from the tables of a database.")
	sections := "section tables"
	if len(p.kinds) > 0 {
		sections = "sections tables and people"
	}
	line("# Read the %s: only somebody who knows the data knows what others know.", sections)
	line("# What stands here takes effect as it is; config.example.yaml has every other setting.")
	line("")
	line("# Where clients connect, without encryption: see tls before anybody does from elsewhere.")
	line("listen: %s", yaml(p.Listen))
	line("database: %s", yaml(c.database))
	line("")
	line("# Who may log in. 'kproxy password' makes the verifier of another password.")
	line("users:")
	line("  - name: %s", yaml(p.User))
	line("    verifier: %s", verifier)
	line("")
	line("# The roles that 'kproxy setup' creates, with the passwords in these files.")
	line("upstream:")
	line("  owner:")
	line("    host: %s", yaml(c.host))
	line("    port: %d", c.port)
	line("    database: %s", yaml(c.database))
	line("    user: %s", yaml(c.owner))
	line("    password_file: %s", yaml(c.ownerFile))
	line("    sslmode: %s", c.sslmode)
	if c.rootCA != "" {
		line("    sslrootcert: %s", yaml(c.rootCA))
	}
	line("  reader:")
	line("    user: %s", yaml(c.reader))
	line("    password_file: %s", yaml(c.readerFile))
	line("slot: %s", yaml(c.slot))
	line("")
	line("# The protected tables. A column that is not named is not published.")
	b.WriteString(propose.Section(drafts(p.proposals), p.kinds...))
	line("")
	p.others(line)
	return b.String()
}

// others are the tables that are not protected.
func (p *proposing) others(line func(string, ...any)) {
	line("# Tables that clients may read as they are: in them no person was recognized.")
	readable := of(p.proposals, propose.Readable)
	if len(readable) == 0 {
		line("readable: []")
	} else {
		line("readable:")
		for _, name := range readable {
			i := slices.IndexFunc(p.proposals, func(one propose.Proposal) bool { return one.Table == name })
			line("  - %s   # %s", yaml(name.String()), oneLine(p.proposals[i].Why))
		}
	}
	left := of(p.proposals, propose.LeaveOut)
	if len(left)+len(p.source.skipped) == 0 {
		return
	}
	line("")
	line("# Left out: clients see nothing of them.")
	for _, name := range left {
		i := slices.IndexFunc(p.proposals, func(one propose.Proposal) bool { return one.Table == name })
		line("#   %s: %s", oneLine(name.String()), oneLine(p.proposals[i].Why))
	}
	for _, s := range p.source.skipped {
		line("#   %s: %s", oneLine(s.Table.String()), oneLine(s.Why))
	}
}

// yaml is a text as a scalar. Every text is one in double quotes.
func yaml(text string) string { return propose.Quote(text) }

// oneLine keeps names of the database from ending a comment.
func oneLine(text string) string { return propose.OneLine(text) }
