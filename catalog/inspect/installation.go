package inspect

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// CodeOtherConfiguration is the code of a store that is another configuration's. What else could be
// found then would be that one's, and mended at its expense.
const CodeOtherConfiguration = "other-configuration"

type installationRow struct {
	Place, Slot, Publication string
	Apart                    bool // it has no table of this configuration
	Own                      bool // it was set up from the same place, or has the same policy in force
}

// Installation reports that the store in the database of the release is another configuration's. It says
// nothing where there is none, or one of an earlier version.
func Installation(ctx context.Context, conn *pgx.Conn, in CheckInput) (report Report, err error) {
	err = reading(ctx, conn, func() error {
		report, err = installation(ctx, conn, in)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("looking whose the private store is: %w", err)
	}
	return report, nil
}

func installation(ctx context.Context, conn *pgx.Conn, in CheckInput) (report Report, err error) {
	var owner, database *string
	var noted bool
	err = conn.QueryRow(ctx, `SELECT (SELECT pg_get_userbyid(nspowner)::text FROM pg_namespace WHERE nspname = $1), current_database()::text,
		EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'installation')`, catalog.StoreSchema).
		Scan(&owner, &database, &noted)
	if err != nil || owner == nil {
		return nil, err
	}
	what := fmt.Sprintf("database %s has the store of another configuration", *database)
	if *owner != in.Owner {
		report.add(Error, CodeOtherConfiguration, none, fmt.Sprintf("%s, whose owner is role %s", what, *owner), catalog.Beside)
		return report, nil
	}
	if !noted {
		return nil, nil
	}
	schemas, names := split(in.protected())
	rows, err := collect[installationRow](ctx, conn, "installation", in.Place, in.Fingerprint, schemas, names)
	if err != nil || len(rows) == 0 || rows[0].Own {
		return nil, err
	}
	differs := ""
	switch is := rows[0]; {
	case is.Slot != in.Slot:
		differs = fmt.Sprintf("has replication slot %s, not %s", is.Slot, in.Slot)
	case is.Publication != in.Publication:
		differs = fmt.Sprintf("has publication %s, not %s", is.Publication, in.Publication)
	case is.Apart:
		differs = "has no table of this one"
	default:
		return nil, nil
	}
	report.add(Error, CodeOtherConfiguration, none, fmt.Sprintf("%s: that one was set up from %s, and %s", what, rows[0].Place, differs), catalog.Beside)
	return report, nil
}
