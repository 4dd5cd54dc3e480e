package suites

import "testing"

// way is how a suite reaches the database.
type way struct {
	name           string
	host           string
	port           int
	user, password string
}

// ways are the names of all, in the order of the golden files' columns, and reach starts
// what is needed for each, in front of the database. Encrypted is about the connections
// between proxy and server.
var (
	ways  = []string{"straight", "relay", "kproxy"}
	reach = map[string]func(t *testing.T, encrypted bool) way{"straight": straight, "relay": relayed, "kproxy": throughKproxy}
)

func straight(t *testing.T, _ bool) way {
	t.Helper()
	return way{name: "straight", host: "127.0.0.1", port: server(t).Port(), user: user, password: password}
}
