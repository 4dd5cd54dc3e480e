// Package proxy speaks the PostgreSQL wire protocol, versions 3.0 and 3.2, to clients on
// one side and to one PostgreSQL connection for each session on the other.
//
// It owns the wire: the way to a session, relaying, cancel requests and the end. What a
// statement may say and mean is decided elsewhere, behind [Gate]; the proxy follows when
// what a session does takes effect ([State]). Raw frames are relayed and only what must be
// understood is decoded: Query and Parse on the way up, errors, notices, parameter reports
// and plans on the way down. Sessions live on a few event loops (package reactor); who may
// log in is decided by package access, and package pool has the connections to PostgreSQL.
//
// Entry points: [New] and [Server.Serve]; package scram makes what [access.User] stores.
// DESIGN.md tells why refusals travel through the server and what waits for what.
//
// Sources: PostgreSQL documentation, chapter "Frontend/Backend Protocol";
// RFC 5802, RFC 7677 (SCRAM-SHA-256) and RFC 5929 (tls-server-end-point).
package proxy
