package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// CodePublishedKey is a column that is published as it is, and by which rows can be told
// apart, or joined with those of another table about the same people.
const CodePublishedKey = "published-key"

// keyRow is a key of a protected table: a unique index, a foreign key, or one of another
// relation that refers to it.
type keyRow struct {
	Kind     string
	Relation uint32
	Other    uint32
	Columns  []string
	Schema   string
	Name     string
}

// PublishedKeys reports the columns that the policy publishes as they are although they
// are a key, unless it acknowledges them: whoever knows something of a person in one
// table finds the person's rows in another by them, whatever k is.
func PublishedKeys(ctx context.Context, conn *pgx.Conn, policy catalog.Policy, relations []catalog.Relation) (Report, error) {
	j, keys, err := readKeys(ctx, conn, policy, relations)
	for _, k := range keys {
		j.judge(k, keys)
	}
	return j.report, err
}

func readKeys(ctx context.Context, conn *pgx.Conn, policy catalog.Policy, relations []catalog.Relation) (joinable, []keyRow, error) {
	// Mirrored tables are served as they are, as readable relations are.
	policy.Readable = slices.Concat(policy.Readable, policy.Mirrored())
	policy = policy.Protecting()
	j := joinable{policy: policy, protected: make(map[uint32]catalog.TablePolicy), told: make(map[string]bool)}
	var numbers []uint32
	for _, r := range relations {
		i := slices.IndexFunc(policy.Tables, func(t catalog.TablePolicy) bool { return t.Table == r.Name })
		if i >= 0 {
			j.protected[uint32(r.OID)] = policy.Tables[i]
			numbers = append(numbers, uint32(r.OID))
		}
	}
	keys, err := collect[keyRow](ctx, conn, "joinable", numbers)
	return j, keys, err
}

type joinable struct {
	policy    catalog.Policy
	protected map[uint32]catalog.TablePolicy // by the relation's number
	told      map[string]bool
	report    Report
}

// judge reports the published columns of one key.
func (j *joinable) judge(k keyRow, all []keyRow) {
	policy, other := j.protected[k.Relation], catalog.Name{Schema: k.Schema, Relation: k.Name}
	_, otherProtected := j.protected[k.Other]
	switch {
	case k.Kind == "u":
		// A part of a unique key repeats by itself; all of it together does not.
		if !slices.ContainsFunc(k.Columns, func(c string) bool { return !publishedRaw(policy, c) }) {
			j.tell(policy, k.Columns, "is unique in the table, so that it tells each record from all others")
		}
	case k.Kind == "f" && otherProtected:
		j.tell(policy, k.Columns, fmt.Sprintf("refers to %s, which is protected, too: rows of both can be joined by it", other))
	case k.Kind == "r" && otherProtected:
		j.tell(policy, k.Columns, fmt.Sprintf("is what %s refers to, which is protected, too: rows of both can be joined by it", other))
	case k.Kind == "f" && !slices.Contains(j.policy.Readable, other):
		j.judgeShared(k, other, policy, all)
	}
}

// judgeShared reports a reference to a relation that readers do not see and that another
// protected table refers to by published columns: what both refer to is the same.
func (j *joinable) judgeShared(k keyRow, other catalog.Name, policy catalog.TablePolicy, all []keyRow) {
	for _, sibling := range all {
		theirs := j.protected[sibling.Relation]
		if sibling.Kind == "f" && sibling.Other == k.Other && sibling.Relation != k.Relation &&
			slices.ContainsFunc(sibling.Columns, func(c string) bool { return publishedRaw(theirs, c) }) {
			j.tell(policy, k.Columns, fmt.Sprintf("refers to %s, as a published column of %s does: rows of both can be joined by it", other, theirs.Table))
			return
		}
	}
}

// tell reports those of the columns that are published and not acknowledged, once each.
func (j *joinable) tell(policy catalog.TablePolicy, columns []string, what string) {
	if len(columns) > 1 {
		what = "with " + strings.Join(columns, ", ") + " " + what
	}
	for _, c := range columns {
		if !publishedRaw(policy, c) || slices.Contains(policy.Joinable, c) || j.told[policy.Table.SQL()+"."+c] {
			continue
		}
		j.told[policy.Table.SQL()+"."+c] = true
		j.report = append(j.report, Finding{
			Severity: Error, Code: CodePublishedKey, Table: policy.Table, Column: c,
			What: "is published and " + what + "; k does not bound what that tells of a person",
			Fix:  fmt.Sprintf("give it the role identifying; or, if everybody may know, write into the table's policy: acknowledge: {joinable: [%s]}", c),
		})
	}
}

// publishedRaw says that a column is published as it is in the source.
func publishedRaw(policy catalog.TablePolicy, column string) bool {
	c, named := policy.Column(column)
	return named && (c.Role == catalog.Sensitive || c.Role == catalog.Insensitive)
}

// codeReadableReference is a readable relation that refers to a protected table.
const codeReadableReference = "readable-reference"

// checkKeys reports published keys, and readable relations that refer to protected tables.
func (c *checker) checkKeys() error {
	j, keys, err := readKeys(c.ctx, c.conn, c.in.Policy, c.relations)
	for _, k := range keys {
		j.judge(k, keys)
		j.judgeReadable(k)
	}
	c.report = append(c.report, j.report...)
	return err
}

// judgeReadable warns of a readable relation with a reference to a protected table: its rows have
// that table's keys, and change with the rows that they refer to.
func (j *joinable) judgeReadable(k keyRow) {
	other, to := catalog.Name{Schema: k.Schema, Relation: k.Name}, j.protected[k.Relation].Table
	if k.Kind != "r" || !slices.Contains(j.policy.Readable, other) || j.told[other.SQL()+to.SQL()] {
		return
	}
	j.told[other.SQL()+to.SQL()] = true
	j.report = append(j.report, Finding{
		Severity: Warning, Code: codeReadableReference, Table: other,
		What: fmt.Sprintf("refers to %s, which is protected, and is served as it is: readers get that table's keys, and see at once when a row that it refers to is deleted, whatever updates says", to),
		Fix:  "take it off readable, or off mirrored, and protect it, together with that table under people if it is about the same persons; or list a view over it that leaves these columns out, and of a mirrored table other columns",
	})
}
