package check

import (
	"cmp"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/proxy/pool"
)

// ownDescriptors is what a process has open besides clients and connections for them: the connections
// of the owner and of auth_query, one that watches each server, listeners, event loops, 32
// connections for metrics, 64 of the console, and files.
const ownDescriptors = 160

// Descriptors is how many files and sockets a process has open at most under a configuration, where
// the server of the owner has so many connections: one for each client, logged in or not, and one
// for each connection to the database.
func Descriptors(c *config.Config, has int) int {
	connections := cmp.Or(c.Limits.MaxConnections, min(Spare(has), c.Limits.MaxSessions))
	return c.Limits.MaxSessions + c.Limits.MaxLogins + connections + ownDescriptors
}

// checkDescriptors warns if clients may have more files and sockets open than this process may. The limit
// of 'kproxy serve' may be another one, and its log tells of that.
func checkDescriptors(c *config.Config, has int) inspect.Report {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return nil
	}
	return judgeDescriptors(Descriptors(c, has), limit.Cur)
}

func judgeDescriptors(needs int, has uint64) inspect.Report {
	if uint64(needs) <= has {
		return nil
	}
	return inspect.Report{{
		Severity: inspect.Warning, Code: codeDescriptors,
		What: fmt.Sprintf("limits.max_sessions, limits.max_logins and the connections to the database take up to %d open files, and a process started as this one may have %d: clients beyond are refused", needs, has),
		Fix:  pool.FixDescriptors,
	}}
}
