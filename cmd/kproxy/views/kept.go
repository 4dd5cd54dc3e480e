package views

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
)

// The store keeps what the views of a source in a database of its own are, in kproxy_store.source_view, for
// processes that follow, and for all while the source is away.

// keepViews keeps what the views are that clients may find, and forgets all others.
func keepViews(ctx context.Context, conn *pgx.Conn, found []catalog.View) error {
	kept, err := readKept(ctx, conn)
	if err != nil {
		return err
	}
	var schemas, relations, texts []string
	same := len(kept) == len(found)
	for _, v := range found {
		v.Definition, v.Unread = "", ""
		text, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("keeping what view %s is: %w", v.Name, err)
		}
		same = same && kept[v.Name] == string(text)
		schemas, relations, texts = append(schemas, v.Name.Schema), append(relations, v.Name.Relation), append(texts, string(text))
	}
	if same {
		return nil
	}
	_, err = conn.Exec(ctx, `WITH found AS (SELECT * FROM unnest($1::text[], $2::text[], $3::text[]) AS f(view_schema, view_name, described)),
		gone AS (DELETE FROM kproxy_store.source_view s WHERE NOT EXISTS (SELECT FROM found f WHERE (f.view_schema, f.view_name) = (s.view_schema, s.view_name)))
		INSERT INTO kproxy_store.source_view AS s (view_schema, view_name, described) SELECT * FROM found
		ON CONFLICT (view_schema, view_name) DO UPDATE SET described = excluded.described`, schemas, relations, texts)
	if err != nil {
		return fmt.Errorf("keeping what the source's views are: %w", err)
	}
	return nil
}

// readKept reads what is kept of views.
func readKept(ctx context.Context, on upstream.Querier) (map[catalog.Name]string, error) {
	rows, err := on.Query(ctx, "SELECT view_schema, view_name, described FROM kproxy_store.source_view")
	kept := make(map[catalog.Name]string)
	var name catalog.Name
	var text string
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{&name.Schema, &name.Relation, &text}, func() error {
			kept[name] = text
			return nil
		})
	}
	if slices.Contains([]string{upstream.UndefinedTable, upstream.UndefinedSchema}, upstream.SQLState(err)) {
		return nil, errViewStore
	}
	if err != nil {
		return nil, fmt.Errorf("reading what the source's views were: %w", err)
	}
	return kept, nil
}

// keptViews are the views that the policy lists, as the store has them, ordered by name.
func keptViews(ctx context.Context, on upstream.Querier, policy catalog.Policy) ([]catalog.View, error) {
	kept, err := readKept(ctx, on)
	if err != nil {
		return nil, err
	}
	var views []catalog.View
	for name, text := range kept {
		var v catalog.View
		if err := json.Unmarshal([]byte(text), &v); err != nil || v.Name != name || !slices.Contains(policy.Readable, name) {
			continue // of another version, or of another policy
		}
		v.Listed, v.Apart = true, true
		views = append(views, v)
	}
	slices.SortFunc(views, func(a, b catalog.View) int { return a.Name.Compare(b.Name) })
	return views, nil
}

// Kept are the views at a source in a database of its own that the configuration lists, as the store has them.
func Kept(ctx context.Context, conn *pgx.Conn, c *config.Config) ([]catalog.View, error) {
	if !c.IsApart() {
		return nil, nil
	}
	views, err := keptViews(ctx, conn, c.Policy)
	if errors.Is(err, errViewStore) {
		return nil, nil // the check says so
	}
	return views, err
}

// addKept adds what the store says of views that could not be looked at, as the source is away.
func (l *Look) addKept(ctx context.Context) error {
	stored, err := storedOutcomes(ctx, l.conn, l.config, l.found)
	if err != nil {
		return err
	}
	for of, outcome := range stored {
		if slices.ContainsFunc(l.found, func(v catalog.View) bool { return v.Name == of.view }) {
			l.outcomes[of] = outcome
		}
	}
	return nil
}
