// Package rewrite decides what a client's SQL may do and turns it into the SQL
// that the database runs, or into a refusal.
//
// It is pure: SQL and a [catalog.Snapshot] in, SQL or [Refusal] out. Nothing
// that was not understood is let through: what is sent is the deparsed tree of
// what was checked, parsed once more and compared with it.
//
// Entry points:
//   - [New], [Rewriter.SetSnapshot], [Rewriter.Rewrite]
//   - [Rewriter.NewSession], [Session.After], [Session.Synced]: what a session has done
//   - [Rewriter.RewriteView]: the definition of a view over protected tables
//   - [Rewriter.Position]: where in the client's text an error stands
//   - [Rewriter.ScrubMessage], [Rewriter.ScrubPlan]: the database's messages and plans
//     in the client's words
//
// A text that is known, or differs from a known one in literals only, is answered by
// cache.go or template.go. Another passes limit.go and depth.go (before the parser
// sees it), statement.go (which statements), walk.go (which nodes), scope.go and
// relation.go (what names stand for), function.go, types.go and regclass.go
// (what may be called and cast), and roundtrip.go (deparse and compare). The
// files that begin with session follow what statements do to the meaning of those
// after them, those with view rewrite definitions. The allowlists are the text
// files beside the code. DESIGN.md says why.
package rewrite
