// Package metadata tests what tools see through kproxy: it starts one server and one
// kproxy, lets clients describe the database, and compares all that they show with
// golden files and with marks of what must stay hidden.
package metadata
