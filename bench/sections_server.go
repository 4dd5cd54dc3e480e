package main

import "strconv"

var synchronization = section{
	name: "sync", title: "Synchronization",
	text: `Recorded changes of a table of 100,000 records, three inserts for an update and a delete each, applied in
turns by PostgreSQL's own subscription (to a plain copy, in another database of the cluster), by kproxy (immediate
updates, k = 10, six quasi-identifying columns: private store and release), and read by pg_recvlogical, which applies
nothing: it is what the server's decoding and sending allow. Both sides' contents are compared with the table. The log
is what each writes into PostgreSQL's write-ahead log for a change. Lag is from a commit until the subscription has
applied it, or until kproxy's readers see it, at 2,000 commits a second. The first release is compared with COPY out
and in of the same table. The life of a table publishes it, loads it after a restart (beside COPY of the store to a
client, store-copy) and has 5,000 changes a second made in it, one (rows-1) or 1,000 a transaction; processor time
is kproxy's. Servers have fsync and full_page_writes off, so that the log is without full-page images.`,
	rounds: map[size]int{tiny: 1, small: 3, full: 5},
	steps: func(p plan) []step {
		units := map[string]named{
			"recvlogical/s": {"apply-rate", "pg_recvlogical", "1/s"}, "subscription/s": {"apply-rate", "subscription", "1/s"}, "kproxy/s": {"apply-rate", "kproxy", "1/s"},
			"subscription-us/change": {"apply-cpu", "subscription", "µs"}, "kproxy-us/change": {"apply-cpu", "kproxy", "µs"},
			"session-us/change":   {"apply-session-cpu", "kproxy", "µs"},
			"source-WAL-B/change": {"log", "source", "B"}, "subscription-WAL-B/change": {"log", "subscription", "B"}, "kproxy-WAL-B/change": {"log", "kproxy", "B"},
		}
		for _, share := range []string{"p50", "p95", "p99"} {
			for _, way := range []string{"subscription", "kproxy"} {
				units[way+"-"+share+"-ms"] = named{"lag-" + share, way, "ms"}
			}
		}
		publication := map[string]named{
			"copy-s": {"publication-time", "COPY", "s"}, "publication-s": {"publication-time", "kproxy", "s"}, "peak-B/row": {"publication-memory", "kproxy", "B/record"},
		}
		yardstick := goBench("./sync", "^BenchmarkYardstick", "1x", p.rounds, units)
		yardstick.needs, yardstick.missing = "pg_recvlogical", "pg_recvlogical: install postgresql-client"
		if p.size == tiny {
			yardstick.words = append(yardstick.words, "-yardstick.rows", "2000", "-yardstick.seconds", "1")
			return []step{yardstick}
		}
		return append([]step{
			yardstick,
			goBench("./sync", "^BenchmarkInitialPublication$/rows=100000$", "1x", p.rounds, publication),
			goBench("./sync", "^BenchmarkInitialPublication$/rows=1000000$", "1x", of(p.size, 1, 1, p.rounds), publication),
			{words: goBench("./sync", "^BenchmarkScale$"+of(p.size, "", "/^immediate$/rows=100000$", ""), "1x", 1, nil).words, read: readScale},
		}, of(p.size, nil, nil, []step{
			goBench("./sync", "^Benchmark(Apply|Latency|Publish|Resynchronization|OneTransaction)$", "1x", p.rounds, map[string]named{
				"subscription/s": {"large-apply-rate", "subscription", "1/s"}, "kproxy/s": {"large-apply-rate", "kproxy", "1/s"},
				"p50-ms": {"latency-p50", "kproxy", "ms"}, "p99-ms": {"latency-p99", "kproxy", "ms"},
				"peak-B/row": {"transaction-peak", "kproxy", "B/record"}, "after-B/row": {"transaction-after", "kproxy", "B/record"},
				"loaded-B/row": {"transaction-loaded", "kproxy", "B/record"}, "ns/op": {"*", "kproxy", "ns"},
			}),
			goBench("./sync", "^BenchmarkLayout$", "1s", p.rounds, map[string]named{"ns/op": {"layout", "kproxy", "ns"}}),
		})...)
	},
	way: "kproxy", others: []string{"subscription", "pg_recvlogical", "COPY", "source"},
	views: []view{
		{title: "Applying changes", names: []string{"apply-rate", "apply-cpu", "apply-session-cpu", "log"}, by: []string{"rows", "transaction"}},
		{title: "Lag at 2,000 commits a second", names: []string{"lag-p50", "lag-p95", "lag-p99"}, by: []string{"rows"}},
		{title: "The first release", names: []string{"publication-time", "publication-memory"}, by: []string{"rows"}},
		{title: "The life of a table", names: []string{"scale"}, by: []string{"case", "rows", "what"}},
		{title: "Large tables", names: []string{"large-apply-rate", "latency-p50", "latency-p99", "transaction-peak", "transaction-after", "transaction-loaded"}, by: []string{"rows", "transaction", "rate"}},
	},
}

