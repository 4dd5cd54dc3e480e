package inspect

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// CodeOtherConfiguration is the code of a store that is another configuration's. What else could be
// found then would be that one's, and mended at its expense.
const CodeOtherConfiguration = "other-configuration"

// CodeOtherPlace is the code of a store that was set up from another place with more than the configuration has,
// so that it cannot be set up from here.
const CodeOtherPlace = "other-place"

// Installation reports, as an error, that the store in the database of the release is another configuration's, by the
// rule of set-up, and, as a warning, that it was set up from another place with what this configuration lacks. It says
// nothing where there is none.
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
	var isNoted, hasPolicy bool
	var tables []string
	schemas, names := split(in.protected())
	err = conn.QueryRow(ctx, query("installation"), catalog.StoreSchema, schemas, names).Scan(&owner, &database, &isNoted, &hasPolicy, &tables)
	if err != nil || owner == nil {
		return nil, err
	}
	what := fmt.Sprintf("database %s has the store of another configuration", *database)
	if *owner != in.Owner {
		report.add(Error, CodeOtherConfiguration, none, fmt.Sprintf("%s, whose owner is role %s", what, *owner), catalog.Beside)
		return report, nil
	}
	if !hasPolicy {
		return nil, nil
	}
	kept := catalog.InstallationShown
	if isNoted {
		kept = catalog.InstallationNoted
	}
	var place string
	var differs, lacking *string
	err = conn.QueryRow(ctx, "WITH kept AS ("+kept+") "+catalog.InstallationElsewhere, in.Place, in.Fingerprint, in.Slot, in.Publication, tables, append([]string{in.Reader}, in.Readers...)).
		Scan(&place, &differs, &lacking)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, err
	case differs != nil:
		report.add(Error, CodeOtherConfiguration, none, fmt.Sprintf("%s: that one was set up from %s, and %s", what, place, *differs), catalog.Beside)
	case lacking != nil:
		report.add(Warning, CodeOtherPlace, none, fmt.Sprintf("kproxy setup is refused: database %s was set up from %s, and this configuration, from %s, lacks its %s", *database, place, in.Place, *lacking), catalog.InForceFirst+"; or "+catalog.Beside)
	}
	return report, nil
}
