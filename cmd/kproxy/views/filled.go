package views

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/rewrite"
)

// A materialized view is filled, when it is refreshed, by what the views and partitions under it
// are then. These may be others than were accepted, and be so again when kproxy looks next.

// sameSource has the stand-in of a materialized view fail as long as a view under it is not the
// one that was accepted, or a part of a table under it has other columns; it is empty for what
// reads neither.
func (p *planner) sameSource(r catalog.ReadableRelation, accepted catalog.Identity) string {
	if r.Kind != catalog.KindMaterializedView {
		return ""
	}
	rules, parts := make(map[catalog.OID]string), make(map[string]bool)
	p.gatherSource(r, accepted, rules, parts)
	conditions := strings.Join(slices.Sorted(maps.Keys(parts)), "")
	if len(rules) == 0 {
		return conditions
	}
	oids := slices.Sorted(maps.Keys(rules))
	texts := make([]string, len(oids))
	for i, oid := range oids {
		texts[i] = rules[oid]
	}
	return conditions + fmt.Sprintf(sameSourceSQL, len(oids), oidArray(oids), strings.Join(texts, ","))
}

// gatherSource gathers what the server keeps of the views under a relation, at any depth, and the
// conditions on the parts of tables.
func (p *planner) gatherSource(r catalog.ReadableRelation, accepted catalog.Identity, rules map[catalog.OID]string, parts map[string]bool) {
	for _, name := range r.Reads {
		under, known := p.readables[name]
		if !known {
			continue // of the system
		}
		as := accepted.Reads[name.String()]
		if under.Kind == catalog.KindView {
			rules[under.OID] = under.Rule + " " + as.Made
		}
		if len(under.Parts) > 0 {
			parts[sameParts(under, columnNames(as.Served(under.Columns)))] = true
		}
		p.gatherSource(under, as, rules, parts)
	}
}

// filler is what may have filled the materialized views that a relation is or reads with what
// their owners may read and readers may not; nil for nothing.
func (p *planner) filler(r catalog.ReadableRelation) *unreadable { return p.fillerUnder(r, false) }

// fillerUnder is likewise; filled says that the relation is read when a materialized view is
// filled.
func (p *planner) fillerUnder(r catalog.ReadableRelation, filled bool) *unreadable {
	if filled = filled || r.Kind == catalog.KindMaterializedView; filled {
		if found := cmp.Or(fills(r), p.converts(r)); found != nil {
			return found
		}
	}
	for _, name := range r.Reads {
		if found := p.fillerUnder(p.readables[name], filled); found != nil {
			return found
		}
	}
	return nil
}

// converts is a call that makes JSON of values of a user's type: each time, PostgreSQL looks whether
// the owner of the type has made a cast to json, and calls its function with the rights of the
// materialized view's owner.
func (p *planner) converts(r catalog.ReadableRelation) *unreadable {
	at := slices.IndexFunc(r.SystemCalls, func(function string) bool { return strings.Contains(function, "json") })
	if at < 0 {
		return nil
	}
	types := r.Types
	for _, name := range r.Reads {
		types = slices.Concat(types, p.readables[name].Types)
	}
	if len(types) == 0 {
		return nil
	}
	return &unreadable{
		what: "is filled by pg_catalog." + r.SystemCalls[at] + " beside values of type " + types[0].Name + ", whose owner can have it call any function, by a cast to json",
		fix:  "have its definition cast the values of that type to text, under a view or a table that has them as text; or take it off readable",
	}
}

// fills is what the definition of a view itself reads and calls beyond tables, views and
// functions that only compute.
func fills(r catalog.ReadableRelation) *unreadable {
	if r.Function != "" {
		return &unreadable{what: "is filled by " + r.Function + ", which may read whatever the owner of the materialized view may", fix: fixFilled}
	}
	if r.Foreign {
		return &unreadable{what: "is filled from " + r.Name.String() + ", a foreign table or one with foreign partitions: where that leads can be changed at any time", fix: fixFilledBySystem}
	}
	if len(r.SystemReads) > 0 {
		return &unreadable{what: "is filled from " + r.SystemReads[0] + ", which may tell of protected tables", fix: fixFilledBySystem}
	}
	for _, function := range r.SystemCalls {
		if !rewrite.OnlyComputes(function) {
			return &unreadable{what: "is filled by pg_catalog." + function + ", which may read whatever the owner of the materialized view may", fix: fixFilledBySystem}
		}
	}
	return nil
}

const (
	changedSource = "what a materialized view is filled from is not as it was accepted"
	changedPart   = "a partition or child table is not as it was accepted"
	changedParent = "a table has become a partition or child of another one, or was rewritten since the transaction began"
	changedFields = "a composite type has fields that were not accepted"
)

// Changed is what an error of the server says that a stand-in has raised, as a relation that it
// shows is not as it was accepted; empty where no stand-in has raised it.
func Changed(message string) string {
	for _, changed := range []string{changedSource, changedPart, changedParent, changedFields} {
		if strings.Contains(message, changed) { // as a text that is no boolean
			return changed
		}
	}
	return ""
}

// sameSourceSQL wants %d views to be there by the numbers %s, with the rules %s, which were made by
// the transactions behind them: one that was given another rule and its own again is another. The catalogs are
// read under the statement's snapshot, which shows the views that the last REFRESH has read, unless
// it is older: then sameParentsSQL fails. Nothing in it is constant, so that the error is raised by
// the statement and not by its plan.
const sameSourceSQL = ` AND (SELECT CASE WHEN pg_catalog.count(*) = %d THEN true
	ELSE pg_catalog.concat('` + changedSource + `', pg_catalog.left(pg_catalog.count(*)::text, 0))::boolean END
	FROM ROWS FROM (pg_catalog.unnest(%s::pg_catalog.oid[]), pg_catalog.unnest('{%s}'::text[])) AS accepted (oid, rule)
	JOIN pg_catalog.pg_rewrite AS r ON r.ev_class = accepted.oid AND r.ev_type = '1' AND pg_catalog.md5(r.ev_action::text) || ' ' || r.xmin::text = accepted.rule)`

// doubted is the plan with a note for a materialized view that it may hold what was not accepted.
// What has its name only is another one.
func (plan viewPlan) doubted(s storedView) viewPlan {
	if s.accepted != nil && s.accepted.Copies() && s.accepted.OID == plan.view.OID {
		plan.accepted, plan.was = *s.accepted, s.accepted.String()
		plan.accepted.Doubted = true
	}
	return plan
}
