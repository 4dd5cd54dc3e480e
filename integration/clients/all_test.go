package clients

import (
	"flag"
	"testing"
)

var all = flag.Bool("clients.all", false, "also run the clients that are hundreds of megabytes, or take minutes to compile")

// heavy has a test run only where all clients are asked for: CI has no time for them.
func heavy(t *testing.T) {
	t.Helper()
	if !*all {
		t.Skip("run it with make bi")
	}
}
