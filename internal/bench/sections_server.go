package main

import (
	"strconv"
	"time"

	"github.com/kproxy/kproxy/internal/bench/host"
)

var synchronization = section{
	name: "sync", title: "Synchronization",
	text: `PostgreSQL's own subscription (to a plain copy in another database of the cluster), kproxy (immediate
updates, k = 10, six quasi-identifying columns: private store and release) and pg_recvlogical take turns with the same
recorded changes of a table of 100,000 records: three inserts for each update and delete. pg_recvlogical applies
nothing. It shows what the server's decoding and sending allow; its time includes the start of its process. The
contents of both copies are compared with the table. Processor time is that of the subscription's worker (apply-cpu),
and of kproxy's process and its server session together (apply-process-cpu, apply-session-cpu), without the server's
decoding. The log is what each writes into PostgreSQL's write-ahead log for a change. Lag is the time from a commit
until pg_recvlogical has written it, the subscription has applied it, or kproxy's readers see it, at 2,000 commits a
second; markers are set at a fixed rate, whatever earlier ones wait for. The first release is compared with COPY out and
in of the same table. The life of a table is measured once: kproxy publishes it, loads it after a restart over several
connections (after store-copy, a COPY of the store to one client), and has 5,000 changes a second made in it from the
start on, 1,000 (rows-1000) and then one (rows-1) a transaction. Held memory is what stays resident after that;
processor time is kproxy's. Servers have fsync and full_page_writes off, so the log has no full-page images.`,
	rounds: map[size]int{tiny: 1, small: 3, full: 3},
	steps: func(p plan) []step {
		units := map[string]named{
			"recvlogical/s": {"apply-rate", "pg_recvlogical", "1/s"}, "subscription/s": {"apply-rate", "subscription", "1/s"}, "kproxy/s": {"apply-rate", "kproxy", "1/s"},
			"subscription-us/change": {"apply-cpu", "subscription", "µs"}, "kproxy-us/change": {"apply-cpu", "kproxy", "µs"},
			"process-us/change": {"apply-process-cpu", "kproxy", "µs"}, "session-us/change": {"apply-session-cpu", "kproxy", "µs"},
			"source-WAL-B/change": {"log", "source", "B"}, "subscription-WAL-B/change": {"log", "subscription", "B"}, "kproxy-WAL-B/change": {"log", "kproxy", "B"},
		}
		for _, share := range []string{"p50", "p95", "p99"} {
			for name, way := range map[string]string{"recvlogical": "pg_recvlogical", "subscription": "subscription", "kproxy": "kproxy"} {
				units[name+"-"+share+"-ms"] = named{"lag-" + share, way, "ms"}
			}
		}
		publication := map[string]named{
			"copy-s": {"publication-time", "COPY", "s"}, "publication-s": {"publication-time", "kproxy", "s"}, "peak-B/row": {"publication-memory", "kproxy", "B/record"},
		}
		sync := func(name, under string, rounds int, units map[string]named) step {
			return goBenchmarks{folder: "./sync", names: []string{name}, under: under, time: "1x", rounds: rounds, units: units}.step()
		}
		yardstick := goBenchmarks{folder: "./sync", names: []string{"Yardstick", "YardstickLag"}, time: "1x", rounds: p.rounds, units: units}
		if p.size == tiny {
			yardstick.flags = []string{"-yardstick.rows", "2000", "-yardstick.seconds", "1"}
		}
		beside := yardstick.step().taking(of(p.size, 0, 85*time.Second, 3*time.Minute), host.Room{})
		beside.needs, beside.missing = "pg_recvlogical", "pg_recvlogical: install postgresql-client"
		if p.size == tiny {
			return []step{beside}
		}
		steps := []step{
			beside,
			sync("InitialPublication", "/rows=100000$", p.rounds, publication).taking(10*time.Second, host.Room{}),
			sync("InitialPublication", "/rows=1000000$", of(p.size, 1, 1, p.rounds), publication).taking(of(p.size, 0, 10*time.Second, 45*time.Second), host.Room{}),
			asScale(sync("Scale", "/^immediate$/rows=100000$", 1, nil)).taking(45*time.Second, host.Room{}),
		}
		if p.size == full {
			steps = append(steps, largeTables(sync, p.rounds)...)
		}
		return steps
	},
	way: "kproxy", others: []string{"subscription", "pg_recvlogical", "COPY", "source"},
	views: []view{
		{title: "Applying changes", names: []string{"apply-rate", "apply-cpu", "apply-process-cpu", "apply-session-cpu", "log"}, by: []string{"rows", "transaction"}},
		{title: "Lag at 2,000 commits a second", names: []string{"lag-p50", "lag-p95", "lag-p99"}, by: []string{"rows"}},
		{title: "The first release", names: []string{"publication-time", "publication-memory"}, by: []string{"rows"}},
		{title: "The life of a table", names: []string{"scale"}, by: []string{"case", "rows", "what"}},
		{title: "Large tables", names: []string{"large-apply-rate", "latency-p50", "latency-p99", "transaction-peak", "transaction-after", "transaction-loaded"}, by: []string{"rows", "transaction", "rate"}, full: true},
		{
			title: "Many tables", names: []string{"tables-publication", "tables-publication-cpu", "tables-restart", "tables-memory", "tables-idle-cpu", "tables-rate", "tables-cpu"},
			by: []string{"tables"}, full: true,
		},
		{title: "Comparing a table with its store if 100 rows differ", names: []string{"resynchronization"}, by: []string{"rows"}, full: true},
		{title: "Generalized values in every row or once for each class", names: []string{"layout", "layout-log"}, by: []string{"scan", "filter", "plan", "case", "k"}, full: true},
	},
	charts: []picture{
		{
			file: "sync-start", title: "Loading after a restart", x: "rows", y: "seconds", name: "scale", line: "case",
			where: map[string]string{"what": "reload-s"}, logX: true, logY: true,
		},
		{
			file: "sync-memory", title: "Peak memory of kproxy while publishing", x: "rows", y: "MB", name: "scale", line: "case",
			where: map[string]string{"what": "publish-peak-MB"}, logX: true, logY: true,
		},
	},
}

