package inspect

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Audit is the part of [Check] that asks whether a session of a reader role could reach a raw
// row, alone.
func Audit(ctx context.Context, conn *pgx.Conn, in CheckInput) (report Report, err error) {
	return Reach(ctx, conn, in)
}
