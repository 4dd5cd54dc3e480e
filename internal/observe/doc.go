// Package observe tells the operator what kproxy does: Prometheus metrics, the audit log,
// what was refused and what was slow, and whether the process lives and serves. It is
// told by package proxy ([proxy.Observer]) and asks for the rest by [Options.State].
//
// Nothing in it holds a value: statements are known by their shapes (package rewrite), and
// labels of metrics are words of fixed lists, names of tables and addresses of database
// servers, which the configuration bounds.
//
// Entry points: [New], [Observer.Handler] and [Profiling]. docs/observe.md is for the
// operator.
package observe