// largeTables are the steps of synchronization that only full size has: tables of up to ten
// million records.
func largeTables(sync func(name, under string, rounds int, units map[string]named) step, rounds int) []step {
	life := func(mode, rows string) step { return asScale(sync("Scale", "/^"+mode+"$/rows="+rows+"$", 1, nil)) }
	return []step{
		life("immediate", "1000000").taking(time.Minute, host.Room{Memory: 2e9, Disk: 4e9}),
		life("immediate", "10000000").taking(7*time.Minute, host.Room{Memory: 6e9, Disk: 16e9}),
		life("guarded", "100000").taking(time.Minute, host.Room{}),
		life("guarded", "1000000").taking(2*time.Minute, host.Room{Memory: 2e9, Disk: 4e9}),
		life("guarded", "10000000").taking(12*time.Minute, host.Room{Memory: 7e9, Disk: 20e9}),
		sync("Apply", "", 1, map[string]named{
			"subscription/s": {"large-apply-rate", "subscription", "1/s"}, "kproxy/s": {"large-apply-rate", "kproxy", "1/s"},
		}).taking(3*time.Minute, host.Room{Memory: 3e9, Disk: 6e9}),
		sync("Latency", "", 1, map[string]named{
			"p50-ms": {"latency-p50", "kproxy", "ms"}, "p99-ms": {"latency-p99", "kproxy", "ms"},
		}).taking(2*time.Minute, host.Room{Memory: 2e9, Disk: 4e9}),
		sync("OneTransaction", "", 1, map[string]named{
			"peak-B/row": {"transaction-peak", "kproxy", "B/record"}, "after-B/row": {"transaction-after", "kproxy", "B/record"},
			"loaded-B/row": {"transaction-loaded", "kproxy", "B/record"},
		}).taking(4*time.Minute, host.Room{Memory: 5e9, Disk: 12e9}),
		sync("Tables", "", 1, map[string]named{
			"publish-ms/table": {"tables-publication", "kproxy", "ms"}, "publish-CPU-ms/table": {"tables-publication-cpu", "kproxy", "ms"},
			"restart-ms/table": {"tables-restart", "kproxy", "ms"}, "heap-kB/table": {"tables-memory", "kproxy", "KB"},
			"idle-kproxy-CPU-ms/s": {"tables-idle-cpu", "kproxy", "ms/s"}, "idle-server-CPU-ms/s": {"tables-idle-cpu", "server", "ms/s"},
			"changes/s": {"tables-rate", "kproxy", "1/s"}, "kproxy-CPU-µs/change": {"tables-cpu", "kproxy", "µs"}, "server-CPU-µs/change": {"tables-cpu", "server", "µs"},
		}).taking(2*time.Minute, host.Room{Memory: 2e9, Disk: 4e9}),
		sync("Resynchronization", "", rounds, map[string]named{"ns/op": {"resynchronization", "kproxy", "ns"}}).taking(90*time.Second, host.Room{}),
		goBenchmarks{
			folder: "./sync", names: []string{"Layout"}, time: "1s", rounds: 1,
			units: map[string]named{"ns/op": {"layout", "kproxy", "ns"}, "WAL-bytes/op": {"layout-log", "kproxy", "B"}},
		}.step().taking(3*time.Minute, host.Room{}),
	}
}

