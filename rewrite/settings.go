package rewrite

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
)

func refuseSetting(what, name string) *Refusal {
	return refuse(statePrivilege, "Only settings of the client's own formats and time limits are open.",
		"permission denied to %s parameter %q", what, name)
}

// show allows the harmless settings; SHOW search_path becomes a query.
func (w *walker) show(node *pg.Node, n *pg.VariableShowStmt) error {
	name := strings.ToLower(n.GetName())
	switch {
	case name == "search_path":
		node.Node = selectNode(&pg.SelectStmt{
			TargetList: []*pg.Node{targetNode(name, castNode(w.session.path.now.text, "text"))},
		}).GetNode()
	case name == "session_authorization": // the login name, as session_user
	case !harmlessSettings[name]:
		return refuseSetting("examine", n.GetName())
	}
	return nil
}

// set allows SET and RESET of what concerns the client alone. RESET, RESET ALL and
// SET ... TO DEFAULT go back to the value of the startup message, in which the
// proxy pins what must stay.
func (w *walker) set(n *pg.VariableSetStmt) error {
	name := strings.ToLower(n.GetName())
	switch n.GetKind() {
	case pg.VariableSetKind_VAR_RESET_ALL:
		w.effect = resetAll{}
		return nil
	case pg.VariableSetKind_VAR_SET_MULTI:
		if name != "transaction" && name != "session characteristics" {
			return refuse(stateNotSupported, "", "SET %s is not supported", n.GetName())
		}
		return transactionModes(n.GetArgs())
	case pg.VariableSetKind_VAR_RESET, pg.VariableSetKind_VAR_SET_DEFAULT:
		// transaction_* have no startup value: their default is READ WRITE.
		if name == "search_path" {
			w.effect = setPath{reset: true, local: n.GetIsLocal()}
		}
		if (freeSettings[name] || pinned[name] != nil || name == "search_path") && !strings.HasPrefix(name, "transaction_") {
			return nil
		}
	case pg.VariableSetKind_VAR_SET_VALUE:
		if w.operator[name] {
			return refuse(statePrivilege, "SET ... TO DEFAULT and RESET go back to the operator's value.",
				"%s is set by the operator", name)
		}
		return w.setValue(n, name)
	}
	return refuseSetting("set", n.GetName())
}

// pinned are the settings that may be set only to what they are.
var pinned = map[string]func(values []string) bool{
	"client_encoding": func(values []string) bool {
		return only(values, "utf8", "utf-8", "unicode")
	},
	"standard_conforming_strings": func(values []string) bool {
		return only(values, "on", "true", "yes", "1")
	},
	"default_transaction_read_only": func(values []string) bool {
		return only(values, "on", "true", "yes", "1")
	},
	"transaction_read_only": func(values []string) bool {
		return only(values, "on", "true", "yes", "1")
	},
	// Lower levels would show the server's log, with plans and internal queries.
	"client_min_messages": func(values []string) bool {
		return only(values, "notice", "warning", "error")
	},
}

var pinnedHints = map[string]string{
	"client_encoding":               "kproxy speaks UTF8.",
	"standard_conforming_strings":   "It is always on; write E'...' for escapes.",
	"default_transaction_read_only": "kproxy publishes read-only views.",
	"transaction_read_only":         "kproxy publishes read-only views.",
	"client_min_messages":           "Use notice, warning or error.",
}

func only(values []string, allowed ...string) bool {
	return len(values) == 1 && slices.Contains(allowed, strings.ToLower(values[0]))
}

func (w *walker) setValue(n *pg.VariableSetStmt, name string) error {
	if accepts := pinned[name]; accepts != nil {
		if values, ok := constants(n.GetArgs()); !ok || !accepts(values) {
			return refuse(stateInvalidValue, pinnedHints[name], "parameter %q cannot be set to this value", n.GetName())
		}
		return nil
	}
	if name == "search_path" {
		return w.setPath(n)
	}
	if !freeSettings[name] {
		return refuseSetting("set", n.GetName())
	}
	if !plainValues(n.GetArgs()) && (name != "timezone" || !zoneInterval(n.GetArgs())) {
		return refuse(stateInvalidValue, "Write a name or a number; for a time zone: SET TIME ZONE 'Europe/Berlin'.",
			"parameter %q cannot be set to this value", n.GetName())
	}
	return w.nodes(n.GetArgs())
}

// setPath notes the client's path; the session's real one stays what it is.
func (w *walker) setPath(n *pg.VariableSetStmt) error {
	path, ok := joinPath(n.GetArgs())
	if !ok {
		return refuse(stateInvalidValue, "Write names of schemas.", "parameter %q cannot be set to this value", n.GetName())
	}
	w.effect = setPath{text: path, local: n.GetIsLocal()}
	n.Kind, n.Args = pg.VariableSetKind_VAR_SET_DEFAULT, nil
	return nil
}

// plainValues says whether all values are texts and numbers, which is all that the
// deparser can write here but for zoneInterval.
func plainValues(args []*pg.Node) bool {
	for _, arg := range args {
		switch arg.GetAConst().GetVal().(type) {
		case *pg.A_Const_Sval, *pg.A_Const_Ival, *pg.A_Const_Fval:
		default:
			return false
		}
	}
	return len(args) > 0
}

// zoneInterval accepts SET TIME ZONE INTERVAL '+01:00' HOUR TO MINUTE. Without its
// fields the deparser would read past the end of their list.
func zoneInterval(args []*pg.Node) bool {
	if len(args) != 1 {
		return false
	}
	cast := args[0].GetTypeCast()
	_, isText := stringConstant(cast.GetArg())
	return isText && strings.Join(names(cast.GetTypeName().GetNames()), ".") == "pg_catalog.interval" &&
		len(cast.GetTypeName().GetTypmods()) == 1
}

// constants are the values of SET as texts.
func constants(args []*pg.Node) ([]string, bool) {
	var values []string
	for _, arg := range args {
		switch v := arg.GetAConst().GetVal().(type) {
		case *pg.A_Const_Sval:
			// SET search_path TO 'a, b' is one name with a comma in it; SET NAMES and
			// the like quote single words.
			values = append(values, v.Sval.GetSval())
		case *pg.A_Const_Ival:
			values = append(values, map[int32]string{0: "0", 1: "1"}[v.Ival.GetIval()])
		default:
			return nil, false
		}
	}
	return values, true
}
