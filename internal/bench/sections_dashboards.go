package main

import (
	"strconv"
	"time"

	"github.com/kproxy/kproxy/internal/bench/host"
)

var dashboards = section{
	name: "dashboards", title: "Dashboards",
	text: `Twelve questions of dashboards about groups of patients (internal/bench/dashboards/questions.go): eight about
quasi-identifying columns, four about a number that is published as it is. The demonstration's hospital has k = 5 and six
quasi-identifiers, and is measured with immediate and with guarded updates. A question is asked of the unprotected table (direct), through kproxy without kept answers, and
of a materialized view that is refreshed first; and again, of a materialized view as it is and through kproxy with
kept answers, the third time on. The quotient is the median, over the questions, of the rounds' quotients by direct. Several viewers ask
all questions at once, each in an order of its own. A table that changes has 1,000 changes a second, each of them in a transaction of its
own; the materialized view shows none of them until it is refreshed, kproxy each of them.
[speed.md](speed.md#questions-about-groups) tells which questions are answered in which way.`,
	rounds: map[size]int{tiny: 1, small: 3, full: 3},
	steps: func(p plan) []step {
		ask := func(about time.Duration, room host.Room, flags ...string) step {
			words := []string{"go", "run", "./internal/bench/dashboards", "-kproxy", p.tools.kproxy, "-rounds", strconv.Itoa(p.rounds), "-json", outputFile}
			return step{words: append(words, flags...), read: readFigures}.taking(about, room)
		}
		switch p.size {
		case tiny:
			return []step{ask(0, host.Room{}, "-patients", "1000", "-time", "200ms", "-viewers", "1,3", "-rate", "50")}
		case full:
			return []step{
				ask(4*time.Minute, host.Room{Memory: 2e9, Disk: 4e9}, "-patients", "1000000", "-time", "5s"),
				ask(4*time.Minute, host.Room{Memory: 2e9, Disk: 4e9}, "-patients", "1000000", "-time", "5s", "-updates", "guarded"),
				ask(24*time.Minute, host.Room{Memory: 8e9, Disk: 20e9}, "-patients", "10000000", "-time", "10s"),
			}
		}
		return []step{
			ask(2*time.Minute, host.Room{Memory: 1e9, Disk: 2e9}, "-patients", "200000", "-time", "2s"),
			ask(2*time.Minute, host.Room{Memory: 1e9, Disk: 2e9}, "-patients", "200000", "-time", "2s", "-updates", "guarded"),
		}
	},
	way: "kproxy", others: []string{"direct", "refreshed view", "view"},
	views: []view{
		{title: "Asked for the first time", names: []string{"dashboard-time"}, by: []string{"patients", "updates", "table", "question"}},
		{title: "Asked again", names: []string{"dashboard-again-time"}, by: []string{"patients", "updates", "table", "question"}},
		{title: "The median quotient by direct", names: []string{"dashboard-quotient", "dashboard-again-quotient"}, by: []string{"patients", "updates", "table"}, plain: true},
		{title: "Answers to several viewers, for the first time", names: []string{"dashboard-rate"}, by: []string{"patients", "updates", "table", "viewers"}},
		{title: "Answers to several viewers, again", names: []string{"dashboard-again-rate"}, by: []string{"patients", "updates", "table", "viewers"}},
	},
}
