// Package accept keeps what an operator has accepted of the database: what a relation was
// when it was accepted under its name. A name says nothing by itself, since whoever may
// alter a table can give the name of one column to another; a policy therefore holds for
// identities. [Table] is that of a protected table.
//
// The private store has a row for each name (kproxy_store.accepted): its kind, the name,
// and the identity as JSON, in whatever form the kind needs. To keep identities of another
// kind:
//
//   - give it a [Kind], and a struct whose fields are all that must not change unseen: object
//     identifiers, attribute numbers, definitions;
//   - [Save] it when an operator accepts it, which is when a configuration that names the
//     relation is taken over for the first time, or 'kproxy accept';
//   - [Load] it wherever the relation is about to be served, and compare it with the present
//     one in the same transaction, or under a lock: what differs is refused until it is
//     accepted or taken back.
//
// What was accepted stays when its name leaves the configuration: it may come back.
// 'kproxy accept' shows the operator what differs, in words, and saves.
package accept
