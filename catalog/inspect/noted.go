package inspect

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// CodeFormerAudience is a finding about a role that was of an audience and would read the finest release.
const CodeFormerAudience = "former-audience"

// notedRow is what set-up notes of a reader role.
type notedRow struct {
	Name, Audience string
	First          bool
}

// noted is the input with the audiences that set-up has given the reader roles their rights for, by which
// these are judged. It reports the roles that have another part in the configuration: until set-up
// runs they reach what was theirs, and not what is. A role of an audience that the configuration does
// not have is judged by nothing else.
func (in CheckInput) noted(ctx context.Context, conn *pgx.Conn) (CheckInput, Report, error) {
	var known bool
	if err := conn.QueryRow(ctx, "SELECT to_regclass('kproxy_store.reader') IS NOT NULL AND has_schema_privilege('kproxy_store', 'USAGE')").Scan(&known); err != nil || !known {
		return in, nil, err
	}
	rows, err := collect[notedRow](ctx, conn, "noted", in.allReaders())
	if err != nil {
		return in, nil, err
	}
	var report Report
	given := make([]catalog.Audience, len(in.Policy.Audiences))
	for i, a := range in.Policy.Audiences {
		given[i].Name = a.Name
	}
	var judged []string
	for _, role := range in.allReaders() {
		now := in.Policy.AudienceOf(role)
		was := notedRow{Name: role, Audience: now, First: in.isFirst(role)}
		if i := slices.IndexFunc(rows, func(r notedRow) bool { return r.Name == role }); i >= 0 {
			was = rows[i]
		}
		if was.First && was.Audience == "" {
			was.Audience = now // an earlier version did not note which
		}
		in.judgePart(&report, role, was)
		at := slices.IndexFunc(given, func(a catalog.Audience) bool { return a.Name == was.Audience })
		switch {
		case was.Audience == "":
		case at < 0:
			continue
		case was.First:
			given[at].Roles = append([]string{role}, given[at].Roles...)
		default:
			given[at].Roles = append(given[at].Roles, role)
		}
		judged = append(judged, role)
	}
	in.Policy.Audiences, in.Readers = given, judged
	return in, report, nil
}

// allReaders are the further readers and whoever else an audience names.
func (in CheckInput) allReaders() []string {
	all := slices.Clone(in.Readers)
	for _, a := range in.Policy.Audiences {
		for _, role := range a.Roles {
			if !slices.Contains(all, role) {
				all = append(all, role)
			}
		}
	}
	return all
}

// isFirst reports whether a role is the first of its audience.
func (in CheckInput) isFirst(role string) bool {
	return slices.ContainsFunc(in.Policy.Audiences, func(a catalog.Audience) bool { return len(a.Roles) > 0 && a.Roles[0] == role })
}

// judgePart reports a role that has another part in the configuration than it was set up for.
func (in CheckInput) judgePart(report *Report, role string, was notedRow) {
	now := in.Policy.AudienceOf(role)
	former := was.Audience != now || was.First
	switch {
	case now == "" && former && !slices.Contains(in.Finest, role):
		of := "an audience"
		if was.Audience != "" {
			of = "audience " + was.Audience
		}
		report.add(Error, CodeFormerAudience, none, fmt.Sprintf("role %s belonged to %s, is in none now, and would read the finest release", role, of), catalog.Undecided)
	case was.Audience != now:
		report.add(Error, CodeFurtherReader, none, fmt.Sprintf("role %s has the rights of %s, and is to read as %s", role, partOf(was.Audience), partOf(now)), "run kproxy setup")
	case was.First != in.isFirst(role):
		report.add(Error, CodeFurtherReader, none, fmt.Sprintf("role %s has another place among the readers of %s than when it was set up", role, partOf(now)), "run kproxy setup")
	}
}

// partOf names what the readers of an audience read as.
func partOf(audience string) string {
	if audience == "" {
		return "upstream.reader"
	}
	return "audience " + audience
}
