package views

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
)

// storedView is a row of kproxy_store.view.
type storedView struct {
	digest, problem string
	// made says that a published view exists, not that of a table. alive says that it is the one
	// that was created, and that the reader may read it.
	made, alive bool
	omitted     int // columns of the definition that are not published
	// accepted is what the operator has accepted, nil before that.
	accepted *catalog.Identity
}

// isDoubted reports whether it is a materialized view that may hold what was not accepted.
func (s storedView) isDoubted() bool { return s.accepted != nil && s.accepted.Doubted }

// settled reports whether the plan is carried out already.
func (s storedView) settled(plan viewPlan) bool {
	if s.digest != plan.digest {
		return false
	}
	if plan.problem != "" || s.problem != "" {
		return !s.made
	}
	return s.alive
}

// refused reports whether the database refused the plan. An empty digest stands for a refusal that
// is tried again each time.
func (s storedView) refused(plan viewPlan) bool {
	return s.problem != "" && (s.digest == plan.digest || s.digest == "")
}

// errViewStore says that setup has to be run again.
var errViewStore = errors.New("the private store was made by an earlier version, which did not keep what was accepted of readable relations and views: run 'kproxy setup', which keeps what is there")

// storedSQL reads what has been made for the reader role $1, whose release schemas begin
// with $2.
const storedSQL = `SELECT s.view_schema, s.view_name, s.digest, coalesce(s.problem, ''), s.omitted, coalesce(s.accepted, ''), c.oid IS NOT NULL,
	coalesce(c.oid = s.made AND pg_catalog.has_table_privilege(r.oid, c.oid, 'SELECT'), false)
	FROM kproxy_store.view s
	LEFT JOIN pg_catalog.pg_roles r ON r.rolname = $1
	LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = $2 || s.view_schema
	LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = s.view_name
		AND NOT EXISTS (SELECT FROM kproxy_store.generation g WHERE g.table_schema = s.view_schema AND g.table_name = s.view_name AND g.generation > 0)`

// storedForSQL reads the same for the audience $3; what was accepted is known without it.
var storedForSQL = strings.NewReplacer("kproxy_store.view s", "(SELECT * FROM kproxy_store.audience_view WHERE audience = $3) s", "coalesce(s.accepted, '')", "''").Replace(storedSQL)

// storedViews reads what has been made for an audience, or for the policy's own readers, and their role.
func storedViews(ctx context.Context, on upstream.Querier, audience, reader string) (map[catalog.Name]storedView, error) {
	if audience != "" {
		return readStoredViews(ctx, on, storedForSQL, reader, catalog.ReleaseSchemaFor(audience, ""), audience)
	}
	return readStoredViews(ctx, on, storedSQL, reader, catalog.ReleaseSchema(""))
}

// readStoredView reads the row of one view, if there is one.
func readStoredView(ctx context.Context, on upstream.Querier, audience, reader string, name catalog.Name) (s storedView, known bool, err error) {
	if audience != "" {
		stored, err := storedViews(ctx, on, audience, reader)
		s, known = stored[name]
		return s, known, err
	}
	stored, err := readStoredViews(ctx, on, storedSQL+" WHERE s.view_schema = $3 AND s.view_name = $4", reader, catalog.ReleaseSchema(""), name.Schema, name.Relation)
	s, known = stored[name]
	return s, known, err
}

func readStoredViews(ctx context.Context, on upstream.Querier, sql string, arguments ...any) (map[catalog.Name]storedView, error) {
	rows, err := on.Query(ctx, sql, arguments...)
	if err != nil {
		return nil, fmt.Errorf("reading the published views: %w", err)
	}
	stored := make(map[catalog.Name]storedView)
	var name catalog.Name
	var s storedView
	var accepted string
	_, err = pgx.ForEachRow(rows, []any{&name.Schema, &name.Relation, &s.digest, &s.problem, &s.omitted, &accepted, &s.made, &s.alive}, func() error {
		s.accepted = nil
		if accepted != "" {
			identity, err := catalog.ParseIdentity(accepted)
			if err != nil {
				return err
			}
			s.accepted = &identity
		}
		stored[name] = s
		return nil
	})
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && slices.Contains([]string{upstream.UndefinedTable, upstream.UndefinedSchema, upstream.UndefinedColumn}, refused.Code) {
		return nil, errViewStore
	}
	if err != nil {
		return nil, fmt.Errorf("reading the published views: %w", err)
	}
	return stored, nil
}

// isTable reports whether a table of that name has a release.
func isTable(ctx context.Context, tx pgx.Tx, name catalog.Name) (is bool, err error) {
	err = tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM kproxy_store.generation WHERE table_schema = $1 AND table_name = $2 AND generation > 0)", name.Schema, name.Relation).Scan(&is)
	if err != nil {
		return false, fmt.Errorf("looking for a table of the name of view %s: %w", name, err)
	}
	return is, nil
}

