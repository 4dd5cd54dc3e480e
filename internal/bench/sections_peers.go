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
	text: `Other programs anonymize the same tables, in the same run as kproxy's default method with each effort and its
other partitions. The same code measures what each program publishes: loss, DM, and query error, which is the median
error of the same random counts as in ` + "`kproxy eval`" + `. It checks that what is published of a record is true of it and
that at least k records read the same. What reads the same is one class; records of which nothing is published are
withheld. You provide a program as ` + "`-peer NAME=COMMAND`" + ` (see internal/bench/methods). If the last run had none, these
figures are of the last that had one; its date is below.

The generated table has categories without taxonomies. Adult has the 30,162 complete records of adult.data with eight
attributes and taxonomies; this part needs the data and its hierarchies in ../shared/data/adult, which are not in this
repository. Programs publish different things, which all measures express. kproxy publishes the range of numbers in a
class and the node of the taxonomy above its categories. ARX publishes nodes of hierarchies that it is given: the
same taxonomies, and groups of two, four, eight and so on neighbors for numbers. Mondrian in Python publishes ranges
of categories as well, in the order of the taxonomy's leaves, or of their first appearance where there is no taxonomy.
Such a range loses less than a node, but no name stands for it.

Times are those of anonymizing in memory; they include the warm-up of Java. Python's and its processor time are its own
measurement of the division alone. Memory is the most that the process had when it was done, with the table as the
program holds it, and at most 4 GB of heap for Java. All programs may use both cores. A run that would take over ten
minutes, by the time of a tenth of the records on that machine, is left out: those of a million records by the best
effort and by ARX's fine steps.

In this run kproxy's best effort loses least on Adult at k = 5, 10 and 25, and ARX with fine steps at k = 50. ARX with fine steps
loses less than the default effort from k = 10 on and than effort good from k = 25 on; with steps of a hundredth it
loses less than both at k = 25 and 50. Query errors are alike: smallest with the best effort up to k = 25, and with
ARX's fine steps at k = 50; those are below the errors of effort good at every k. On the generated tables, where
kproxy publishes * of different categories, strict Mondrian in Python loses least at 10,000 records; but its query
errors are larger than those of lookahead-partition and of ARX's local recoding at every size. Of 100,000 records the
best effort loses least, and ARX's fine steps have the smallest query error. Of 1,000,000, the default effort, ARX's
local recoding and strict Mondrian in Python lose nearly the same, and effort good loses least. kproxy's Mondrian
loses more than Python's there, and strict Mondrian does so on Adult as well, as it publishes nodes and not ranges.

After this run, efforts good and best got one more start, records that are recoded in rounds, as ARX does, and the best
effort follows fewer cuts. On Adult, one more round of the same command, of these methods alone on a quiet machine, gave
at k = 5, 10, 25 and 50 losses of 3.96, 6.53, 11.2 and 15.8 % with effort good, in 0.6 to 0.9 s, and of 3.64, 6.14, 10.7
and 14.4 % with the best, in 8.7, 7.5, 5.3 and 5.5 s: that loses less than ARX with fine steps at each k. The default
effort took 26 to 56 ms. Nothing else was measured again.

rounded-partition has the smallest DM on Adult and of 10,000 records, relaxed Mondrian in Python of more. ARX's fine
steps withhold a few records, up to 47, which raises their DM. One generalization for all records loses most
throughout. ARX's local recoding takes more processor time than effort good, and its fine steps take more than the
best effort; Java takes the most memory, and rounded-partition and kproxy's Mondrian the least.

arx-global, arx-local and arx-fine are [ARX](https://github.com/arx-deidentifier/arx) (Apache License) of commit
aacd487fb77b, which is version 3.9.2 and six commits: one generalization for all records, and its local recoding with steps
of a hundredth of the records or of any size. internal/bench/peers/Arx.java calls it and says how to build it without its
user interface. python-strict and python-relaxed are Mondrian in Python,
[qiyuangong/Mondrian](https://github.com/qiyuangong/Mondrian) (MIT license), in a folder that
internal/bench/peers/mondrian.py gets. Relaxed Mondrian does not determine the side of records on the median: the project
takes them in their order, kproxy orders them by the other attributes and loses less on Adult. Files are identified by git's
hash of their contents: mondrian.py 164bd640c4cc is that of the project's commit 49d49cfb3348.`,
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
