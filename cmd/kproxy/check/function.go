package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/accept"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
)

// kindFunction is the kind of listed functions in the private store.
const kindFunction accept.Kind = "function"

// UnacceptedFunction is a listed function that is not what was accepted under its name.
type UnacceptedFunction struct {
	Function catalog.Name
	Changes  []string // in words

	now catalog.ListedFunction
}

// Finding returns what the operator is told.
func (u UnacceptedFunction) Finding() inspect.Finding {
	return inspect.Finding{
		Severity: inspect.Error, Code: inspect.CodeFunctionChanged, Table: u.Function,
		What: "it is not as it was accepted: " + strings.Join(u.Changes, "; "),
		Fix:  fmt.Sprintf("take the change back; or see whether analysts may call it as it is now, and run 'kproxy accept %s'", u.Function),
	}
}

// FindUnacceptedFunctions returns the functions of the policy that are not what was accepted, in its
// order. With first, it accepts functions that were never served as they are.
func FindUnacceptedFunctions(ctx context.Context, conn *pgx.Conn, policy catalog.Policy, first bool) ([]UnacceptedFunction, error) {
	listed, err := inspect.ListedFunctions(ctx, conn, policy)
	if err != nil {
		return nil, err
	}
	var found []UnacceptedFunction
	for _, name := range policy.Functions {
		now, exists := listed[name]
		if !exists {
			continue // which inspect.Check reports
		}
		var accepted catalog.ListedFunction
		known, err := accept.Load(ctx, conn, kindFunction, name, &accepted)
		if err == nil && !known && first {
			// Another process may have accepted it meanwhile, as it was then.
			err = accept.SaveFirst(ctx, conn, kindFunction, name, now)
			if err == nil {
				known, err = accept.Load(ctx, conn, kindFunction, name, &accepted)
			}
		}
		if err != nil {
			return nil, err
		}
		if !known {
			continue
		}
		if changes := accepted.Changes(name, now); len(changes) > 0 {
			found = append(found, UnacceptedFunction{Function: name, Changes: changes, now: now})
		}
	}
	return found, nil
}

// checkFunctions reports the listed functions that are not what was accepted.
func checkFunctions(ctx context.Context, conn *pgx.Conn, policy catalog.Policy) (report inspect.Report, err error) {
	found, err := FindUnacceptedFunctions(ctx, conn, policy, false)
	if upstream.MissingStore(err) {
		return nil, nil // the check says so
	}
	for _, u := range found {
		report = append(report, u.Finding())
	}
	return report, err
}

// AcceptFunctions records that the operator accepts the functions as they were shown.
func AcceptFunctions(ctx context.Context, on accept.Executor, functions []UnacceptedFunction) error {
	for _, u := range functions {
		if err := accept.Save(ctx, on, kindFunction, u.Function, u.now); err != nil {
			return err
		}
	}
	return nil
}