// observed are the benchmarks of what each statement costs in addition to its relay.
func observed(p plan) []step {
	each := func(folder, name, figure string) step {
		return goBenchmarks{
			folder: folder, names: []string{name}, time: of(p.size, "1x", "300ms", "1s"), rounds: p.rounds,
			units: map[string]named{"ns/op": {figure, "kproxy", "ns"}},
		}.step()
	}
	return []step{
		each("./proxy", "RelayAlone", "follow").taking(of(p.size, 0, 10*time.Second, 40*time.Second), host.Room{}),
		each("./internal/observe", "Answered", "record").taking(of(p.size, 0, 10*time.Second, 20*time.Second), host.Room{}),
	}
}

var proxying = section{
	name: "proxy", title: "The proxy",
	text: `The same statement runs with the same plan directly on PostgreSQL, through kproxy, through PgBouncer (session
mode) and, if it is installed, through Pgpool-II. Clients, proxy and server share the machine. Clients of kproxy query
the protected table; all others send what kproxy makes of the query. With the simple protocol each text is new. pgbench
has one thread. p50 and p99 are of a tenth of the transactions. CPU is the proxy's processor time of the whole run,
including logins, divided by the transactions, in ticks of 10 ms. The release has as many records as -records says
below. [speed.md](speed.md) describes the method and the limits.`,
	rounds: map[size]int{tiny: 1, small: 4, full: 3},
	steps: func(p plan) []step {
		speed := func(flags ...string) step {
			words := []string{"go", "run", "./internal/bench/speed", "-kproxy", "kproxy=" + p.tools.kproxy, "-rounds", strconv.Itoa(p.rounds), "-json", outputFile}
			return step{words: append(words, flags...), read: readFigures, needs: "pgbouncer", missing: "PgBouncer: install pgbouncer and postgresql-contrib"}
		}
		switch p.size {
		case tiny:
			return []step{speed("-records", "1000", "-time", "1s", "-calm", "1", "-clients", "2", "-protocols", "simple", "-idle", "0", "-active", "20", "lookup")}
		case full:
			large := []string{"-records", "1000000", "-time", "3s", "-clients", "1,2,4,8,16,32,64,128,256", "-idle", "0", "-active", "100"}
			return append([]step{
				speed(append(large, "lookup")...).taking(22*time.Minute, host.Room{Memory: 4e9, Disk: 4e9}),
				speed(append(large, "page", "tls", "scan", "login")...).taking(7*time.Minute, host.Room{Memory: 2e9, Disk: 4e9}),
				speed("-records", "5000", "-time", "4s", "-idle", "5000", "-active", "200", "idle").taking(9*time.Minute, host.Room{Memory: 12e9, Disk: 1e9}),
				goBenchmarks{
					folder: "./catalog/provision", names: []string{"StandIns"}, time: "1s", rounds: 1, units: map[string]named{"ns/op": {"catalogs", "kproxy", "ns"}},
				}.step().taking(3*time.Minute, host.Room{}),
			}, observed(p)...)
		}
		return append([]step{
			speed("-records", "100000", "-time", "1s", "-clients", "1,8,64", "-idle", "0", "-active", "100").taking(290*time.Second, host.Room{Memory: 1e9, Disk: 1e9}),
		}, observed(p)...)
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
		{title: "Catalogs through the stand-ins", names: []string{"catalogs"}, by: []string{"tables", "case"}, full: true},
		{title: "Latency with idle sessions", names: []string{"idle-mean", "idle-p50", "idle-p99", "idle-memory", "idle-server-memory"}, by: []string{"idle", "active"}, full: true},
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
