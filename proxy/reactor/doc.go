// Package reactor moves bytes for many connections on few threads. A [Loop] waits for
// whichever of its connections are ready and calls their handlers one after the other,
// so that what belongs to connections of one loop needs no locks, and a connection on
// which nothing happens costs a descriptor and a few words: no goroutine, no buffer.
//
// A [Conn] is a net.Conn that can be taken out of Go's poller for a loop and put back:
// code that waits, such as a login, uses it before and after.
package reactor
