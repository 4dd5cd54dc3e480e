// Package metamorphic tests that nothing hidden can be told: two copies of one database are
// served by two processes, something hidden is changed in one of them, and everything that a
// reader can select, describe, explain or provoke as an error must be the same bytes in both.
//
// A *world* is a copy of the cluster with the program before it ([testdata/world.sql]). A
// *mutation* is a hidden change, and is not balanced: the transaction number, the log and
// the space that it takes are part of what must not be seen ([testdata/mutations]). An
// *observable* is something that a reader sends; they are made of what the server's catalogs
// list, every relation, column, function and setting, and of the corpus of attacks. What
// differs by nature is in exceptions_test.go, each with its reason; differences that are known
// and not mended yet are in testdata/open.txt, from which they have to go when they are.
//
// `go test` tries a sample of observables against all mutations at once, `make metamorphic`
// all of them, mutation by mutation.
package metamorphic
