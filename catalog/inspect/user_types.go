package inspect

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// userTypes are the types of users that values of columns' types are of, or consist of, by the
// numbers of those.
func userTypes(ctx context.Context, conn *pgx.Conn, columns []uint32) (map[uint32][]catalog.UserType, error) {
	type row struct {
		OID   uint32
		Types string // JSON
	}
	rows, err := collect[row](ctx, conn, "user_types", columns)
	if err != nil {
		return nil, err
	}
	of := make(map[uint32][]catalog.UserType, len(rows))
	for _, r := range rows {
		var types []catalog.UserType
		if err := json.Unmarshal([]byte(r.Types), &types); err != nil {
			return nil, fmt.Errorf("reading the types of columns: %w", err)
		}
		of[r.OID] = types
	}
	return of, nil
}
