package views

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/rewrite"
)

// fixAccept is what mends a relation that is not as it was when it was accepted.
const fixAccept = "see whether analysts may have it as it is now, and run 'kproxy setup' and 'kproxy accept', which shows what differs; or put back what was there"

// fixRaw is what mends a relation that shows protected rows.
const fixRaw = "take it off readable, or detach it from what is protected; if a protected table was renamed, give it its name back; if it, or a part of it, was a partition of a protected table, or such a table under another name, move what analysts may read into a new table of its name, and run 'kproxy setup' and 'kproxy accept'"

// fixFilled is what mends a materialized view that a function fills.
const fixFilled = "fill a table with what analysts may read, and list that; or, if the function reads no table, declare it IMMUTABLE and run 'kproxy setup'; or take it off readable"

// fixFilledBySystem is what mends one that PostgreSQL's own catalogs or functions fill.
const fixFilledBySystem = "fill it from tables alone, by functions that only compute; or take it off readable"

// planReadables plans the stand-ins of the listed relations that are not views over
// protected tables. A stand-in is a view of kproxy's own: it has no system columns, which
// tell of the writes of others (a foreign key of a protected table locks the row that it
// refers to), and it is bound to relations and columns by number, so that it never shows
// what has taken their names.
func (p *planner) planReadables() []viewPlan {
	var plans []viewPlan
	for name := range p.listed {
		if p.isView(name) || p.protected[name] {
			continue
		}
		r, exists := p.readables[name]
		s, known := p.stored[name]
		if !exists && (!known || s.accepted == nil || s.accepted.OverProtected) {
			continue // a check says that there is no such relation
		}
		plan := p.planReadable(name, r, exists)
		p.plans[name] = plan
		plans = append(plans, plan)
	}
	slices.SortFunc(plans, func(a, b viewPlan) int { return a.view.Name.Compare(b.view.Name) })
	return plans
}

// isView says whether the listed name is planned as a view over protected tables: at a source in a database of
// its own, one of which the database of the release has no relation of that name.
func (p *planner) isView(name catalog.Name) bool {
	v := p.found[name]
	if _, here := p.readables[name]; v.Apart {
		return !here
	}
	return v.Publishable()
}

func (p *planner) planReadable(name catalog.Name, r catalog.ReadableRelation, exists bool) viewPlan {
	plan := viewPlan{view: catalog.View{OID: r.OID, Name: name, Kind: r.Kind, Listed: true, Barrier: p.barrier(r)}, standIn: true}
	now := catalog.IdentityOf(r, p.readables)
	switch {
	case !exists:
		plan.problem, plan.fix = "there is no relation of its name any more", fixAccept
		return plan.digested()
	case r.Raw:
		plan.problem, plan.fix = "it shows rows of protected tables, or is kproxy's own", fixRaw
		return plan.doubted(p.stored[name]).digested()
	}
	if blocker := p.unread(r); blocker != "" {
		return plan.unread(blocker)
	}
	plan.accepted = now
	if s, known := p.stored[name]; known && s.accepted != nil {
		plan.accepted, plan.was = *s.accepted, s.accepted.String()
	}
	if changes := plan.accepted.Changes(now); len(changes) > 0 {
		if plan.accepted.Refills(now) {
			plan = plan.doubted(p.stored[name])
		}
		return plan.unaccepted(changes)
	}
	plan.accepted = plan.accepted.Knowing(now, p.isGone)
	plan.published.Omitted = plan.accepted.Added(now)
	columns := plan.accepted.Served(r.Columns)
	plan.published.Columns = columnNames(columns)
	query, problem := p.query(r, plan.accepted)
	if problem != nil {
		plan.problem, plan.fix, plan.waits = problem.what, problem.fix, problem.waits
		if p.filler(r) != nil {
			plan = plan.doubted(p.stored[name])
		}
		return plan.digested()
	}
	plan.published.SQL = asShown(query, columns, sameFields(plan.accepted.AllTypes()))
	return plan.digested(append([]any{plan.view.Barrier, p.reader, plan.accepted.String()}, p.forAudiences()...)...)
}

// forAudiences are those that have a stand-in of their own, each with the role that reads it.
func (p *planner) forAudiences() (all []any) {
	for _, a := range p.audiences {
		if len(a.Roles) > 0 {
			all = append(all, a.Name, a.Roles[0])
		}
	}
	return all
}

// gone says whether what was published under the name is to be dropped: the policy does not
// list it, or there is nothing left of which it could be the published form. Of readable
// relations that are there no more the plan says so.
func (p *planner) gone(name catalog.Name, afresh bool) bool {
	if !p.listed[name] {
		return afresh
	}
	if p.away && p.found[name].Apart {
		return false
	}
	_, planned := p.plans[name]
	accepted := p.stored[name].accepted
	return p.protected[name] || !planned && (accepted == nil || accepted.OverProtected)
}

// changed are the differences between what was accepted under the name and what is there.
func (p *planner) changed(name catalog.Name, now catalog.Identity) []string {
	s, known := p.stored[name]
	if !known || s.accepted == nil {
		return nil
	}
	return s.accepted.Changes(now)
}

// unaccepted is the plan for a relation that is not what the operator has accepted.
func (plan viewPlan) unaccepted(changes []string) viewPlan {
	plan.problem, plan.fix = "it is not as it was accepted: "+strings.Join(changes, "; "), fixAccept
	return plan.digested()
}

