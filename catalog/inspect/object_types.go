package inspect

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// objectTypes are those of the types of columns whose values are names of objects, or have
// such in them, by their numbers, each with the type in which readers get the values.
func objectTypes(ctx context.Context, conn *pgx.Conn, columns []uint32) (map[uint32]string, error) {
	type row struct {
		OID   uint32
		Shown string
	}
	rows, err := collect[row](ctx, conn, "object_types", columns)
	if err != nil {
		return nil, err
	}
	shown := make(map[uint32]string, len(rows))
	for _, r := range rows {
		shown[r.OID] = r.Shown
	}
	return shown, nil
}
