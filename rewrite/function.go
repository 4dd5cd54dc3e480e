package rewrite

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// call lets a function of the allowlist pass, under its full name, so that no
// overload elsewhere on the search path can be chosen in its place.
func (w *walker) call(node *pg.Node, f *pg.FuncCall, s *scope) error {
	if _, _, allowed := w.names.lookupFunction(names(f.GetFuncname())); !allowed {
		return w.names.refuseFunction(names(f.GetFuncname())).at(f.GetLocation())
	}
	if err := w.children(f.ProtoReflect(), s); err != nil {
		return err
	}
	return w.checkedCall(node, f)
}

// checkedCall is call where the arguments have been checked.
func (w *walker) checkedCall(node *pg.Node, f *pg.FuncCall) error {
	schema, name, allowed := w.names.lookupFunction(names(f.GetFuncname()))
	if !allowed {
		return w.names.refuseFunction(names(f.GetFuncname())).at(f.GetLocation())
	}
	f.Funcname = nameNodes(schema, name)
	if schema != "pg_catalog" || leavesTrace[name] {
		w.result.Traceless = false
	}
	if n := len(f.GetArgs()); schema == "pg_catalog" && name == "overlay" && (n == 3 || n == 4) {
		// The deparser writes OVERLAY(a PLACING b FROM c) for calls as well.
		f.Funcformat = pg.CoercionForm_COERCE_SQL_SYNTAX
	}
	if rewrite := specials[name]; rewrite != nil && schema == "pg_catalog" {
		return rewrite(expression{w, node}, f)
	}
	return nil
}

// lookupFunction finds the schema of a function that may be called. Bare names are
// looked up on the client's path, where functions that may not be called hide none: a
// call never means another function than the client could have named.
func (r *resolver) lookupFunction(parts []string) (schema, name string, allowed bool) {
	switch len(parts) {
	case 2:
		return parts[0], parts[1], r.mayCall(parts[0], parts[1])
	case 1:
		for _, schema := range r.schemas() {
			if r.mayCall(schema, parts[0]) {
				return schema, parts[0], true
			}
		}
		// The helpers come last, so that they take nothing's name.
		if catalog.IsHelper(parts[0]) {
			return catalog.HelperSchema, parts[0], true
		}
	}
	return "", "", false
}

func (r *resolver) mayCall(schema, name string) bool {
	switch schema {
	case "pg_catalog":
		return allowedFunctions[name] && !r.snapshot.Added().Functions[name]
	case "information_schema":
		return informationFunctions[name] && !r.snapshot.Added().Functions[name]
	case catalog.HelperSchema:
		return catalog.IsHelper(name)
	}
	if !r.snapshot.HasFunction(schema, name) {
		return false
	}
	if called := (catalog.Name{Schema: schema, Relation: name}).String(); !slices.Contains(r.calls, called) {
		r.calls = append(r.calls, called)
	}
	return true
}

// refuseFunction says that a function may not be called if it is PostgreSQL's own, and
// of all others that there is none: what the operator does not list is not there. In a
// view's definition they are.
func (r *resolver) refuseFunction(parts []string) *Refusal {
	name, called := parts[len(parts)-1], strings.Join(parts, ".")
	if (allowedFunctions[name] || informationFunctions[name]) && r.snapshot.Added().Functions[name] {
		return refuseAdded("function", called)
	}
	if (r.definition || isBuiltin(parts)) && !r.isWithdrawn(parts) {
		return refuse(FunctionDenied, "Only functions that compute from their arguments are allowed, and those that the operator lists.",
			"permission denied for function %s", called)
	}
	if r.isWithdrawn(parts) {
		return refuse(NotPublished, "It is not as it was when it was accepted; the operator has been told why.", "function %s cannot be called now", called)
	}
	hint := "No function of that name is PostgreSQL's own, and the operator lists none."
	if schema := r.snapshot.FunctionSchema(name); schema != "" {
		hint = "Write " + catalog.Name{Schema: schema, Relation: name}.SQL() + ", with its schema."
	}
	return refuse(UndefinedFunction, hint, "function %s does not exist", called)
}

// isWithdrawn says whether the operator lists the function, and it must not be called now.
func (r *resolver) isWithdrawn(parts []string) bool {
	switch len(parts) {
	case 1:
		return r.snapshot.IsWithdrawn("", parts[0])
	case 2:
		return r.snapshot.IsWithdrawn(parts[0], parts[1])
	}
	return false
}

// isBuiltin says of a function's name that PostgreSQL has such a function. New versions
// have more; those that show of the system begin with pg_ as a rule.
func isBuiltin(parts []string) bool {
	name := parts[len(parts)-1]
	switch {
	case len(parts) > 2:
		return true // names of databases
	case len(parts) == 2 && parts[0] != "pg_catalog":
		return parts[0] == "information_schema" && strings.HasPrefix(name, "_pg_")
	}
	return allowedFunctions[name] || builtinFunctions[name] || strings.HasPrefix(name, "pg_")
}

// valueFunction handles the parameterless words of SQL (CURRENT_DATE, USER, ...).
func (w *walker) valueFunction(node *pg.Node, f *pg.SQLValueFunction) error {
	switch f.GetOp() {
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA:
		return currentSchema(expression{w, node}, nil)
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG:
		return currentDatabase(expression{w, node}, nil)
	}
	return nil
}
