package daemon

import ksync "github.com/kproxy/kproxy/sync"

// Status is where replication stands, and each table's release. It is known once
// Ready is closed.
func (d *Daemon) Status() ksync.Status { return d.syncer.Status() }
