package inspect

import (
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/catalog"
)

// groups are one input for the policy's own readers, and one for each audience with roles, whose first role is
// Reader and whose other roles are Readers. All have the whole policy, since no group may read what it
// protects.
func (in CheckInput) groups() []CheckInput {
	own := in
	own.Readers = slices.DeleteFunc(slices.Clone(in.Readers), func(role string) bool { return in.Policy.AudienceOf(role) != "" })
	all := []CheckInput{own}
	for _, a := range in.Policy.Audiences {
		if len(a.Roles) > 0 {
			of := in
			of.audience, of.Reader, of.Readers = a.Name, a.Roles[0], a.Roles[1:]
			all = append(all, of)
		}
	}
	for i := range all {
		for j := range all {
			if i != j {
				all[i].others = append(append(all[i].others, all[j].Reader), all[j].Readers...)
			}
		}
	}
	return all
}

// seen are the protected tables that the group's readers see, wholly or in part.
func (in CheckInput) seen() []catalog.Name {
	var names []catalog.Name
	for _, t := range in.Policy.Tables {
		if _, shown := t.For(in.audience); shown || in.audience == "" {
			names = append(names, t.Table)
		}
	}
	return names
}

// addNew appends the findings that the report does not have yet.
func (r *Report) addNew(found Report) {
	for _, f := range found {
		told := func(known Finding) bool {
			return known.Code == f.Code && known.Table == f.Table && known.Column == f.Column && known.What == f.What
		}
		if !slices.ContainsFunc(*r, told) {
			*r = append(*r, f)
		}
	}
}

// checkAudiences looks at what setup makes for each audience.
func (c *checker) checkAudiences() error {
	for _, in := range c.in.groups()[1:] {
		of := *c
		of.in, of.report = in, nil
		rows, err := collect[ownerRow](c.ctx, c.conn, "owner", in.Reader)
		if err != nil {
			return err
		}
		if len(rows) == 0 || !rows[0].Login {
			continue // which checkReaders has told
		}
		of.reader, of.byName, of.byOID = rows[0].OID, map[catalog.Name]catalog.Relation{}, map[uint32]catalog.Relation{}
		if err := of.readRelations(); err != nil {
			return err
		}
		for name, relation := range c.byName {
			if _, here := of.byName[name]; !here {
				of.byName[name] = relation // of the source, if that is another database
			}
		}
		for _, step := range []func() error{of.checkReadable, of.checkFunctions, of.checkTemporary, of.checkOwn} {
			if err := step(); err != nil {
				return err
			}
		}
		c.report.addNew(of.report)
	}
	return nil
}

// auditAudiences looks for ways to reach what is released to other audiences.
func (a *auditor) auditAudiences() error {
	rows, err := collect[objectRow](a.ctx, a.conn, "audit_audiences", a.reach, "^"+catalog.ReleaseSchemaPattern, catalog.ReleaseSchemaFor(a.in.audience, ""))
	if err != nil {
		return err
	}
	for _, o := range rows {
		role, name := a.role(o.Grantee), catalog.QuoteIdentifier(o.Name)
		a.report.add(Error, "audience-grant", none, fmt.Sprintf("%s has %s on schema %s, which holds what is released for others", role, o.Privilege, o.Name),
			"REVOKE "+o.Privilege+" ON SCHEMA "+name+" FROM "+role)
	}
	return nil
}
