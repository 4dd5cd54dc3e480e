package main

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/kproxy/kproxy/internal/bench/host"
)

// sections in the order of the page.
var sections = []section{anonymization, peers, maintained, synchronization, proxying, dashboards, rewriting, wholeSystem}

func sectionNames() (names []string) {
	for _, s := range sections {
		names = append(names, s.name)
	}
	return names
}

func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }

// What is kept where the records, k or the attributes vary.
var (
	byRecords    = map[string]string{"k": "5", "attributes": "8"}
	byK          = map[string]string{"records": "10000", "attributes": "8"}
	byAttributes = map[string]string{"records": "10000", "k": "5"}
)

var anonymization = section{
	name: "anonymization", title: "Anonymization",
	text: `Every method runs on generated tables like the Adult census data (workload.AdultLike): numbers and categories
without taxonomies. The defaults are eight attributes, 10,000 records and k = 5. Loss is the share of the information
that readers lose; NCP is the normalized certainty penalty (Xu et al., 2006), DM the discernibility metric (Bayardo
and Agrawal, 2005). Memory is the growth of the heap, including garbage. The (α,k) methods also have the bound 0.5.
Each release is checked: every record is in one class of at least k. Methods that would take too long are omitted.
Tables show medians, the files all rounds. The variants of Classfly+ differ in how they handle several constraints;
with one, they make the same classes.`,
	rounds: map[size]int{tiny: 1, small: 3, full: 5},
	steps: func(p plan) []step {
		return []step{{words: []string{
			"go", "run", "./internal/bench/methods", "-rounds", strconv.Itoa(p.rounds),
			"-records", of(p.size, "500", "10000,100000,1000000", "10000,100000,1000000,10000000"),
			"-attributes", of(p.size, "4", "2,4,8,12", "2,3,4,5,6,7,8,9,10,11,12"),
			"-k", of(p.size, "5", "2,5,10,25,50,100", "2,5,10,25,50,100"),
			"-patience", of(p.size, "10s", "5s", "5m"), "-json", outputFile,
		}, read: readFigures, about: of(p.size, 0, time.Minute, 20*time.Minute), room: of(p.size, host.Room{}, host.Room{Memory: 2e9}, host.Room{Memory: 14e9})}}
	},
	way: "kproxy",
	views: []view{
		{title: "Time in seconds, by the number of records", names: []string{"time"}, by: []string{"method"}, across: "records", where: byRecords},
		{title: "Memory in bytes for each record, by the number of records", names: []string{"memory"}, by: []string{"method"}, across: "records", where: byRecords},
		{title: "Allocations for each record, by the number of records", names: []string{"objects"}, by: []string{"method"}, across: "records", where: byRecords},
		{title: "Loss in percent, by the number of records", names: []string{"loss"}, by: []string{"method"}, across: "records", where: byRecords},
		{title: "NCP in percent, by the number of records", names: []string{"NCP"}, by: []string{"method"}, across: "records", where: byRecords},
		{title: "DM, by the number of records", names: []string{"discernibility"}, by: []string{"method"}, across: "records", where: byRecords},
		{title: "Classes, by the number of records", names: []string{"classes"}, by: []string{"method"}, across: "records", where: byRecords},
		{title: "Time in seconds, by k", names: []string{"time"}, by: []string{"method"}, across: "k", where: byK},
		{title: "Loss in percent, by k", names: []string{"loss"}, by: []string{"method"}, across: "k", where: byK},
		{title: "DM, by k", names: []string{"discernibility"}, by: []string{"method"}, across: "k", where: byK},
		{title: "Classes, by k", names: []string{"classes"}, by: []string{"method"}, across: "k", where: byK},
		{title: "Time in seconds, by the number of attributes", names: []string{"time"}, by: []string{"method"}, across: "attributes", where: byAttributes},
		{title: "Memory in bytes for each record, by the number of attributes", names: []string{"memory"}, by: []string{"method"}, across: "attributes", where: byAttributes},
		{title: "Loss in percent, by the number of attributes", names: []string{"loss"}, by: []string{"method"}, across: "attributes", where: byAttributes},
	},
	charts: []picture{
		{
			file: "anonymization-time", title: "Time by the number of records, k = 5", x: "records", y: "seconds", name: "time", line: "method",
			where: byRecords, logX: true, logY: true,
		},
		{
			file: "anonymization-loss", title: "Loss by k, 10,000 records", x: "k", y: "loss (%)", name: "loss", line: "method",
			where: byK, logX: true,
		},
	},
}

