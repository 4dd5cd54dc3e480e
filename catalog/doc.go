// Package catalog says what is protected, under which policy, and in which
// shape it is published.
//
// It is pure: nothing here talks to PostgreSQL. The sub-package inspect reads a
// server and fills in the types of this package.
//
// Entry points:
//   - [Policy] and [TablePolicy]: what the operator asked for.
//   - [Relation]: a relation of the database as PostgreSQL describes it.
//   - [Publish]: policy + relation -> [Publication], the published shape of one table.
//   - [Publication.NewAttributes], [Publication.NewSchema], [Publication.ConstraintSet]: the
//     policy in the terms of the algorithms, for whoever runs or measures them.
//   - [Snapshot]: what a client's names resolve to; the rewriter's only view of the database.
package catalog
