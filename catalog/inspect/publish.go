package inspect

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// Publish derives the published shapes of the policy's tables that are among the
// relations, which must be those of [Relations] in the same database. It is
// [catalog.Publish] of the policy in the server's words: each value that the policy
// names for a column is first brought to the text that the server gives it, since
// replication, generalization and verification tell values apart by their texts.
// Where a text depends on settings, dates are read and written as ISO 8601, and
// times without a zone as UTC. Types that extensions and users define, other than
// enumerations, are left as the policy writes them.
//
// The publications are those of the tables without a problem, in the policy's
// order. The policy itself is not changed.
func Publish(ctx context.Context, conn *pgx.Conn, policy catalog.Policy, relations []catalog.Relation) (
	publications []catalog.Publication, problems []catalog.Problem, err error,
) {
	err = reading(ctx, conn, func() error {
		// The form that package sync pins for replication.
		const form = "SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL IntervalStyle = 'postgres'; SET LOCAL TimeZone = 'UTC'; " +
			"SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = 'hex'"
		if _, err := conn.PgConn().Exec(ctx, form).ReadAll(); err != nil {
			return fmt.Errorf("pinning the form of values: %w", err)
		}
		shapes, err := readShapes(ctx, conn, policy, relations)
		if err != nil {
			return err
		}
		for _, t := range policy.Tables {
			if _, exists := shapes.relations[t.Table]; !exists {
				continue
			}
			publication, found := shapes.publish(t.Table)
			if len(found) == 0 {
				publications = append(publications, publication)
			}
			problems = append(problems, found...)
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("comparing the policy with the tables: %w", err)
	}
	return publications, problems, nil
}

// shapes are the policies of tables in the server's words, and what is published of those
// that are released together.
type shapes struct {
	policies  map[catalog.Name]catalog.TablePolicy
	relations map[catalog.Name]catalog.Relation
	problems  map[catalog.Name][]catalog.Problem
	members   map[catalog.Name]catalog.Publication
}

func readShapes(ctx context.Context, conn *pgx.Conn, policy catalog.Policy, relations []catalog.Relation) (*shapes, error) {
	s := &shapes{
		policies: make(map[catalog.Name]catalog.TablePolicy), relations: make(map[catalog.Name]catalog.Relation),
		problems: make(map[catalog.Name][]catalog.Problem), members: make(map[catalog.Name]catalog.Publication),
	}
	for _, t := range policy.Tables {
		i := slices.IndexFunc(relations, func(r catalog.Relation) bool { return r.Name == t.Table })
		if i < 0 {
			continue
		}
		c := canonicalizer{ctx: ctx, conn: conn, table: t.Table}
		canonical, err := c.canonicalize(t, relations[i])
		if err != nil {
			return nil, fmt.Errorf("the values that the policy of %s names: %w", t.Table, err)
		}
		s.policies[t.Table], s.relations[t.Table], s.problems[t.Table] = canonical, relations[i], c.problems
	}
	for _, p := range policy.People {
		s.join(p)
	}
	return s, nil
}

// join publishes the tables of one kind of person.
func (s *shapes) join(p catalog.People) {
	p.Constraints = slices.Clone(p.Constraints)
	for i, constraint := range p.Constraints {
		table, column, qualified := catalog.ParseQualifiedColumn(constraint.Of)
		if !qualified {
			continue
		}
		// Those of a table are in the order of all: see People.Member.
		place := 0
		for _, earlier := range p.Constraints[:i] {
			if of, _, qualified := catalog.ParseQualifiedColumn(earlier.Of); !qualified || of == table {
				place++
			}
		}
		if own := s.policies[table].Constraints; place < len(own) && own[place].Of == column && own[place].Model == constraint.Model {
			p.Constraints[i].Values = own[place].Values
		}
	}
	joined, problems := catalog.PublishPeople(p, s.policies, s.relations)
	for _, publication := range append(joined.Tables, joined.Root) {
		s.members[publication.Policy.Table] = publication
	}
	for _, problem := range problems {
		s.problems[problem.Table] = append(s.problems[problem.Table], problem)
	}
}

func (s *shapes) publish(table catalog.Name) (catalog.Publication, []catalog.Problem) {
	if publication, member := s.members[table]; member {
		return publication, s.problems[table]
	}
	publication, problems := catalog.Publish(s.policies[table], s.relations[table])
	return publication, append(s.problems[table], problems...)
}
