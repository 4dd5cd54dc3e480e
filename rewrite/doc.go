// Package rewrite decides what a client's SQL may do and turns it into the SQL
// that the database runs, or into a refusal.
//
// It is pure: SQL and a [catalog.Snapshot] in, SQL or [Refusal] out. Nothing
// that was not understood is let through: what is sent is the deparsed tree of
// what was checked, parsed once more and compared with it.
//
// Entry points:
//   - [New], [Rewriter.SetSnapshot], [Rewriter.Rewrite]
//   - [Rewriter.Position]: where in the client's text an error stands
//   - [Rewriter.ScrubMessage]: the database's messages in the client's words
//
// One statement passes guard.go and depth.go (before the parser sees it),
// statement.go (which statements), walk.go (which nodes), scope.go and
// relation.go (what names stand for), function.go, types.go and regclass.go
// (what may be called and cast), and roundtrip.go (deparse and compare). The
// allowlists are the text files beside the code. DESIGN.md says why.
package rewrite
