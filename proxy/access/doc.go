// Package access decides who may log in to the proxy, from where and how: rules like
// those of pg_hba.conf, the verifiers of users, what a client certificate says, and how
// much strangers may ask. It knows no sockets; the exchange of messages is package
// proxy's.
//
// A [Control] is made of a [Config]. For each connection [Control.Enter] finds it a
// place among those that have not logged in, [Control.Decide] says which rule applies,
// [Control.Attempt] how long to wait after failures, and [Control.Account] what to
// check a password against. Strangers learn from none of it who exists: a user who does
// not exist is handled as one who does, up to the end.
package access
