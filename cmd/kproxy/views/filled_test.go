package views

import (
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

// filledPlanner plans a materialized view over a view, a partitioned table and a table, and a
// view over that. Nothing but these two is listed.
func filledPlanner() *planner {
	name := func(relation string) catalog.Name { return catalog.Name{Schema: "public", Relation: relation} }
	columns := []catalog.ReadableColumn{{Number: 1, Name: "a", Type: "text"}}
	relation := func(oid catalog.OID, relation string, kind catalog.Kind, reads ...catalog.Name) catalog.ReadableRelation {
		return catalog.ReadableRelation{OID: oid, Tree: []catalog.OID{oid}, Name: name(relation), Kind: kind, Columns: columns, Reads: reads, Granted: true}
	}
	table, view := relation(1, "t", catalog.KindTable), relation(2, "v", catalog.KindView, name("pg_class"), name("w"))
	inner := relation(6, "w", catalog.KindView, name("t"), catalog.Name{Schema: "pg_catalog", Relation: "pg_class"})
	inner.Definition, inner.Rule, inner.Made = "SELECT a FROM t", "rulew", "701"
	view.Definition, view.Rule, view.Made = "SELECT a FROM w", "rulev", "702"
	parted := relation(3, "p", catalog.KindPartitionedTable)
	parted.Parts, parted.Tree = []catalog.ReadablePart{{OID: 31, Numbers: []int16{7}}}, []catalog.OID{3, 31, 32}
	copied := relation(4, "m", catalog.KindMaterializedView, name("p"), name("t"), name("v"))
	copied.Definition, copied.Rule, copied.Listed = "SELECT a FROM v, p, t", "rulem", true
	over := relation(5, "o", catalog.KindView, name("m"))
	over.Definition, over.Rule, over.Listed = "SELECT a FROM m", "ruleo", true
	p := &planner{
		version: 160000, listed: map[catalog.Name]bool{name("m"): true, name("o"): true}, protected: map[catalog.Name]bool{},
		readables: map[catalog.Name]catalog.ReadableRelation{}, stored: map[catalog.Name]storedView{}, plans: map[catalog.Name]viewPlan{},
	}
	for _, r := range []catalog.ReadableRelation{table, inner, view, parted, copied, over} {
		p.readables[r.Name] = r
	}
	return p
}

// accepts has it as it is accepted.
func (p *planner) accepts(relation string) {
	name := catalog.Name{Schema: "public", Relation: relation}
	identity := catalog.IdentityOf(p.readables[name], p.readables)
	p.stored[name] = storedView{accepted: &identity}
}

// planned is what is planned for the relation after changes of those that there are.
func planned(p *planner, relation string, change func(all map[string]*catalog.ReadableRelation)) viewPlan {
	all := make(map[string]*catalog.ReadableRelation)
	for name, r := range p.readables {
		all[name.Relation] = &r
	}
	change(all)
	for name := range p.readables {
		p.readables[name] = *all[name.Relation]
	}
	name := catalog.Name{Schema: "public", Relation: relation}
	return p.planReadable(name, p.readables[name], true)
}

// TestCopiesCompareTheirSource wants the stand-in of a materialized view to look at the views and
// parts under it, and that of a table at its parents alone.
func TestCopiesCompareTheirSource(t *testing.T) {
	t.Parallel()
	p := filledPlanner()
	plan := planned(p, "m", func(map[string]*catalog.ReadableRelation) {})
	for _, words := range []string{
		`SELECT "a" FROM ONLY "public"."m" WHERE (SELECT CASE`, "count(*) = 2 THEN", "unnest('{2,6}'::pg_catalog.oid[]), pg_catalog.unnest('{rulev 702,rulew 701}'::text[])",
		"i.inhrelid = ANY ('{1,2,3,4,6,31,32}'::pg_catalog.oid[]) AND i.inhparent <> ALL ('{1,2,3,4,6,31,32}'::pg_catalog.oid[])",
		"c.oid = ANY ('{4}'::pg_catalog.oid[]) AND c.relfilenode <> pg_catalog.pg_relation_filenode(c.oid)", "unnest('{31}'::pg_catalog.oid[]) AS part", "ARRAY[7]",
	} {
		if plan.problem != "" || !strings.Contains(plan.published.SQL, words) {
			t.Errorf("%q is not in %s\n%s", words, plan.published.SQL, plan.problem)
		}
	}
	if strings.Count(plan.published.SQL, "(SELECT CASE") != 3 {
		t.Errorf("parents, one set of parts and two views make %s", plan.published.SQL)
	}
	only := filledPlanner()
	plan = planned(only, "m", func(all map[string]*catalog.ReadableRelation) { all["m"].Reads = all["m"].Reads[:1] })
	if sql := plan.published.SQL; strings.Count(sql, "(SELECT CASE") != 2 || !strings.Contains(sql, "AS part") {
		t.Errorf("over parts alone: %s", sql)
	}
	if plan.view.Barrier {
		t.Error("it is a security barrier: what it shows are rows of its own")
	}
	p.version = 150000
	plan = planned(p, "m", func(map[string]*catalog.ReadableRelation) {})
	if !strings.Contains(plan.published.SQL, `"m" WHERE tableoid = 4 AND (SELECT`) {
		t.Errorf("before PostgreSQL 16: %s", plan.published.SQL)
	}
	query, problem := p.query(p.readables[catalog.Name{Schema: "public", Relation: "t"}], catalog.Identity{Columns: []catalog.ReadableColumn{{Number: 1, Name: "a"}}})
	if !strings.HasPrefix(query, `SELECT "a" FROM ONLY "public"."t" WHERE tableoid = 1 AND (SELECT`) || strings.Count(query, "(SELECT CASE") != 1 || !strings.Contains(query, "i.inhrelid = ANY ('{1}'") || problem != nil {
		t.Errorf("a table: %s, %v", query, problem)
	}
}

// TestCopiesAreDoubted has what a materialized view is filled from change: it is doubted from then
// on, and so is a view over it, but not for names alone nor for what has taken its name.
func TestCopiesAreDoubted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change         func(all map[string]*catalog.ReadableRelation)
		wrong, doubted bool
	}{
		"the view under it":             {func(all map[string]*catalog.ReadableRelation) { all["v"].Definition = "SELECT b AS a FROM t" }, true, true},
		"the same query again under it": {func(all map[string]*catalog.ReadableRelation) { all["w"].Made = "703" }, true, true},
		"a foreign table":               {func(all map[string]*catalog.ReadableRelation) { all["t"].Foreign = true }, true, true},
		"a partition": {func(all map[string]*catalog.ReadableRelation) {
			all["p"].Parts = []catalog.ReadablePart{{OID: 31, Numbers: []int16{8}}}
		}, true, true},
		"protected rows": {func(all map[string]*catalog.ReadableRelation) { all["m"].Raw, all["o"].Raw = true, true }, true, true},
		"names": {func(all map[string]*catalog.ReadableRelation) {
			all["m"].Definition, all["o"].Definition = "SELECT z FROM v, p, t", "SELECT z FROM m"
		}, true, false},
		"another one": {func(all map[string]*catalog.ReadableRelation) {
			all["m"].OID, all["o"].OID, all["v"].Definition = 8, 9, ""
		}, true, false},
	} {
		for _, relation := range []string{"m", "o"} {
			p := filledPlanner()
			p.accepts(relation)
			plan := planned(p, relation, test.change)
			if (plan.problem != "") != test.wrong || plan.accepted.Doubted != test.doubted || plan.was == "" && test.doubted {
				t.Errorf("%s changes under %s: %q, doubted %t", name, relation, plan.problem, plan.accepted.Doubted)
			}
		}
	}
	p := filledPlanner()
	if plan := (viewPlan{}).doubted(storedView{}); plan.accepted.Doubted {
		t.Error("what was never accepted is doubted")
	}
	p.accepts("v")
	if plan := planned(p, "v", func(all map[string]*catalog.ReadableRelation) { all["v"].Raw = true }); plan.accepted.Doubted {
		t.Error("a view that holds no copies is doubted")
	}
	p = filledPlanner()
	p.accepts("m")
	p.stored[catalog.Name{Schema: "public", Relation: "m"}].accepted.Doubted = true
	if plan := planned(p, "m", func(map[string]*catalog.ReadableRelation) {}); !strings.Contains(plan.problem, "may hold rows from then") || !plan.accepted.Doubted {
		t.Errorf("a doubt ends by itself: %q", plan.problem)
	}
	plain := p.readables[catalog.Name{Schema: "public", Relation: "v"}]
	plain.Kind = catalog.KindView
	accepted := catalog.IdentityOf(plain, p.readables)
	inner := p.readables[catalog.Name{Schema: "public", Relation: "w"}]
	inner.Made, plain.Made = "704", "704"
	p.readables[inner.Name] = inner
	if changes := accepted.Changes(catalog.IdentityOf(plain, p.readables)); len(changes) > 0 {
		t.Errorf("a view that holds no copies, and has the same query again, differs: %q", changes)
	}
	over := catalog.View{OID: 5, Name: catalog.Name{Schema: "public", Relation: "o"}, Kind: catalog.KindView, Listed: true}
	p.accepts("o")
	if plan := p.planView(over); plan.problem == "" || !plan.accepted.Doubted {
		t.Errorf("a view over one that came to show protected rows: %q", plan.problem)
	}
}

