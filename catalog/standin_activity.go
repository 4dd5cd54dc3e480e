package catalog

// activityStandIns are PostgreSQL's statistics, of values and of what the server
// does. A client learns which relations there are, and of its own session; counts
// are NULL, since they tell how many rows there are and what others do.
func activityStandIns() []StandIn {
	list := func(relation, from, filter string, columns map[string]string) StandIn {
		return StandIn{Of: Name{"pg_catalog", relation}, From: from, Filter: filter, Replace: columns}
	}
	standIns := []StandIn{
		system("pg_stat_activity", "c.pid = pg_catalog.pg_backend_pid()", map[string]string{
			"datname": CatalogSchema + ".database_name()",
			// The server's client is kproxy, and the text is its own.
			"client_addr": "NULL::pg_catalog.inet", "client_hostname": "NULL::text", "client_port": "NULL::integer",
			"backend_xid": "NULL::pg_catalog.xid", "backend_xmin": "NULL::pg_catalog.xid", "query_id": "NULL::bigint", "query": noText,
		}),
		list("pg_stat_database", CatalogSchema+".pg_database AS c", "", map[string]string{"datid": "c.oid", "datname": "c.datname"}),
	}
	for _, of := range []struct{ which, filter string }{
		{"all", ""},
		{"user", " AND n.nspname !~ '^(pg_catalog|information_schema|pg_toast)$'"},
		{"sys", " AND n.nspname ~ '^(pg_catalog|information_schema|pg_toast)$'"},
	} {
		for _, kind := range []string{"pg_stat_", "pg_stat_xact_", "pg_statio_"} {
			standIns = append(standIns, list(kind+of.which+"_tables", listedRelations, "c.relkind IN ('r', 'm', 'p')"+of.filter,
				map[string]string{"relid": "c.oid", "schemaname": "n.nspname", "relname": "c.relname"}))
		}
	}
	return append(standIns, empty("pg_catalog", `pg_stats pg_stats_ext pg_stats_ext_exprs
		pg_stat_all_indexes pg_stat_user_indexes pg_stat_sys_indexes
		pg_statio_all_indexes pg_statio_user_indexes pg_statio_sys_indexes
		pg_statio_all_sequences pg_statio_user_sequences pg_statio_sys_sequences
		pg_stat_user_functions pg_stat_xact_user_functions pg_stat_ssl pg_stat_gssapi
		pg_stat_replication pg_stat_replication_slots pg_replication_slots pg_stat_wal_receiver pg_stat_subscription
		pg_stat_subscription_stats pg_stat_database_conflicts pg_stat_archiver pg_stat_bgwriter pg_stat_checkpointer
		pg_stat_wal pg_stat_io pg_stat_slru pg_stat_recovery_prefetch pg_stat_progress_analyze pg_stat_progress_basebackup
		pg_stat_progress_cluster pg_stat_progress_copy pg_stat_progress_create_index pg_stat_progress_vacuum`)...)
}