// observed are the benchmarks of what each statement costs beside its relay.
func observed(p plan) []step {
	return []step{
		goBench("./proxy", "^BenchmarkRelayAlone$", of(p.size, "1x", "300ms", "2s"), p.rounds, map[string]named{"ns/op": {"follow", "kproxy", "ns"}}),
		goBench("./observe", "^BenchmarkAnswered$", of(p.size, "1x", "300ms", "2s"), p.rounds, map[string]named{"ns/op": {"record", "kproxy", "ns"}}),
	}
}

var proxying = section{
	name: "proxy", title: "The proxy",
	text: `The same statement by the same plan, straight to PostgreSQL, through kproxy, PgBouncer (session mode) and,
where it is installed, Pgpool-II: clients, proxy and server share the machine. A client of kproxy asks the protected
table, all others send what kproxy makes of it. Each text of the simple protocol is a new one. p50 and p99 are of a
transaction; CPU is the proxy's processor time for one. The release has the records
that -records says below. [speed.md](speed.md) describes the method, and what bounds it.`,
	rounds: map[size]int{tiny: 1, small: 4, full: 7},
	steps: func(p plan) []step {
		speed := func(flags ...string) step {
			words := []string{"go", "run", "./integration/speed", "-kproxy", "kproxy=" + p.tools.kproxy, "-rounds", strconv.Itoa(p.rounds), "-json", outputFile}
			return step{words: append(words, flags...), read: readFigures, needs: "pgbouncer", missing: "PgBouncer: install pgbouncer and postgresql-contrib"}
		}
		switch p.size {
		case tiny:
			return []step{speed("-records", "1000", "-time", "1s", "-calm", "1", "-clients", "2", "-protocols", "simple", "-idle", "0", "-active", "20", "lookup")}
		case full:
			return append([]step{
				speed("-records", "1000000", "-time", "5s", "-clients", "1,2,4,8,16,32,64,128,256", "-idle", "0", "-active", "300"),
				speed("-records", "5000", "-time", "4s", "-idle", "5000", "-active", "200", "idle"),
				goBench("./catalog/provision", "^BenchmarkStandIns$", "1s", p.rounds, map[string]named{"ns/op": {"catalogs", "kproxy", "ns"}}),
			}, observed(p)...)
		}
		return append([]step{speed("-records", "100000", "-time", "1s", "-clients", "1,8,64", "-idle", "0", "-active", "100")}, observed(p)...)
	},
	way: "kproxy", others: []string{"direct", "pgbouncer", "pgpool"},
	views: []view{
		{title: "One row by an index", names: []string{"lookup-rate"}, by: []string{"protocol", "clients"}},
		{title: "Latency and processor time of one row", names: []string{"lookup-p50", "lookup-p99", "lookup-cpu"}, by: []string{"protocol", "clients"}, plain: true},
		{title: "One row, TLS", names: []string{"tls-rate", "tls-p99", "tls-cpu"}, by: []string{"clients"}},
		{title: "A thousand rows", names: []string{"page-rate", "page-p99", "page-cpu"}, by: []string{"clients"}},
		{title: "The whole table", names: []string{"scan-time", "scan-cpu"}, by: []string{"statement", "records"}},
		{title: "Connecting, logging in and one row", names: []string{"login-time", "login-cpu"}, by: []string{"TLS", "clients"}},
		{title: "Following and recording a statement", names: []string{"follow", "record"}, by: []string{"case"}},
		{title: "Catalogs through the stand-ins", names: []string{"catalogs"}, by: []string{"case"}},
		{title: "Beside idle sessions", names: []string{"idle-mean", "idle-p50", "idle-p99", "idle-memory"}, by: []string{"idle", "active"}},
	},
	charts: []picture{
		{
			file: "proxy-rate", title: "One row by an index, prepared protocol", x: "clients", y: "transactions a second", name: "lookup-rate",
			where: map[string]string{"protocol": "prepared"}, logX: true,
		},
		{
			file: "proxy-p99", title: "99th percentile of one row, prepared protocol", x: "clients", y: "ms", name: "lookup-p99",
			where: map[string]string{"protocol": "prepared"}, logX: true, logY: true,
		},
	},
}