// TestCopiesFilledByFunctions has a function fill a materialized view, by itself or by a view under it.
func TestCopiesFilledByFunctions(t *testing.T) {
	t.Parallel()
	p := filledPlanner()
	over := p.readables[catalog.Name{Schema: "public", Relation: "o"}]
	if over.Function = "public.f(integer)"; p.filler(over) != nil {
		t.Error("a view that is computed for its readers is filled by a function")
	}
	for _, relation := range []string{"m", "v", "w"} {
		p := filledPlanner()
		calls := func(all map[string]*catalog.ReadableRelation) { all[relation].Function = "public.f(integer)" }
		for _, of := range []string{"m", "o"} {
			p.accepts(of)
			plan := planned(p, of, calls)
			if !strings.Contains(plan.problem, "is filled by public.f(integer)") || plan.fix != fixFilled || !plan.accepted.Doubted {
				t.Errorf("%s calls a function, and %s: %q, %q, %t", relation, of, plan.problem, plan.fix, plan.accepted.Doubted)
			}
		}
	}
}

// TestCopiesFilledBySystem has PostgreSQL's own catalogs and functions fill a materialized view.
func TestCopiesFilledBySystem(t *testing.T) {
	t.Parallel()
	for _, relation := range []string{"m", "v", "w"} {
		for wrong, fill := range map[string]func(r *catalog.ReadableRelation){
			"is filled from pg_catalog.pg_stats":    func(r *catalog.ReadableRelation) { r.SystemReads = []string{"pg_catalog.pg_stats"} },
			"is filled by pg_catalog.lo_get":        func(r *catalog.ReadableRelation) { r.SystemCalls = []string{"date_trunc", "lo_get"} },
			"is filled by pg_catalog.pg_table_size": func(r *catalog.ReadableRelation) { r.SystemCalls = []string{"now", "pg_table_size"} },
			"is filled by pg_catalog.nextval":       func(r *catalog.ReadableRelation) { r.SystemCalls = []string{"nextval"} },
		} {
			p := filledPlanner()
			for _, of := range []string{"m", "o"} {
				p.accepts(of)
				plan := planned(p, of, func(all map[string]*catalog.ReadableRelation) { fill(all[relation]) })
				if !strings.Contains(plan.problem, wrong) || plan.fix != fixFilledBySystem {
					t.Errorf("%s, by %s: %q, want %q; %q", of, relation, plan.problem, wrong, plan.fix)
				}
			}
		}
		p := filledPlanner()
		p.accepts("m")
		if plan := planned(p, "m", func(all map[string]*catalog.ReadableRelation) {
			all[relation].SystemCalls = []string{"date_trunc", "now"}
		}); plan.problem != "" {
			t.Errorf("by %s: %q", relation, plan.problem)
		}
	}
}

