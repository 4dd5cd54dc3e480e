package explain

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
)

// whys are for operators: they name what is in the configuration and the database, which
// clients are not told.

// limitSettings are those whose bounds statements run into, by what refusals say.
var limitSettings = []struct{ says, setting string }{
	{"token", "limits.max_tokens"},
	{"statements", "limits.max_statements"},
	{"nest", "limits.max_depth"},
	{"deep", "limits.max_depth"},
	{"bytes", "limits.max_statement_bytes"},
	{"long", "limits.max_statement_bytes"},
}

// SQLSTATEs that have reasons of their own (PostgreSQL, appendix A).
const (
	stateUndefinedFunction = "42883"
	stateReadOnly          = "25006"
	stateNotPublished      = "55000"
	stateTooLarge          = "54000"
	stateTooComplex        = "54001"
	stateSyntax            = "42601"
)

// why tells what in the configuration or the database a refusal comes from.
func (e *explainer) why(r *Refused, reads []string) string {
	switch r.SQLState {
	case upstream.UndefinedColumn:
		if text := e.whyColumn(r.Message, reads); text != "" {
			return text
		}
		return "no relation that the statement reads publishes such a column"
	case upstream.UndefinedTable, upstream.InsufficientPrivilege:
		return e.whyDenied(r)
	case stateUndefinedFunction:
		return e.at("functions", "neither PostgreSQL nor the functions that the configuration lists have one of that name and these arguments; those of extensions and your own can be listed")
	case stateReadOnly:
		return e.whyReadOnly()
	case stateNotPublished:
		return "its release cannot be shown at the moment: 'kproxy status' and 'kproxy check' tell why"
	case stateTooLarge, stateTooComplex:
		for _, l := range limitSettings {
			if strings.Contains(r.Message, l.says) {
				return e.at(l.setting, "the bound is "+l.setting)
			}
		}
		return e.at("limits", "it is more than limits allow")
	case stateSyntax:
		return "PostgreSQL's grammar does not take it"
	}
	if r.By == "server" {
		return "kproxy lets it pass, and the server does not take it"
	}
	return "kproxy passes on only what it knows to be harmless; docs/sql.md lists it"
}

// whyDenied says why clients may not have what they name, or are told that it is not there.
func (e *explainer) whyDenied(r *Refused) string {
	switch {
	case strings.Contains(r.Message, "function") && r.By == "server":
		return e.at("functions", "the reader role may not call it: run 'kproxy setup'")
	case strings.Contains(r.Message, "function"):
		return "it is PostgreSQL's own, and does or tells more than follows from its arguments: no setting opens it"
	case strings.Contains(r.Message, "read-only"):
		return e.whyReadOnly()
	case strings.Contains(r.Message, "denied to set parameter"):
		return "this setting could change more than the client's own session and its results: docs/sql.md lists those that are open"
	case strings.Contains(r.Message, "denied to set"):
		return e.at("upstream.reader", "every session runs as the reader role of its user, and as no other")
	}
	if text := e.whyRelation(r.Message); text != "" {
		return text
	}
	return "clients reach what is listed under tables and readable, and of the system catalogs what tools need"
}

func (e *explainer) whyReadOnly() string {
	return e.at("temporary_tables", fmt.Sprintf("sessions only read, but for temporary tables where the configuration allows them: temporary_tables is %s", e.config.TemporaryTables))
}

// at names the place of a setting behind a reason.
func (e *explainer) at(setting, reason string) string {
	if at := e.config.LocateSetting(setting); at.Line > 0 {
		return reason + " (" + at.String() + ")"
	}
	return reason
}

var quoted = regexp.MustCompile(`"([^"]+)"|column ([\w$]+(?:\.[\w$]+)?)`)

// named is the first name in a message, without the table before it.
func named(message string) string {
	found := quoted.FindStringSubmatch(message)
	if found == nil {
		return ""
	}
	name := found[1] + found[2]
	return name[strings.LastIndexByte(name, '.')+1:]
}

// whyColumn looks for a column in the protected tables that are read.
func (e *explainer) whyColumn(message string, reads []string) string {
	name := named(message)
	for _, read := range reads {
		i := slices.IndexFunc(e.config.Policy.Tables, func(t catalog.TablePolicy) bool { return t.Table.String() == read })
		if i < 0 || name == "" {
			continue
		}
		policy := e.config.Policy.Tables[i]
		place := e.config.Locate(policy.Table, name)
		column, listed := policy.Column(name)
		switch {
		case listed && column.Role == catalog.Identifying:
			return fmt.Sprintf("column %s of %s is identifying, and never published (%s)", name, read, place)
		case listed:
			return fmt.Sprintf("column %s of %s is published in another form: see publish (%s)", name, read, place)
		case e.has(policy.Table, name):
			return fmt.Sprintf("column %s of %s is not named in the policy, and therefore not published (%s)", name, read, place)
		}
	}
	return ""
}

// has tells whether the source has a column.
func (e *explainer) has(table catalog.Name, column string) bool {
	i := slices.IndexFunc(e.relations, func(r catalog.Relation) bool { return r.Name == table })
	if i < 0 {
		return false
	}
	_, exists := e.relations[i].Column(column)
	return exists
}

var relationName = regexp.MustCompile(`(?:relation|table|view) "?([^\s"]+)"?`)

// whyRelation says of a relation that clients cannot read whether it is there.
func (e *explainer) whyRelation(message string) string {
	found := relationName.FindStringSubmatch(message)
	if found == nil {
		return ""
	}
	name := catalog.ParseName(found[1])
	switch {
	case name.Schema == "pg_catalog", name.Schema == "information_schema", !strings.Contains(found[1], ".") && strings.HasPrefix(found[1], "pg_"):
		return "of the system catalogs clients reach what tools need, and see in it what they may read"
	case catalog.IsOwn(name.Schema):
		return "schema " + name.Schema + " is kproxy's own, and clients cannot name what is in it: they read tables by the tables' own names"
	}
	if slices.ContainsFunc(e.views, func(v catalog.View) bool { return v.Name == name }) {
		return fmt.Sprintf("view %s is over protected tables, and not listed under readable%s", name, e.place("readable"))
	}
	for _, r := range e.relations {
		if r.Name == name || !strings.Contains(found[1], ".") && r.Name.Relation == found[1] {
			return fmt.Sprintf("%s is there, but listed neither under tables nor under readable%s", r.Name, e.place("readable"))
		}
	}
	if e.options.Offline {
		return "the configuration does not name it"
	}
	return "the database has no such relation"
}

// place is where a setting stands, in brackets; empty if it is not written.
func (e *explainer) place(setting string) string {
	if at := e.config.LocateSetting(setting); at.Line > 0 {
		return " (" + at.String() + ")"
	}
	return ""
}
