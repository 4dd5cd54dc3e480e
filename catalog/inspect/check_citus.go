package inspect

import "fmt"

// citusRow is what the database of a release is to Citus.
type citusRow struct {
	// Known says that the extension is installed, and Coordinator that the server is not a worker.
	Known, Coordinator bool
	Workers            int // that take rows
	Prepared           int // transactions that the server lets others prepare
	Distributed        int // tables of the store whose rows are on workers
}

// checkCitus requires a coordinator with workers where rows are to be distributed. Where they are not, no table may be
// distributed: what a worker has prepared must be committed before the store is read.
func (c *checker) checkCitus() error {
	var at citusRow
	if err := c.conn.QueryRow(c.ctx, "SELECT EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'citus')").Scan(&at.Known); err != nil {
		return fmt.Errorf("looking for Citus: %w", err)
	}
	if at.Known {
		err := c.conn.QueryRow(c.ctx, `SELECT (SELECT groupid = 0 FROM pg_catalog.pg_dist_local_group),
			(SELECT count(*) FROM pg_catalog.pg_dist_node WHERE groupid <> 0 AND isactive AND shouldhaveshards AND noderole = 'primary'),
			(SELECT setting::int FROM pg_catalog.pg_settings WHERE name = 'max_prepared_transactions'),
			(SELECT count(*) FROM pg_catalog.pg_dist_partition d JOIN pg_catalog.pg_class c ON c.oid = d.logicalrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'kproxy_store')`).
			Scan(&at.Coordinator, &at.Workers, &at.Prepared, &at.Distributed)
		if err != nil {
			return fmt.Errorf("looking at the workers of Citus: %w", err)
		}
	}
	c.report = append(c.report, judgeCitus(at, c.in.Distribute)...)
	return nil
}

// judgeCitus reports what keeps rows from being distributed, or from being stored on the server alone.
func judgeCitus(at citusRow, distribute bool) (report Report) {
	refuse := func(what, fix string) { report.add(Error, "citus", none, what, fix) }
	switch {
	case !distribute && at.Distributed > 0:
		refuse(fmt.Sprintf("%d tables of the store are distributed over workers, and release.distribute is none", at.Distributed), "write release: {distribute: citus}")
	case !distribute:
	case !at.Known:
		refuse("the database of the release has no extension citus, which release.distribute names", "load citus by shared_preload_libraries on all servers, and in the database of each CREATE EXTENSION citus")
	case !at.Coordinator:
		refuse("the server of the release is a worker of Citus, not its coordinator", "name the coordinator in upstream.owner")
	case at.Workers == 0:
		refuse("the coordinator has no active worker that takes rows", "SELECT citus_add_node('worker', 5432)")
	case at.Prepared == 0:
		refuse("max_prepared_transactions is 0, and rows and position are committed in two phases", "ALTER SYSTEM SET max_prepared_transactions = 200;\n-- on all servers, and restart them")
	}
	return report
}
