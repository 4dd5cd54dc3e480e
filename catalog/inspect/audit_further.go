package inspect

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/catalog"
)

// readerRow is a role that clients' sessions run as.
type readerRow struct {
	OID  uint32
	Name string
	// Login says that it may log in, and Inherits that it has the first reader's rights.
	Login, Inherits bool
}

// CodeFurtherReader is about a further reader role that sessions cannot read as.
const CodeFurtherReader = "further-reader"

// checkReaders requires the further readers to log in, and to read by their membership.
func (c *checker) checkReaders() error {
	for _, group := range c.in.groups() {
		if err := c.checkGroup(group); err != nil {
			return err
		}
	}
	return nil
}

// checkGroup does this for the readers of one audience, or the policy's own readers.
func (c *checker) checkGroup(in CheckInput) error {
	first, names := c.reader, in.Readers
	if in.audience != "" {
		names = append([]string{in.Reader}, names...)
		oid, err := roleOID(c.ctx, c.conn, in.Reader)
		if err != nil && !errors.Is(err, errNoRole) {
			return err
		}
		first = oid // 0 if it is missing
	}
	rows, err := collect[readerRow](c.ctx, c.conn, "further", names, first)
	if err != nil {
		return err
	}
	for _, name := range names {
		i := slices.IndexFunc(rows, func(r readerRow) bool { return r.Name == name })
		switch {
		case i < 0:
			c.report.add(Error, CodeFurtherReader, none, fmt.Sprintf("there is no role %s", name), "run kproxy setup")
		case !rows[i].Login:
			c.report.add(Error, CodeFurtherReader, none, fmt.Sprintf("role %s may not log in", name),
				"ALTER ROLE "+catalog.QuoteIdentifier(name)+" LOGIN")
		case !rows[i].Inherits:
			c.report.add(Error, CodeFurtherReader, none, fmt.Sprintf("role %s does not have the rights of role %s", name, in.Reader), "run kproxy setup")
		}
	}
	return nil
}

// findReaders gathers the roles that sessions run as, and the roles that these can become. The
// first reader has the given identifier. A further reader that does not exist can reach nothing.
func (a *auditor) findReaders(first uint32) (err error) {
	further, err := collect[readerRow](a.ctx, a.conn, "further", a.in.Readers, first)
	if err != nil {
		return err
	}
	a.readers = append([]readerRow{{OID: first, Name: a.in.Reader}}, further...)
	if a.roles, err = collect[roleRow](a.ctx, a.conn, "audit_roles", a.readerOIDs()); err != nil {
		return err
	}
	for _, r := range a.roles {
		a.reach = append(a.reach, r.OID)
	}
	return nil
}

func (a *auditor) readerOIDs() []uint32 {
	oids := make([]uint32, len(a.readers))
	for i, r := range a.readers {
		oids[i] = r.OID
	}
	return oids
}

func (a *auditor) isReader(oid uint32) bool { return slices.Contains(a.readerOIDs(), oid) }

// anyReader names all readers, for findings that may be about any of them.
func (a *auditor) anyReader() string {
	names := a.readers[0].Name
	for i, r := range a.readers[1:] {
		if i == len(a.readers)-2 {
			names += " or " + r.Name
		} else {
			names += ", " + r.Name
		}
	}
	return names
}

// quoted lists the readers as SQL.
func (a *auditor) quoted() string {
	names := a.reader
	for _, r := range a.readers[1:] {
		names += ", " + catalog.QuoteIdentifier(r.Name)
	}
	return names
}

type membershipRow struct {
	Member, Role string
	Other        bool
}

type ownRightRow struct {
	Role     string
	Owned    bool
	Type     string // as pg_identify_object tells it, and Identity likewise
	Identity string
}

// grantable are the words of GRANT for the types of objects as pg_identify_object has them.
var grantable = map[string]string{
	"table": "TABLE", "view": "TABLE", "materialized view": "TABLE", "foreign table": "TABLE", "sequence": "SEQUENCE",
	"schema": "SCHEMA", "function": "FUNCTION", "aggregate": "ROUTINE", "procedure": "PROCEDURE", "language": "LANGUAGE",
	"type": "TYPE", "domain": "TYPE", "large object": "LARGE OBJECT", "foreign-data wrapper": "FOREIGN DATA WRAPPER", "server": "FOREIGN SERVER",
}

// auditFurther looks for rights that further readers have and the first one does not. What shows
// raw rows has been reported by then, for all readers.
func (a *auditor) auditFurther() error {
	if len(a.readers) == 1 {
		return nil
	}
	further := a.readerOIDs()[1:]
	memberships, err := collect[membershipRow](a.ctx, a.conn, "audit_memberships", further, a.readers[0].OID)
	if err != nil {
		return err
	}
	for _, m := range memberships {
		role, member := catalog.QuoteIdentifier(m.Role), catalog.QuoteIdentifier(m.Member)
		if m.Other {
			a.report.add(Error, "reader-member", none, fmt.Sprintf("role %s is a member of %s, and should be one of %s alone", m.Member, m.Role, a.in.Reader),
				"REVOKE "+role+" FROM "+member)
			continue
		}
		a.report.add(Error, "reader-admin", none, fmt.Sprintf("role %s may make others members of %s", m.Member, m.Role),
			"REVOKE ADMIN OPTION FOR "+role+" FROM "+member)
	}
	rights, err := collect[ownRightRow](a.ctx, a.conn, "audit_further", further, a.rawOIDs())
	if err != nil {
		return err
	}
	for _, r := range rights {
		role := catalog.QuoteIdentifier(r.Role)
		if r.Owned {
			a.report.add(Error, "reader-owns", none, fmt.Sprintf("role %s owns %s %s", r.Role, r.Type, r.Identity), "REASSIGN OWNED BY "+role+" TO CURRENT_USER")
			continue
		}
		a.report.add(Warning, "reader-grant", none,
			fmt.Sprintf("role %s has rights of its own on %s %s, and needs none but those of %s", r.Role, r.Type, r.Identity, a.in.Reader),
			"REVOKE ALL PRIVILEGES ON "+grantable[r.Type]+" "+r.Identity+" FROM "+role)
	}
	return nil
}
