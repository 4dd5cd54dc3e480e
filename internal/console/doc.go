// Package console is the operator's web console: pages rendered on the server, and the
// same figures as JSON under /api/.
//
// It shows figures that readers must not know, such as the number of records that wait, and therefore
// shows nothing without a login. Its only state is the sessions and one trial at a time. It writes
// nothing except through [Source], and loads nothing from other origins: style and script are
// embedded. It works without the script.
//
// Entry points: [New], [Console.ServeHTTP]; what it shows comes from a [Source].
package console
