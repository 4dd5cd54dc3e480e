// Package proxy speaks the PostgreSQL wire protocol, versions 3.0 and 3.2, to clients
// on one side and to one PostgreSQL connection for each session on the other.
//
// It owns the wire: startup, TLS, SCRAM-SHA-256, relaying, cancel requests and
// shutdown. Who may log in, and how, is decided by package access. What a statement may say and mean is decided elsewhere, behind [Gate];
// the proxy follows when what a session does takes effect ([State]). Raw frames are
// relayed and only what must be understood is decoded: Query and Parse on the way
// up, errors, notices, parameter reports and plans on the way down.
//
// Entry points: [New] and [Server.Serve]; package scram makes the verifiers in
// [Config.Access]. DESIGN.md tells why refusals travel through the
// server and which goroutine does what.
//
// Sources: PostgreSQL documentation, chapter "Frontend/Backend Protocol";
// RFC 5802, RFC 7677 (SCRAM-SHA-256) and RFC 5929 (tls-server-end-point).
package proxy
