package views

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
)

// Where the protected tables are in a database of their own, the views over them are there, too. Their
// definitions are read at that source, and published in the database of the release over what is published
// of the tables. A definition is text of another server: it decides nothing that the rewriter does not allow.
// The store keeps what the views are (kept.go): processes that follow go by that, and all do while the source is away.

// sourceTimeout bounds how long a look waits for the source, in all less than a look may take: readable
// relations are looked at while the source does not answer, too.
const sourceTimeout = 4 * time.Second

// databases are the connections of a look. To a source in a database of its own there is none where it is
// away, or where every listed name is in the database of the release.
func (l *Look) databases(ctx context.Context) (upstream.Databases, error) {
	if !l.config.IsApart() {
		return upstream.Databases{Owner: l.conn, Source: l.conn}, nil
	}
	on := upstream.Databases{Owner: l.conn}
	if all, err := hasListed(ctx, l.conn, l.config.Policy); err != nil || all {
		return on, err
	}
	if l.source == nil || l.source.IsClosed() {
		ctx, cancel := context.WithTimeout(ctx, sourceTimeout)
		defer cancel()
		if l.source, l.away = upstream.ConnectSource(ctx, l.config); l.away != nil {
			l.source = nil
		}
	}
	on.Source = l.source
	return on, nil
}

// hasListed says whether the database has a relation of every name that the policy lists.
func hasListed(ctx context.Context, conn *pgx.Conn, policy catalog.Policy) (all bool, err error) {
	schemas, relations := make([]string, len(policy.Readable)), make([]string, len(policy.Readable))
	for i, name := range policy.Readable {
		schemas[i], relations[i] = name.Schema, name.Relation
	}
	err = conn.QueryRow(ctx, `SELECT pg_catalog.count(*) = pg_catalog.cardinality($1::text[]) FROM unnest($1::text[], $2::text[]) AS l(schema, relation)
		JOIN pg_catalog.pg_namespace n ON n.nspname = l.schema JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = l.relation`, schemas, relations).Scan(&all)
	if err != nil {
		err = fmt.Errorf("looking for the listed names: %w", err)
	}
	return all, err
}

// plan makes a planner, once more without the source where that ended the session or did not answer in time.
func (l *Look) plan(ctx context.Context) (*planner, []catalog.View, error) {
	on, err := l.databases(ctx)
	if err != nil {
		return nil, nil, err
	}
	p, found, err := newPlanner(ctx, on, l.config, l.rewritten, l.definitions)
	if err != nil && l.config.IsApart() && on.Source != nil && on.Source.IsClosed() && ctx.Err() == nil {
		l.source, l.away = nil, &upstream.SourceLostError{Err: err}
		p, found, err = newPlanner(ctx, upstream.Databases{Owner: l.conn}, l.config, l.rewritten, l.definitions)
	}
	if err == nil && p.apart && !p.away {
		err = keepViews(ctx, l.conn, found)
	}
	return p, found, err
}

// readApart reads the views over the protected tables of a source in a database of its own, or while that is
// away what the store has kept of them. It returns those that clients may find: the policy lists them, and the
// database of the release has nothing of their names.
func (p *planner) readApart(ctx context.Context, on upstream.Databases, policy catalog.Policy, last *inspect.Definitions) (found []catalog.View, err error) {
	var all []catalog.View
	if p.away {
		all, err = keptViews(ctx, on.Owner, policy)
	} else {
		ctx, cancel := context.WithTimeout(ctx, sourceTimeout)
		defer cancel()
		all, err = inspect.Views(ctx, on.Source, policy, last)
	}
	for _, v := range all {
		v.Apart = true
		if _, here := p.readables[v.Name]; v.Listed && !here {
			found = append(found, v)
		} else {
			p.others = append(p.others, v)
		}
	}
	return found, err
}

// readSourcesApart reads what the views' definitions name at the source, and what is published in its place.
func (p *planner) readSourcesApart(ctx context.Context, on upstream.Databases, names []catalog.Name) error {
	published, named := make([]catalog.Name, 0, len(names)), make([]catalog.Name, 0, len(names))
	for _, name := range names {
		if catalog.IsOwn(name.Schema) {
			published = append(published, name)
		} else {
			named = append(named, name)
		}
	}
	here, err := inspect.ViewSources(ctx, on.Owner, p.reader, published)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sourceTimeout)
	defer cancel()
	p.sources, err = inspect.ViewSources(ctx, on.Source, on.Source.Config().User, named)
	maps.Copy(p.sources, here)
	return err
}

// notMirrored is why a view cannot read a relation of the source, whatever has its name in the database of the
// release.
func notMirrored(name catalog.Name) *unreadable {
	return &unreadable{
		what: "it reads " + name.String() + ", which is at the source and neither protected nor mirrored",
		fix:  "list " + name.String() + " under mirrored with the columns that analysts may have, if it is a table, and run 'kproxy setup'; or take the view off readable",
	}
}

// ofRelease is the policy as far as it speaks of relations that are in the database of the release.
func ofRelease(c *config.Config) catalog.Policy {
	policy := c.Policy
	if c.IsApart() {
		policy.Tables = nil
	}
	return policy
}