var maintained = section{
	name: "maintained", title: "The maintained release",
	text: `Changes are inserts, deletes and modifications in equal parts, of eight attributes at k = 5, settled 2,000
at a time, in one goroutine without a database. Processor time is that of one change. With guarded updates, a lineage
settles each change. Drift is the loss divided by that of a fresh release; [drift.md](drift.md) explains it and has
figures for other mixtures of changes.`,
	rounds: map[size]int{tiny: 1, small: 3, full: 3},
	steps: func(p plan) []step {
		changes := map[string]named{
			"changes/s": {"changes-rate", "kproxy", "1/s"}, "user-ns/op": {"changes-cpu", "kproxy", "ns"},
			"bytes/record": {"changes-memory", "kproxy", "B/record"},
		}
		lineage := map[string]named{"ns/op": {"lineage-time", "kproxy", "ns"}, "bytes/record": {"lineage-memory", "kproxy", "B/record"}}
		settled := goBenchmarks{folder: "./anonymizer/incremental", names: []string{"Changes", "ChangesOfMillion"}, time: of(p.size, "100x", "1s", "3s"), rounds: p.rounds, units: changes}
		settled.under = of(p.size, "", "/.*/.*/qi=8/k=5/group=2000", "")
		if p.size == tiny {
			settled.names, settled.under = settled.names[:1], "/adult/records=10000/qi=8/k=5/group=2000"
		}
		drift := []string{
			p.tools.kproxy, "eval", "drift", "--k", of(p.size, "5", "5", "5,10"), "--out", outputFile,
			"--records", of(p.size, "500", "100000", "100000"), "--operations", of(p.size, "2000", "1000000", "1000000"),
			"--seeds", of(p.size, "1", "1", "1,2,3"), "--methods", of(p.size, "rounded-partition", "rounded-partition", "rounded-partition,mondrian-strict,hilbert,datafly"),
		}
		steps := []step{
			settled.step().taking(of(p.size, 0, 50*time.Second, 5*time.Minute), host.Room{}),
			goBenchmarks{
				folder: "./anonymizer/lineage", names: []string{"Changes"}, under: of(p.size, "/records=10000$", "", ""),
				time: of(p.size, "100x", "1s", "3s"), rounds: p.rounds, units: lineage,
			}.step().taking(of(p.size, 0, 20*time.Second, time.Minute), host.Room{}),
			{words: drift, read: readDrift, about: of(p.size, 0, 20*time.Second, 15*time.Minute)},
		}
		if p.size == full {
			steps = append(steps, longRuns(p.rounds, changes, lineage)...)
		}
		return steps
	},
	views: []view{
		{title: "Immediate updates", names: []string{"changes-rate", "changes-cpu", "changes-memory"}, by: []string{"case", "records", "group"}},
		{title: "Guarded updates", names: []string{"lineage-time", "lineage-memory"}, by: []string{"records"}},
		{title: "The drift after a million operations", names: []string{"drift"}, by: []string{"method", "k"}, where: map[string]string{"operations": "1000000"}},
		{title: "Renewing, and settling one record of 100,000", names: []string{"Renewal", "Settle"}, by: []string{"case", "records"}, full: true},
		{title: "The first change after a start, which waits until all classes are indexed", names: []string{"first-change"}, by: []string{"records"}, full: true},
		{title: "A million operations, checked by brute force", names: []string{"million-loss-first", "million-loss-last"}, by: []string{"case", "records"}, full: true},
		{title: "A million operations of guarded updates, all versions compared", names: []string{"million-ghosts", "million-stale"}, by: []string{"case", "records"}, full: true},
	},
	charts: []picture{
		{
			file: "maintained-drift", title: "Loss through changes, rounded partition, k = 5", x: "operations", y: "loss (%)", name: "drift-loss",
			where: map[string]string{"method": "rounded-partition", "k": "5"},
		},
	},
}

