package rewrite

import (
	"regexp"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/kproxy/kproxy/catalog"
)

// What EXPLAIN shows of a plan depends on the published data, or on all that the server
// does: a page that is dirtied by being read was written to before, by whomever, which a
// foreign key of a protected table does to pages of the table that it refers to. Hence only
// options of the first kind may be on, and those that are on by default are turned off.

var explainOptions = map[string]shape{
	"analyze": boolean, "costs": boolean, "generic_plan": boolean,
	"format":  word("text", "xml", "json", "yaml"),
	"buffers": off, "memory": off, "settings": off, "summary": off, "timing": off, "wal": off,
	"verbose":   boolean, // and left out: sqlx asks for it, and goes without
	"serialize": word("none"),
}

const explainHint = "ANALYZE, COSTS, GENERIC_PLAN and FORMAT may be given; VERBOSE adds nothing. The others tell of kproxy's own names, or of what else the server does, and can only be off."

// off takes what turns a boolean option off.
func off(option *pg.DefElem) bool {
	on, ok := truth(option.GetArg())
	return ok && !on
}

// isOn says whether a checked boolean option is on at last: the last one of its name counts.
func isOn(options []*pg.Node, name string) bool {
	on := false
	for _, node := range options {
		if option := node.GetDefElem(); option.GetDefname() == name {
			on, _ = truth(option.GetArg())
		}
	}
	return on
}

func (c *statements) explain(n *pg.ExplainStmt) error {
	c.w.result.Plans = true
	if err := explainable(n.GetOptions()); err != nil {
		return err
	}
	analyze := isOn(n.GetOptions(), "analyze")
	// What is off anyway is not sent, as not every version of the server knows it.
	n.Options = without(without(n.GetOptions(), offOnly), words("verbose"))
	if analyze {
		// TIMING and SUMMARY are on by default, and from PostgreSQL 18 on BUFFERS.
		for _, name := range []string{"timing", "summary", "buffers"} {
			n.Options = append(n.Options, turnedOff(name))
		}
	}
	c.w.names.hidesCosts = false
	execute := n.GetQuery().GetExecuteStmt()
	if execute != nil {
		if err := c.w.execute(execute); err != nil {
			return err
		}
	} else if err := c.w.query(n.GetQuery(), "EXPLAIN"); err != nil {
		return err
	}
	if execute == nil && !c.w.names.hidesCosts && !readsCatalogs(n.GetQuery().ProtoReflect()) {
		return nil
	}
	// Under system catalogs and readable relations are rows of what is hidden, which both the rows that a filter removes and estimates tell of. A prepared
	// statement may read them.
	if analyze {
		return refuse(OptionDenied, "Leave ANALYZE out.", "EXPLAIN ANALYZE of system catalogs, readable relations or prepared statements is not allowed")
	}
	n.Options = append(without(n.GetOptions(), words("costs")), turnedOff("costs"))
	return nil
}

// explainable checks the options. Some may only be off.
func explainable(list []*pg.Node) error {
	for _, node := range list {
		option := node.GetDefElem()
		if on, _ := truth(option.GetArg()); on && offOnly[option.GetDefname()] {
			return refuse(OptionDenied, explainHint, "EXPLAIN option %q is not allowed", option.GetDefname()).at(option.GetLocation())
		}
	}
	return options(list, explainOptions, "EXPLAIN", explainHint)
}

var offOnly = words("buffers memory settings summary timing wal serialize")

func without(list []*pg.Node, names map[string]bool) []*pg.Node {
	var kept []*pg.Node
	for _, node := range list {
		if !names[node.GetDefElem().GetDefname()] {
			kept = append(kept, node)
		}
	}
	return kept
}

func turnedOff(option string) *pg.Node {
	return &pg.Node{Node: &pg.Node_DefElem{DefElem: &pg.DefElem{
		Defname: option, Arg: pg.MakeStrNode("off"), Defaction: pg.DefElemAction_DEFELEM_UNSPEC,
	}}}
}

// readsCatalogs says whether a rewritten query reads system catalogs, or calls a function
// of kproxy's that does.
func readsCatalogs(m protoreflect.Message) bool {
	reads := false
	switch n := m.Interface().(type) {
	case *pg.RangeVar:
		reads = n.GetSchemaname() == catalog.CatalogSchema || catalog.IsSystem(n.GetSchemaname()) && n.GetSchemaname() != temporarySchema
	case *pg.FuncCall:
		reads = len(n.GetFuncname()) > 1 && n.GetFuncname()[0].GetString_().GetSval() == catalog.CatalogSchema
	}
	if reads {
		return true
	}
	_ = each(m, func(inner protoreflect.Message) error {
		reads = reads || readsCatalogs(inner)
		return nil
	})
	return reads
}

// serverOwn are the figures of EXPLAIN ANALYZE that depend on what else the server does, in
// the forms of all formats: pages that vacuum has not come to for the sake of other sessions,
// and processes that others have left.
var serverOwn = regexp.MustCompile(`(Heap Fetches|Workers Launched)("?: )\d+|<(Heap-Fetches|Workers-Launched)>\d+`)

// withoutServerOwn takes these figures out of a plan.
func withoutServerOwn(plan string) string {
	if !strings.Contains(plan, "Heap") && !strings.Contains(plan, "Workers") {
		return plan
	}
	return serverOwn.ReplaceAllStringFunc(plan, func(found string) string {
		end := strings.TrimRight(found, "0123456789")
		if strings.HasPrefix(found, "<") {
			return end
		}
		return end + "null"
	})
}