// TestUnreadDefinitionsAreRefused has the definition of a view at the bottom not be known: nothing
// over it is served, nor accepted.
func TestUnreadDefinitionsAreRefused(t *testing.T) {
	t.Parallel()
	for _, relation := range []string{"m", "o"} {
		plan := planned(filledPlanner(), relation, func(all map[string]*catalog.ReadableRelation) { all["v"].Unread = "process 7 holds it" })
		if !strings.Contains(plan.problem, "process 7 holds it") || plan.fix == "" || plan.accepted.OID != 0 || plan.waits {
			t.Errorf("%s: %+v", relation, plan)
		}
	}
	p := filledPlanner()
	plan := p.planView(catalog.View{OID: 6, Kind: catalog.KindView, Listed: true, Unread: "process 7 holds it"})
	if !strings.Contains(plan.problem, "process 7 holds it") {
		t.Errorf("a view over protected tables: %+v", plan)
	}
	p.found = map[catalog.Name]catalog.View{{Schema: "public", Relation: "m"}: {Kind: catalog.KindMaterializedView, Listed: true}}
	delete(p.listed, catalog.Name{Schema: "public", Relation: "o"})
	if plans := p.planReadables(); len(plans) != 1 {
		t.Errorf("of a materialized view over protected tables there are %d plans", len(plans))
	}
}