// longRuns are measured of the maintained release in full size alone.
func longRuns(rounds int, changes, lineage map[string]named) []step {
	million := func(folder string, units map[string]named) step {
		return goBenchmarks{folder: folder, names: []string{"MillionOperations"}, time: "1x", rounds: 1, units: units}.step()
	}
	eachTime := map[string]named{"ns/op": {"*", "kproxy", "ns"}}
	return []step{
		goBenchmarks{
			folder: "./anonymizer/incremental", names: []string{"ChangesOfTenMillion"}, time: "3s", rounds: 1, units: changes,
		}.step().taking(6*time.Minute, host.Room{Memory: 6e9}),
		goBenchmarks{
			folder: "./anonymizer/lineage", names: []string{"ChangesOfTenMillion"}, time: "3s", rounds: 1, units: lineage,
		}.step().taking(90*time.Second, host.Room{Memory: 4e9}),
		goBenchmarks{
			folder: "./anonymizer/incremental", names: []string{"FirstChange"}, time: "1x", rounds: 1, units: map[string]named{"ns/op": {"first-change", "kproxy", "ns"}},
		}.step().taking(90*time.Second, host.Room{Memory: 4e9}),
		goBenchmarks{folder: "./anonymizer/incremental", names: []string{"Renewal", "Settle"}, time: "1s", rounds: rounds, units: eachTime}.step().taking(3*time.Minute, host.Room{}),
		million("./anonymizer/incremental", map[string]named{
			"%loss-at-first": {"million-loss-first", "kproxy", "%"}, "%loss-at-last": {"million-loss-last", "kproxy", "%"},
		}).taking(6*time.Minute, host.Room{}),
		million("./anonymizer/lineage", map[string]named{
			"%ghosts": {"million-ghosts", "kproxy", "%"}, "%stale": {"million-stale", "kproxy", "%"},
		}).taking(6*time.Minute, host.Room{}),
	}
}

