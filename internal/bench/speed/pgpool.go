package main

import (
	"fmt"
	"os/exec"
	"slices"
)

// pool is the name of Pgpool-II among the ways.
const pool = "pgpool"

// pgpool starts Pgpool-II as a pooler alone: one server, no cache, no look at the state of
// replication. It has a process for each session. Without it on the PATH there is no such
// way.
func (b *bench) pgpool() (*way, error) {
	path, err := exec.LookPath("pgpool")
	if err != nil {
		return nil, nil
	}
	w := &way{name: pool, host: "127.0.0.1", user: readerUser, password: readerPassword, database: clientDatabase, plain: true}
	if w.port, err = freePort(); err != nil {
		return nil, err
	}
	control, err := freePort()
	if err != nil {
		return nil, err
	}
	sessions := max(slices.Max(b.clients), 8) + 8
	settings := fmt.Sprintf(`backend_clustering_mode = 'raw'
listen_addresses = '127.0.0.1'
port = %d
pcp_port = %d
socket_dir = '%[3]s'
pcp_socket_dir = '%[3]s'
pid_file_name = '%[3]s/pgpool.pid'
logdir = '%[3]s'
work_dir = '%[3]s'
backend_hostname0 = '%s'
backend_port0 = %d
num_init_children = %d
max_pool = 1
enable_pool_hba = on
pool_passwd = '%[3]s/pool_passwd'
`, w.port, control, b.dir, b.upstream(), b.server.Port(), sessions)
	for name, text := range map[string]string{
		"pgpool.conf":   settings,
		"pool_hba.conf": "host all all 127.0.0.1/32 scram-sha-256\n",
		// Its other forms of the password need a key; the file is in a folder of this run.
		"pool_passwd": readerUser + ":TEXT" + readerPassword + "\n",
		"pcp.conf":    "",
	} {
		if err := b.write(name, text); err != nil {
			return nil, err
		}
	}
	w.process, err = b.launch(pool, path, nil, "-n", "-f", b.path("pgpool.conf"), "-a", b.path("pool_hba.conf"), "-F", b.path("pcp.conf"))
	return w, err
}
