package main

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// peers are other programs that make classes. The user has to provide them; without one
// the section keeps the figures that were measured last.
var peers = section{
	name: "peers", title: "Anonymization compared with other programs",
	text:   `TEXT`,
	rounds: map[size]int{tiny: 1, small: 3, full: 5},
	steps: func(p plan) []step {
		if len(p.tools.peers) == 0 {
			return nil
		}
		words := []string{
			"go", "run", "./internal/bench/methods", "-rounds", strconv.Itoa(p.rounds),
			"-methods", "lookahead-partition,lookahead-partition:good,lookahead-partition:best,rounded-partition,mondrian-strict,mondrian-relaxed",
			"-patience", of(p.size, "10s", "10m", "10m"), "-json", outputFile,
		}
		for _, peer := range p.tools.peers {
			words = append(words, "-peer", peer)
		}
		generated := append(slices.Clone(words), "-attributes", "8", "-k", "5", "-records", of(p.size, "500", "10000,100000,1000000", "10000,100000,1000000"))
		steps := []step{{words: generated, read: readFigures, about: of(p.size, 0, 15*time.Minute, 15*time.Minute)}}
		if p.size != tiny { // package methods has its own test of it
			steps = append(steps, step{
				words: append(words, "-k", "5,10,25,50", "-adult", adultFolder), read: readFigures, about: 5 * time.Minute,
				needs: adultFolder + "/adult.data", missing: "the Adult census data with its hierarchies, in " + adultFolder,
			})
		}
		return steps
	},
	views: slices.Concat(
		peerViews("Other programs, generated table, k = 5", "records", map[string]string{"k": "5", "attributes": "8", "table": ""}),
		peerViews("Other programs, Adult", "k", map[string]string{"table": "adult"}),
	),
}

// adultFolder has the Adult census data, which is not the project's to pass on.
const adultFolder = "../shared/data/adult"

// peerViews are a table for each measure, with a column for each value of a parameter.
func peerViews(of, across string, where map[string]string) (views []view) {
	for _, measure := range [][2]string{
		{"loss", "published loss in percent"},
		{"query-error", "query error in percent"},
		{"discernibility", "DM"},
		{"time", "time in seconds"},
		{"cpu", "processor time in seconds"},
		{"peak", "peak memory in MB"},
	} {
		by := strings.ReplaceAll(across, "records", "the number of records")
		views = append(views, view{title: of + ": " + measure[1] + ", by " + by, names: measure[:1], by: []string{"method"}, across: across, where: where})
	}
	return views
}