// barrier says whether the stand-in is a security barrier: where the relation or a view under
// it is one, of which the stand-in shows all, and where conditions of a client's could see
// rows or values that the stand-in does not show.
func (p *planner) barrier(r catalog.ReadableRelation) bool {
	return r.Barrier || len(r.Parts) > 0 || r.Kind == catalog.KindView && slices.ContainsFunc(r.Reads, func(name catalog.Name) bool {
		under, known := p.readables[name]
		return !known || !p.isShown(under) || p.barrier(under)
	})
}

// isShown says whether readers may have all rows and columns of a relation by its own name.
func (p *planner) isShown(r catalog.ReadableRelation) bool {
	accepted := p.stored[r.Name].accepted
	return r.Listed && (accepted == nil || len(accepted.Added(catalog.IdentityOf(r, p.readables))) == 0)
}

// query is what a stand-in shows of the columns that were accepted, down to tables: a view
// under it could be given another definition.
func (p *planner) query(r catalog.ReadableRelation, accepted catalog.Identity) (string, *unreadable) {
	of := "it"
	if !r.Listed {
		of = r.Name.String() + ", which it reads,"
	}
	switch {
	case r.Foreign:
		return "", &unreadable{what: of + " is a foreign table, or has one among its partitions: where that leads can be changed at any time", fix: "copy what analysts may read into a table, and list that"}
	case r.RowSecurity:
		return "", &unreadable{what: of + " has row security, which would decide for kproxy's owner role and not for readers", fix: "list a view that shows the rows that analysts may read, over a table without row security, or take it off readable"}
	case r.Raw:
		return "", &unreadable{what: of + " shows rows of protected tables, or is kproxy's own", fix: fixRaw}
	case r.Kind == catalog.KindView:
		return p.definition(r, accepted)
	case p.filler(r) != nil:
		found := p.filler(r)
		return "", &unreadable{what: of + " " + found.what, fix: found.fix}
	case !r.Granted:
		return "", &unreadable{what: "kproxy's owner role may not read " + r.Name.String(), fix: fixSetup}
	}
	columns := columnNames(accepted.Served(r.Columns))
	quoted := make([]string, len(columns))
	for i, column := range columns {
		quoted[i] = catalog.QuoteIdentifier(column)
	}
	list := strings.Join(quoted, ", ")
	if len(r.Parts) == 0 && r.Kind != catalog.KindPartitionedTable {
		// ONLY: a protected table that is made to inherit from it shows nothing here.
		conditions := strings.TrimPrefix(p.sameParents(r)+p.sameSource(r, accepted), " AND ")
		if p.version < tablesStayVersion {
			// A rule makes a view of a table, under its number. A view has no tableoid, so
			// that the stand-in fails then.
			conditions = fmt.Sprintf("tableoid = %d AND ", r.OID) + conditions
		}
		return "SELECT " + list + " FROM ONLY " + r.Name.SQL() + " WHERE " + conditions, nil
	}
	return "SELECT " + list + " FROM " + r.Name.SQL() + " WHERE tableoid = ANY (" + partsLiteral(r) + "::pg_catalog.oid[])" + p.sameParents(r) + sameParts(r, columns), nil
}

// asShown is a query with the columns in the types in which readers get them, as long as the
// condition holds, if there is one. Names of objects go out as the numbers that they are, or as
// texts: beside a value of such a type, as in CASE, a client's number or text would be read as
// one, and tell of what the client cannot see. Within a view's definition they keep their types,
// and what it computes its meaning.
func asShown(query string, columns []catalog.ReadableColumn, condition string) string {
	plain := condition == ""
	names, values := make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		names[i] = catalog.QuoteIdentifier(c.Name)
		values[i] = names[i]
		if c.Shown != "" {
			plain, values[i] = false, names[i]+"::pg_catalog."+c.Shown
		}
	}
	if condition != "" {
		condition = " WHERE " + condition
	}
	if plain {
		return query
	}
	return "SELECT " + strings.Join(values, ", ") + " FROM (" + query + ") AS listed (" + strings.Join(names, ", ") + ")" + condition
}

// definition is a view's query with those of all that it reads in their places, checked as
// a client's statement is.
func (p *planner) definition(r catalog.ReadableRelation, accepted catalog.Identity) (string, *unreadable) {
	if call := composing(r.Definition); call != "" && hasComposite(accepted.AllTypes()) {
		return "", &unreadable{
			what: "its definition calls " + call + ", which would show whatever has the name of a field that a composite type gets at any time",
			fix:  "take the values out of the document one by one, with ->>, or take it off readable",
		}
	}
	relations := make(map[catalog.Name]rewrite.ViewRelation, len(r.Reads))
	for _, name := range r.Reads {
		inner, known := p.readables[name]
		if !known {
			continue // of the system, which the rewriter refuses
		}
		query, problem := p.query(inner, accepted.Reads[name.String()])
		if problem != nil {
			return "", problem
		}
		columns := columnNames(accepted.Reads[name.String()].Served(inner.Columns))
		relations[name] = rewrite.ViewRelation{Target: name, Columns: columns, Published: columns, Key: inner.Key, Query: query}
	}
	view := catalog.View{Name: r.Name, Columns: columnNames(r.Columns), Reads: r.Reads, Definition: r.Definition}
	published, err := p.rewritten.rewrite(view, relations)
	if err != nil {
		return "", &unreadable{what: "its definition is refused: " + err.Error(), fix: fixRefused(err)}
	}
	return published.SQL, nil
}

func columnNames(columns []catalog.ReadableColumn) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}
