package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/gate"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/rewrite"
)

// The explanations in this file are for operators: they name what the configuration and the
// database hold, which clients must not learn.

// SQLSTATEs of the server that have explanations of their own (PostgreSQL, appendix A).
const (
	stateUndefinedFunction = "42883"
	stateReadOnly          = "25006"
	stateNotPublished      = "55000"
	stateSyntax            = "42601"
)

// limitSettings are the settings that bound a statement.
var limitSettings = map[rewrite.Reason]string{
	rewrite.TooLong:           "limits.max_statement_bytes",
	rewrite.TooManyStatements: "limits.max_statements",
	rewrite.TooManyTokens:     "limits.max_tokens",
	rewrite.TooDeep:           "limits.max_depth",
}

// Explanations that a refusal and an error of the server share.
const (
	whySyntax       = "PostgreSQL's grammar does not accept it"
	whyNotPublished = "its release cannot be shown at the moment: 'kproxy status' and 'kproxy check' say why"
	whyNoColumn     = "no relation that the statement reads publishes such a column"
)

// why explains a refusal by the configuration and the database.
func (e *explainer) why(r *rewrite.Refusal) string {
	if setting, ok := limitSettings[r.Reason()]; ok {
		return e.at(setting, "the limit is "+setting)
	}
	switch r.Reason() {
	case rewrite.RelationDenied, rewrite.UndefinedRelation:
		return e.whyRelation(r.Relation())
	case rewrite.UndefinedColumn, rewrite.ColumnDenied:
		return whyNoColumn
	case rewrite.UndefinedFunction:
		return e.whyNoFunction()
	case rewrite.FunctionDenied:
		return "it is PostgreSQL's own, and does or tells more than follows from its arguments: no setting opens it"
	case rewrite.NameShadowed, rewrite.Uncheckable:
		return "the database has objects of others in pg_catalog: 'kproxy check' lists them"
	case rewrite.ReadOnly:
		return e.whyReadOnly()
	case rewrite.SettingDenied:
		return "this setting could change more than the client's own session and its results: docs/sql.md lists those that are open"
	case rewrite.RoleDenied:
		return e.at("upstream.reader", "every session runs as the reader role of its user, and as no other")
	case rewrite.NotPublished:
		return whyNotPublished
	case rewrite.SessionLimit, rewrite.TooComplex:
		return "kproxy's own limit, which no setting raises"
	case rewrite.SyntaxError:
		return whySyntax
	default:
		return "kproxy passes on only what it knows to be harmless: docs/sql.md lists it"
	}
}

// whyServer explains an error of the server for a statement that kproxy passed. Name is the
// name that the error's position points at, and may be empty.
func (e *explainer) whyServer(state, name string, reads []string) string {
	switch state {
	case upstream.UndefinedColumn:
		return e.whyColumn(name, reads)
	case upstream.UndefinedTable:
		return e.whyRelation(name)
	case upstream.InsufficientPrivilege:
		return e.at("functions", "the reader role lacks a privilege: run 'kproxy setup'")
	case stateUndefinedFunction:
		return e.whyNoFunction()
	case stateReadOnly:
		return e.whyReadOnly()
	case stateNotPublished:
		return whyNotPublished
	case stateSyntax:
		return whySyntax
	default:
		return "kproxy passes it, and the server does not accept it"
	}
}

func (e *explainer) whyNoFunction() string {
	return e.at("functions", "neither PostgreSQL nor the functions that the configuration lists have one of that name and these arguments; those of extensions and your own can be listed")
}

func (e *explainer) whyReadOnly() string {
	return e.at("temporary_tables", fmt.Sprintf("sessions only read, except for temporary tables where the configuration allows them: temporary_tables is %s", e.config.TemporaryTables))
}

// at appends the place of a setting to an explanation, if the configuration has the setting.
func (e *explainer) at(setting, explanation string) string {
	return explanation + e.place(setting)
}

// place is where a setting stands, in parentheses; empty if it is not written.
func (e *explainer) place(setting string) string {
	if at := e.config.LocateSetting(setting); at.Line > 0 {
		return " (" + at.String() + ")"
	}
	return ""
}

// whyColumn looks for a column in the protected tables that are read.
func (e *explainer) whyColumn(name string, reads []string) string {
	for _, read := range reads {
		i := slices.IndexFunc(e.config.Policy.Tables, func(t catalog.TablePolicy) bool { return t.Table.String() == read })
		if i < 0 || name == "" {
			continue
		}
		policy := e.config.Policy.Tables[i]
		place := e.config.Locate(policy.Table, name)
		column, listed := policy.Column(name)
		audience := gate.AudienceOf(e.config, gate.ReaderOf(e.config, e.options.User))
		switch {
		case slices.Contains(policy.HiddenFrom(audience), name):
			return e.whyHidden(audience, policy.Table, name)
		case listed && column.Role == catalog.Identifying:
			return fmt.Sprintf("column %s of %s is identifying, and never published (%s)", name, read, place)
		case listed:
			return fmt.Sprintf("column %s of %s is published in another form: see publish (%s)", name, read, place)
		case e.has(policy.Table, name):
			return fmt.Sprintf("column %s of %s is not named in the policy, and therefore not published (%s)", name, read, place)
		}
	}
	return whyNoColumn
}

// whyHidden says who does not see a column, and by which hide.
func (e *explainer) whyHidden(audience string, table catalog.Name, column string) string {
	whom := "the table's own readers"
	if audience != "" {
		whom = "audience " + audience
	}
	return fmt.Sprintf("column %s of %s is hidden from %s: see hide (%s)", column, table, whom, e.config.LocateHide(audience, table, column))
}

// has reports whether the source table has a column.
func (e *explainer) has(table catalog.Name, column string) bool {
	i := slices.IndexFunc(e.relations, func(r catalog.Relation) bool { return r.Name == table })
	if i < 0 {
		return false
	}
	_, exists := e.relations[i].Column(column)
	return exists
}

// whyRelation explains why clients cannot read a relation, given its name as they wrote it.
func (e *explainer) whyRelation(written string) string {
	name := catalog.ParseName(written)
	qualified := strings.Contains(written, ".")
	switch {
	case name.Schema == "pg_catalog", name.Schema == "information_schema", !qualified && strings.HasPrefix(written, "pg_"):
		return "clients reach the system catalogs that tools need, and see in them what they may read"
	case catalog.IsOwn(name.Schema):
		return "schema " + name.Schema + " is kproxy's own, and clients cannot name what is in it: they read tables by the tables' own names"
	}
	if slices.ContainsFunc(e.views, func(v catalog.View) bool { return v.Name == name }) {
		return fmt.Sprintf("view %s is over protected tables, and not listed under readable%s", name, e.place("readable"))
	}
	audience := gate.AudienceOf(e.config, gate.ReaderOf(e.config, e.options.User))
	for _, t := range e.config.Policy.Tables {
		if _, seen := t.For(audience); audience != "" && !seen && (t.Table == name || !qualified && t.Table.Relation == written) {
			place := e.place("audiences." + audience)
			if at := e.config.LocateHide(audience, t.Table, ""); at.Line > 0 {
				place = " (" + at.String() + ")"
			}
			return fmt.Sprintf("audience %s does not see table %s%s", audience, t.Table, place)
		}
	}
	for _, r := range e.relations {
		if r.Name == name || !qualified && r.Name.Relation == written {
			return fmt.Sprintf("%s is there, but listed neither under tables nor under readable%s", r.Name, e.place("readable"))
		}
	}
	if e.options.Offline {
		return "the configuration does not name it"
	}
	return "the database has no such relation"
}