var rewriting = section{
	name: "rewriting", title: "Rewriting",
	text: `The corpus is what BI tools and analysts send: the independent texts of rewrite/testdata/legitimate. A
hit is a text that the cache knows, a miss one that it does not know. The floor is pg_query's parse and deparse
alone. Figures are processor time of the thread and objects of Go's heap, by statement, without pg_query's own C
memory. 2 kB is one long statement, by the clock.`,
	rounds: map[size]int{tiny: 1, small: 5, full: 5},
	steps: func(p plan) []step {
		corpus := map[string]named{
			"cpu-us/statement": {"rewrite-cpu", "kproxy", "µs"}, "objects/statement": {"rewrite-objects", "kproxy", ""}, "B/statement": {"rewrite-bytes", "kproxy", "B"},
		}
		long := map[string]named{
			"ns/op": {"*", "kproxy", "ns"}, "allocs/op": {"*-objects", "kproxy", ""}, "us/miss": {"2KB-miss", "kproxy", "µs"},
			"us/floor": {"2KB-miss", "pg_query", "µs"}, "cpu-us/text": {"variations-cpu", "kproxy", "µs"}, "%hits": {"variations-hits", "kproxy", "%"},
		}
		known := goBenchmarks{folder: "./rewrite", names: []string{"Corpus"}, time: of(p.size, "1x", "1s", "5s"), rounds: p.rounds, units: corpus}
		steps := []step{
			asCorpus(known.step()).taking(of(p.size, 0, 20*time.Second, 2*time.Minute), host.Room{}),
			goBenchmarks{
				folder: "./rewrite", names: []string{"Hit2KB", "Miss2KB", "Template2KB", "LiteralVariations10000Of20"},
				time: of(p.size, "1x", "300ms", "2s"), rounds: p.rounds, units: long,
			}.step().taking(of(p.size, 0, 25*time.Second, 90*time.Second), host.Room{}),
		}
		if p.size == full {
			steps = append(steps,
				goBenchmarks{
					folder: "./rewrite", names: []string{"HitParallel2KB", "Shape"}, time: "2s", rounds: p.rounds,
					units: map[string]named{"ns/op": {"*", "kproxy", "ns"}},
				}.step().taking(time.Minute, host.Room{}),
				goBenchmarks{
					folder: "./rewrite", names: []string{"InList"}, time: "1x", rounds: p.rounds, units: map[string]named{"us/constant": {"list", "kproxy", "µs"}},
				}.step().taking(2*time.Minute, host.Room{Memory: 4e9}))
		}
		return steps
	},
	way: "kproxy", others: []string{"pg_query"},
	views: []view{
		{title: "The corpus, by statement", names: []string{"rewrite-cpu", "rewrite-objects", "rewrite-bytes"}, by: []string{"path"}},
		{title: "One statement of 2 kB", names: []string{"Hit2KB", "Hit2KB-objects", "Template2KB", "Template2KB-objects", "2KB-miss"}},
		{title: "10,000 texts of 20 short statements", names: []string{"variations-cpu", "variations-hits"}, by: []string{"templates"}},
		{title: "On all cores, and the shape of a statement", names: []string{"HitParallel2KB", "Shape"}, full: true},
		{title: "A list of constants, by constant", names: []string{"list"}, by: []string{"constants"}, full: true},
	},
}

var wholeSystem = section{
	name: "day", title: "The whole system",
	text: `This simulates a day of a hospital in less time: changes that follow the hours of a day, dashboards of 12
queries each that refresh through SQL like Cube's in sessions with TLS and SCRAM, guarded updates, and readers who
check every state of the release that they see. At the end the release is proved, and the private store compared with
the source (internal/bench/day). Violations and errors are counted below and fail the run. A dashboard refreshes up to
24 times, with two queries of all dashboards at once; each query reads the whole release. If the cores, which all
processes share, cannot answer as many, fewer are sent: see the number of queries and the duration of a refresh.
PostgreSQL's bytes and cores are those of all its processes.`,
	rounds: map[size]int{tiny: 1, small: 1, full: 1},
	steps: func(p plan) []step {
		words := []string{
			"go", "run", "./internal/bench/day", "-kproxy", p.tools.kproxy,
			"-patients", of(p.size, "1000", "100000", "10000000"), "-minutes", of(p.size, "0.1", "2", "60"),
			"-rate", of(p.size, "20", "1000", "1000"), "-dashboards", of(p.size, "2", "10", "50"),
			"-json", outputFile, "-plot", outputFile + ".svg",
		}
		if p.cramped {
			words = append(words, "-cramped")
		}
		return []step{{
			words: words, read: readDay, draws: "day.svg", tells: true,
			about: of(p.size, 0, 130*time.Second, 80*time.Minute), room: of(p.size, host.Room{}, host.Room{Memory: 1e9, Disk: 2e9}, host.Room{Memory: 8.6e9, Disk: 21e9}),
		}}
	},
	views: []view{
		{title: "The day", names: []string{"day-n", "day-mean", "day-p50", "day-p99", "day-max"}, by: []string{"measure"}},
		{title: "Errors, and the time until the first release", names: []string{"day-count", "day-publish", "day-peak"}, by: []string{"measure"}},
	},
	charts: []picture{{file: "day", title: "The day", drawn: true}},
}
