// Package console is the operator's web console: pages rendered on the server, and the
// same figures as JSON under /api/.
//
// It shows what readers must not know, such as how many records wait, and so lets nobody
// see anything without a login. It holds no state but sessions and one trial at a time,
// writes nothing but what [Source] does, and asks no other origin for anything: style and
// script are embedded. It works without the script.
//
// Entry points: [New], [Console.ServeHTTP]; what it shows comes from a [Source].
package console
