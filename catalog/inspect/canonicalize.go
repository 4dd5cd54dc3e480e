package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
)

// canonicalizer replaces the values in one table's policy by the texts that the server
// writes for them. It needs a connection within reading, which pins the form of values.
type canonicalizer struct {
	ctx      context.Context
	conn     *pgx.Conn
	table    catalog.Name
	problems []catalog.Problem
}

// canonicalize returns the policy in the server's texts, or unchanged where there are
// problems.
func (c *canonicalizer) canonicalize(policy catalog.TablePolicy, relation catalog.Relation) (catalog.TablePolicy, error) {
	canonical := copied(policy)
	var unread []namedValues
	for _, list := range namedIn(canonical, relation) {
		switch {
		case list.column.Enum:
			if err := c.checkLabels(list); err != nil {
				return policy, err
			}
		case list.readable():
			unread = append(unread, c.withoutMoving(list))
		}
	}
	written := make([][]string, len(unread))
	for i, list := range unread {
		written[i] = list.current()
	}
	if err := c.read(unread); err != nil {
		return policy, err
	}
	for i, list := range unread {
		c.checkDistinct(list, written[i])
	}
	if len(c.problems) > 0 {
		return policy, nil
	}
	return canonical, nil
}

func (n namedValues) current() []string {
	texts := make([]string, len(n.texts))
	for i, text := range n.texts {
		texts[i] = *text
	}
	return texts
}

func (c *canonicalizer) problem(list namedValues, text, what, fix string) {
	c.problems = append(c.problems, catalog.Problem{
		Table: c.table, Column: list.column.Name,
		What: fmt.Sprintf("%s names %s, %s", list.by, catalog.QuoteLiteral(text), what), Fix: fix,
	})
}

// mostLabels bounds how many labels or values one message names.
const mostLabels = 20

// named lists texts for a message.
func named(texts []string) string {
	if len(texts) > mostLabels {
		return fmt.Sprintf("%s and %d more", strings.Join(texts[:mostLabels], ", "), len(texts)-mostLabels)
	}
	return strings.Join(texts, ", ")
}

type labelRow struct{ Label string }

// checkLabels requires values of an enumeration to be its labels, as the policy writes
// them. It looks the labels up, since a cast to the type needs a privilege on the type's
// schema.
func (c *canonicalizer) checkLabels(list namedValues) error {
	rows, err := collect[labelRow](c.ctx, c.conn, "labels", list.column.BaseType)
	if err != nil {
		return err
	}
	labels := make([]string, len(rows))
	for i, row := range rows {
		labels[i] = row.Label
	}
	for _, text := range list.texts {
		if slices.Contains(labels, *text) {
			continue
		}
		c.problem(list, *text, fmt.Sprintf("which is no value of type %s: its labels are %s", list.column.Type, named(labels)),
			"write one of the labels, in its spelling")
	}
	return nil
}

// movingWords are input of dates and times that means another value each day.
var movingWords = []string{"now", "today", "tomorrow", "yesterday"}

// withoutMoving removes values that change with the day, and reports each as a problem.
func (c *canonicalizer) withoutMoving(list namedValues) namedValues {
	if !slices.Contains([]string{"date", "timestamp", "timestamptz"}, list.column.BaseType) {
		return list
	}
	list.texts = slices.DeleteFunc(list.texts, func(text *string) bool {
		moves := slices.ContainsFunc(movingWords, func(word string) bool { return strings.Contains(strings.ToLower(*text), word) })
		if moves {
			c.problem(list, *text, "which is another value every day", advice(list.column))
		}
		return moves
	})
	return list
}

// readRow is one value as the server writes it.
type readRow struct {
	List, Place int
	Text        string
	// Exact is false where the column's length, precision or scale makes another
	// value of it.
	Exact bool
}

