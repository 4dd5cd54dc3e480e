package provision

import (
	"bytes"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// BeforeUpgrade is SQL that drops the stand-ins for the system catalogs, and nothing else. pg_upgrade
// cannot restore them in a major version whose catalogs lack one of their columns. [Apply] makes them
// anew; until then, readers' statements over the catalogs fail.
func BeforeUpgrade() (string, error) {
	var sql bytes.Buffer
	data := scriptData{CatalogSchema: catalog.CatalogSchema, ClassesPrefix: catalog.ClassesPrefix}
	if err := templates.ExecuteTemplate(&sql, "dropstandins.sql", data); err != nil {
		return "", fmt.Errorf("writing the script: %w", err)
	}
	return sql.String(), nil
}

// PrepareUpgrade runs [BeforeUpgrade] on a connection of the owner of kproxy's schemas.
func PrepareUpgrade(ctx context.Context, conn *pgx.Conn) error {
	sql, err := BeforeUpgrade()
	if err != nil {
		return err
	}
	if _, err := conn.PgConn().Exec(ctx, "SET lock_timeout = '10s'; "+sql).ReadAll(); err != nil {
		return fmt.Errorf("dropping the stand-ins: %w", hinted(err))
	}
	return nil
}
