// Package provision prepares a database for kproxy: roles, schemas, grants, the
// publication, the tables that exist before the first snapshot, and the
// stand-ins for the system catalogs.
//
// Entry points: [Script] gives the SQL for a database administrator to read and
// run; [Apply] runs the same text. Both may be repeated at any time: what is
// there already is brought in line, and data is never touched.
//
// The statements come from the files in sql, in the order of [parts]. They work
// on PostgreSQL 13 and later and avoid what only a superuser may do, except
// for the attribute REPLICATION, which is asked for and whose refusal is a
// warning.
package provision

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/kproxy/kproxy/catalog"
)

// The names that a configuration need not give.
const (
	DefaultOwner       = "kproxy_owner"
	DefaultReader      = "kproxy_reader"
	DefaultPublication = "kproxy"
	DefaultSlot        = "kproxy"
)

// Login is a role that kproxy connects as.
type Login struct {
	Name string
	// Password is set by [Apply] and never part of [Script]. Empty leaves the
	// role's password as it is. A SCRAM-SHA-256 verifier is stored as given.
	Password string
}

// Side is what of kproxy is in the database that is prepared.
type Side int

// The sides.
const (
	BothSides   Side = iota // one database has protected tables, store and release
	SourceSide              // the protected tables alone
	ReleaseSide             // store and release alone
)

// Input says what is to be prepared. Empty names mean the defaults.
type Input struct {
	Side   Side
	Policy catalog.Policy
	// Standby says that the log is decoded on a physical standby of the server that has the protected tables.
	Standby bool
	// Owner maintains the release: it reads protected tables, replicates, and
	// owns kproxy's schemas. Of one side it is who does the one or the other there.
	Owner Login
	// Reader is what clients' sessions run as.
	Reader Login
	// Readers are further roles that clients' sessions run as: members of Reader that have
	// its rights and none of their own. Those of an audience of the policy are members of its
	// first role in place of Reader, and that one has rights of its own, to what the audience
	// sees. What an earlier set-up made and is no more among them loses what it had and its login.
	Readers []Login
	// Finest are those of Readers that are in no audience and are meant to read what tables says. One
	// that was in an audience before, and is not among them, is refused.
	Finest      []string
	Publication string
	// Slot is the replication slot, which the script only speaks of.
	Slot string
	// Place is the machine and the file that the configuration was read from, and Fingerprint that of its
	// policy: by them the store and the publication know whether they are this configuration's.
	Place, Fingerprint string
	// Besides are the other databases of the configuration, which share its roles: that of the other side,
	// the first one, where Side is one of two.
	Besides []string
	// Database is the name by which clients know the database; empty if it is the
	// server's own.
	Database string
	// TemporaryTables lets the reader make temporary tables.
	TemporaryTables bool
	// Distribute says that the release is on the coordinator of Citus, whose workers know the roles.
	Distribute bool
}

func (in Input) withDefaults() Input {
	for name, fallback := range map[*string]string{
		&in.Owner.Name:  DefaultOwner,
		&in.Reader.Name: DefaultReader,
		&in.Publication: DefaultPublication,
		&in.Slot:        DefaultSlot,
	} {
		if *name == "" {
			*name = fallback
		}
	}
	return in
}

// maxNameBytes is PostgreSQL's NAMEDATALEN - 1; the server cuts longer names
// off silently, so that two of them could become one.
const maxNameBytes = 63

// dollarQuote encloses the script's DO blocks.
const dollarQuote = "$kproxy$"

// validate reports everything that keeps the input from becoming a script.
func (in Input) validate() error {
	var problems []error
	check := func(what, name string) {
		switch {
		case name == "":
			problems = append(problems, fmt.Errorf("%s has no name", what))
		case len(name) > maxNameBytes:
			problems = append(problems, fmt.Errorf("%s %q: the name is longer than %d bytes", what, name, maxNameBytes))
		case strings.Contains(name, dollarQuote) || strings.ContainsFunc(name, unicode.IsControl):
			problems = append(problems, fmt.Errorf("%s %q: the name holds a control character or %s", what, name, dollarQuote))
		}
	}
	check("the owner role", in.Owner.Name)
	check("the reader role", in.Reader.Name)
	names := []string{in.Owner.Name, in.Reader.Name}
	for _, reader := range in.Readers {
		check("a further reader role", reader.Name)
		if slices.Contains(names, reader.Name) {
			problems = append(problems, fmt.Errorf("the further reader role %q has another part already", reader.Name))
		}
		names = append(names, reader.Name)
	}
	for _, a := range in.Policy.Audiences {
		for _, role := range a.Roles {
			if !slices.Contains(names[2:], role) {
				problems = append(problems, fmt.Errorf("the role %q of audience %s is no further reader role", role, a.Name))
			}
		}
	}
	check("the publication", in.Publication)
	check("the replication slot", in.Slot)
	if in.Database != "" {
		check("the clients' database", in.Database)
	}
	if in.Owner.Name == in.Reader.Name {
		problems = append(problems, fmt.Errorf("owner and reader are both %q: sessions of clients need a role of their own", in.Owner.Name))
	}
	if len(in.Policy.Tables) == 0 {
		problems = append(problems, errors.New("the policy protects no table"))
	}
	for _, name := range slices.Concat(protectedTables(in.Policy), in.Policy.Readable) {
		check("the schema", name.Schema)
		check("the table", name.Relation)
		if catalog.IsOwn(name.Schema) {
			problems = append(problems, fmt.Errorf("%s: the schema is kproxy's own", name))
		}
	}
	for _, name := range in.Policy.Functions {
		check("the schema", name.Schema)
		check("the function", name.Relation)
	}
	for _, schema := range schemasOf(protectedTables(in.Policy)) {
		if release := catalog.ReleaseSchema(schema); len(release) > maxNameBytes {
			problems = append(problems, fmt.Errorf("the schema %q: the name of its release schema is longer than %d bytes", schema, maxNameBytes))
		}
	}
	for _, a := range in.Policy.Audiences {
		if !catalog.IsAudienceName(a.Name) {
			problems = append(problems, fmt.Errorf("%q is no name of an audience", a.Name))
		}
		for _, t := range in.Policy.Tables {
			if _, shown := t.For(a.Name); shown && len(catalog.ReleaseSchemaFor(a.Name, t.Table.Schema)) > maxNameBytes {
				problems = append(problems, fmt.Errorf("the schema %q: the name of its release schema for audience %s is longer than %d bytes", t.Table.Schema, a.Name, maxNameBytes))
			}
		}
	}
	return errors.Join(problems...)
}

func protectedTables(policy catalog.Policy) []catalog.Name {
	names := make([]catalog.Name, len(policy.Tables))
	for i, t := range policy.Tables {
		names[i] = t.Table
	}
	return names
}

// schemasOf lists the schemas of the relations, each once, in order.
func schemasOf(names []catalog.Name) []string {
	schemas := make([]string, len(names))
	for i, n := range names {
		schemas[i] = n.Schema
	}
	slices.Sort(schemas)
	return slices.Compact(schemas)
}
