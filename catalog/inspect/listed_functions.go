package inspect

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// CodeFunctionChanged is about a listed function that is not what was accepted.
const CodeFunctionChanged = "function-changed"

type listedFunctionRow struct{ Schema, Name, Arguments, Digest string }

// ListedFunctions are the functions that the policy lists, as they are now; what does not exist is
// left out.
func ListedFunctions(ctx context.Context, conn *pgx.Conn, policy catalog.Policy) (map[catalog.Name]catalog.ListedFunction, error) {
	found := make(map[catalog.Name]catalog.ListedFunction)
	if len(policy.Functions) == 0 {
		return found, nil
	}
	schemas, names := split(policy.Functions)
	err := reading(ctx, conn, func() error {
		rows, err := collect[listedFunctionRow](ctx, conn, "listed_functions", schemas, names)
		for _, row := range rows {
			name := catalog.Name{Schema: row.Schema, Relation: row.Name}
			if found[name] == nil {
				found[name] = make(catalog.ListedFunction)
			}
			found[name][row.Arguments] = row.Digest
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the listed functions: %w", err)
	}
	return found, nil
}