// record stores what was made of a view, or the problem. What was accepted first stays accepted,
// except for new parts, and for doubts about what a materialized view holds.
func record(ctx context.Context, tx pgx.Tx, audience string, plan viewPlan) error {
	name := plan.view.Name
	if audience != "" {
		_, err := tx.Exec(ctx, `INSERT INTO kproxy_store.audience_view (audience, view_schema, view_name, made, digest, problem, omitted)
			VALUES ($1, $2, $3, CASE WHEN $6 = '' THEN pg_catalog.to_regclass($4)::oid END, $5, nullif($6, ''), $7)
			ON CONFLICT (audience, view_schema, view_name) DO UPDATE SET made = excluded.made, digest = excluded.digest, problem = excluded.problem, omitted = excluded.omitted`,
			audience, name.Schema, name.Relation, catalog.PublishedFor(audience, name).SQL(), plan.digest, plan.problem, len(plan.published.Omitted))
		return err
	}
	_, err := tx.Exec(ctx, `INSERT INTO kproxy_store.view AS s (view_schema, view_name, made, digest, problem, omitted, accepted)
		VALUES ($1, $2, CASE WHEN $5 = '' THEN pg_catalog.to_regclass($3)::oid END, $4, nullif($5, ''), $6, CASE WHEN $5 = '' OR $9 THEN $7 END)
		ON CONFLICT (view_schema, view_name) DO UPDATE SET made = excluded.made, digest = excluded.digest, problem = excluded.problem, omitted = excluded.omitted,
			accepted = CASE WHEN s.accepted IS NULL OR s.accepted = $8 THEN coalesce(excluded.accepted, s.accepted) ELSE s.accepted END`,
		name.Schema, name.Relation, catalog.Published(name).SQL(), plan.digest, plan.problem, len(plan.published.Omitted), plan.accepted.String(), plan.was, plan.accepted.Doubted)
	return err
}

// forget removes the row of a view. If its name is still listed, it keeps what was accepted, since
// another relation may take the name; and it keeps a doubt, since the name may be listed again.
func forget(ctx context.Context, tx pgx.Tx, audience string, name catalog.Name, listed, doubted bool) error {
	if audience != "" {
		_, err := tx.Exec(ctx, "DELETE FROM kproxy_store.audience_view WHERE audience = $1 AND view_schema = $2 AND view_name = $3", audience, name.Schema, name.Relation)
		return err
	}
	if listed || doubted {
		_, err := tx.Exec(ctx, "UPDATE kproxy_store.view SET made = NULL, digest = '', problem = NULL WHERE view_schema = $1 AND view_name = $2", name.Schema, name.Relation)
		return err
	}
	_, err := tx.Exec(ctx, "DELETE FROM kproxy_store.view WHERE view_schema = $1 AND view_name = $2", name.Schema, name.Relation)
	return err
}

// Listed is what was made of a readable relation, or a listed view over protected tables.
type Listed struct {
	Name    catalog.Name
	Problem string // why it cannot be read; empty if nothing is wrong
	Omitted int    // columns of a view's definition that are not published
	Alive   bool   // it is published, and readers may read it
	StandIn bool   // it is a readable relation
	// Audiences are the same view as audiences see it, those with readers in the policy's order. Of a readable relation, which all
	// readers see alike, there are none.
	Audiences []ListedFor
}

// ListedFor is what was made of a view for an audience.
type ListedFor struct {
	Audience string
	Problem  string
	Omitted  int
	Alive    bool
}

// ReadListed reads what was made of the listed relations, in the configuration's order. Those
// that kproxy has not looked at yet are left out. There are none in a store that an earlier
// version made.
func ReadListed(ctx context.Context, on upstream.Querier, policy catalog.Policy, reader string) ([]Listed, error) {
	var exists bool
	if err := on.QueryRow(ctx, "SELECT pg_catalog.to_regclass('kproxy_store.view') IS NOT NULL").Scan(&exists); err != nil {
		return nil, fmt.Errorf("looking for the published views: %w", err)
	}
	if !exists {
		return nil, nil
	}
	stored, err := storedViews(ctx, on, "", reader)
	if err != nil {
		return nil, err
	}
	var listed []Listed
	for _, name := range policy.Readable {
		if s, known := stored[name]; known {
			listed = append(listed, Listed{
				Name: name, Problem: s.problem, Omitted: s.omitted, Alive: s.alive,
				StandIn: s.accepted != nil && !s.accepted.OverProtected,
			})
		}
	}
	return listed, addAudiences(ctx, on, policy, listed)
}

// addAudiences adds what was made for audiences, of which a store of an earlier version knows nothing.
func addAudiences(ctx context.Context, on upstream.Querier, policy catalog.Policy, listed []Listed) error {
	var exists bool
	if err := on.QueryRow(ctx, "SELECT pg_catalog.to_regclass('kproxy_store.audience_view') IS NOT NULL").Scan(&exists); err != nil || !exists {
		return err
	}
	for _, a := range withRoles(policy.Audiences) {
		stored, err := storedViews(ctx, on, a.Name, a.Roles[0])
		if err != nil {
			return err
		}
		for i := range listed {
			if s, known := stored[listed[i].Name]; known {
				listed[i].Audiences = append(listed[i].Audiences, ListedFor{Audience: a.Name, Problem: s.problem, Omitted: s.omitted, Alive: s.alive})
			}
		}
	}
	return nil
}
