// Package audit writes the audit log: a line of JSON for each statement, session and
// failed login, who and when, what it asked in shape, how much it got and how it ended.
// Values never get into it: what a [Record] has are numbers, codes, names of published
// tables, and a shape that is made of a closed vocabulary (package rewrite).
//
// Entry points: [New], [Log.Add] and [Log.Err].
package audit
