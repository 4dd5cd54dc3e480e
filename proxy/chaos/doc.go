// Package chaos tries the proxy with sessions that do everything a client may, at once
// and at random, and knows what each of them must be answered.
//
// [Model] answers the messages of a session as PostgreSQL does (documentation, "Message
// Flow"), for the texts of [Statement]. It serves twice: as the oracle of sessions that
// run through the proxy against a real server, and as the server, a [Server], behind a
// proxy that is fuzzed. Its tests compare it with a real server without a proxy.
//
//	go test ./proxy/chaos -run Chaos -chaos.seed 1 -chaos.operations 1000000
//
// Only tests import it.
package chaos