// read replaces texts by the server's, in one query if the server accepts all. It halves a list
// with a refused value until that value is alone.
func (c *canonicalizer) read(lists []namedValues) error {
	if len(lists) == 0 || len(lists) == 1 && len(lists[0].texts) == 0 {
		return nil
	}
	rows, err := c.ask(lists)
	refused := (*pgconn.PgError)(nil)
	switch {
	case err == nil:
		for _, row := range rows {
			c.take(lists[row.List], row)
		}
		return nil
	case !errors.As(err, &refused) || !strings.HasPrefix(refused.Code, dataException):
		return err
	case len(lists) > 1:
		half := len(lists) / 2
		return errors.Join(c.read(lists[:half]), c.read(lists[half:]))
	}
	list := lists[0]
	if len(list.texts) == 1 {
		c.problem(list, *list.texts[0], fmt.Sprintf("which is no value of type %s: %s", list.column.Type, refused.Message), advice(list.column))
		return nil
	}
	first, second := list, list
	half := len(list.texts) / 2
	first.texts, second.texts = list.texts[:half], list.texts[half:]
	return errors.Join(c.read([]namedValues{first}), c.read([]namedValues{second}))
}

// dataException is the class of the errors for values that a type refuses
// (PostgreSQL, appendix "PostgreSQL Error Codes").
const dataException = "22"

// ask has the server read and write all values.
func (c *canonicalizer) ask(lists []namedValues) (rows []readRow, err error) {
	var selects []string
	var arguments []any
	for i, list := range lists {
		exact := "true"
		if format := list.column.BaseFormat; strings.Contains(format, "(") {
			exact = fmt.Sprintf("v::%s IS NOT DISTINCT FROM v::%s", format, unmodified(list.column))
		}
		// The type's output function: casts of boolean and of char(n) to text give
		// another text than replication does.
		selects = append(selects, fmt.Sprintf("SELECT %d AS list, n::int - 1 AS place, format('%%s', v::%s) AS text, %s AS exact"+
			" FROM unnest($%d::text[]) WITH ORDINALITY AS u(v, n)", i, list.column.BaseFormat, exact, i+1))
		arguments = append(arguments, list.current())
	}
	err = reading(c.ctx, c.conn, func() error {
		found, err := c.conn.Query(c.ctx, strings.Join(selects, " UNION ALL "), arguments...)
		if err != nil {
			return fmt.Errorf("reading them as the columns' types: %w", err)
		}
		if rows, err = pgx.CollectRows(found, pgx.RowToStructByName[readRow]); err != nil {
			return fmt.Errorf("reading them as the columns' types: %w", err)
		}
		return nil
	})
	return rows, err
}

// unmodified is the column's type, one of PostgreSQL's own, without length,
// precision and scale.
func unmodified(column catalog.Column) string {
	return "pg_catalog." + catalog.QuoteIdentifier(column.BaseType)
}

func (c *canonicalizer) take(list namedValues, row readRow) {
	text := list.texts[row.Place]
	if !row.Exact {
		c.problem(list, *text, fmt.Sprintf("which no column of type %s holds: it would be cut to %s", list.column.Type, catalog.QuoteLiteral(row.Text)),
			"write a value that the column can hold")
		return
	}
	*text = row.Text
}

// checkDistinct requires values to differ to the server as well.
func (c *canonicalizer) checkDistinct(list namedValues, written []string) {
	first := map[string]string{}
	for i, text := range list.texts {
		if other, seen := first[*text]; seen && other != written[i] {
			c.problem(list, written[i], fmt.Sprintf("which is the same value of type %s as %s", list.column.Type, catalog.QuoteLiteral(other)),
				"leave one of them out")
			continue
		}
		first[*text] = written[i]
	}
}

var examples = map[string]string{
	"bool": "true or false", "int2": "5", "int4": "5", "int8": "5", "numeric": "5.25", "float4": "5.25", "float8": "5.25",
	"date": "2024-01-31", "timestamp": "2024-01-31 12:00:00", "timestamptz": "2024-01-31 12:00:00+00",
	"uuid": "123e4567-e89b-12d3-a456-426614174000",
}

// advice tells how to write values of the column's type.
func advice(column catalog.Column) string {
	if example, known := examples[column.BaseType]; known {
		return "write a value of the type, such as " + example
	}
	return "write a value as SELECT '...'::" + column.BaseFormat + " takes it"
}
