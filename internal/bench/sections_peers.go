package main

import (
	"strconv"
	"time"
)

// peers are other programs that make classes. The user has to provide them; without one
// the section keeps the figures that were measured last.
var peers = section{
	name: "peers", title: "Anonymization compared with other programs",
	text: `Other programs make classes of the same tables, in the same run as kproxy's most similar methods. The same
code checks each release for k; NCP and DM are of what each program publishes. You provide a program as
` + "`-peer NAME=COMMAND`" + ` (see internal/bench/methods). If the last run had none, these figures are of the last that
had one; its date is below. kproxy's methods run on one core and on two; other programs use as many as they choose.

python-strict and python-relaxed are Mondrian in Python, [qiyuangong/Mondrian](https://github.com/qiyuangong/Mondrian)
(MIT license), in a folder that internal/bench/peers/mondrian.py gets: pure Python, on one core. It orders categories as
kproxy does, so the NCP is comparable. Its time and processor time are its own measurement of the division alone;
kproxy's are of the whole method. Relaxed Mondrian does not determine the side of records on the median: the
project takes them in their order, kproxy orders them by the other attributes and loses less. Files are identified by
git's hash of their contents: mondrian.py 164bd640c4cc is that of the project's commit b1014b2f46b8.

internal/bench/peers/Arx.java does the same with the library of [ARX](https://arx.deidentifier.org) (Apache License), with
one generalization for all records or one for groups of them. There are no figures of it here: it was not
measured, and the adapter has run only with classes of the same names.`,
	rounds: map[size]int{tiny: 1, small: 3, full: 5},
	steps: func(p plan) []step {
		if len(p.tools.peers) == 0 {
			return nil
		}
		words := []string{
			"go", "run", "./internal/bench/methods", "-rounds", strconv.Itoa(p.rounds), "-methods", "mondrian-strict,mondrian-relaxed",
			"-cores", of(p.size, "1", "1,2", "1,2"), "-records", of(p.size, "500", "10000,100000,1000000", "10000,100000,1000000"),
			"-attributes", "8", "-k", of(p.size, "5", "2,5,10,25,50,100", "2,5,10,25,50,100"),
			"-patience", of(p.size, "10s", "10m", "10m"), "-json", outputFile,
		}
		for _, peer := range p.tools.peers {
			words = append(words, "-peer", peer)
		}
		return []step{{words: words, read: readFigures, about: of(p.size, 0, 3*time.Minute, 5*time.Minute)}}
	},
	views: []view{
		{title: "Other programs: time in seconds, by the number of records", names: []string{"time"}, by: []string{"method", "cores"}, across: "records", where: byRecords},
		{title: "Other programs: processor time in seconds, by the number of records", names: []string{"cpu"}, by: []string{"method", "cores"}, across: "records", where: byRecords},
		{title: "Other programs: NCP in percent, by the number of records", names: []string{"NCP"}, by: []string{"method", "cores"}, across: "records", where: byRecords},
		{title: "Other programs: DM, by the number of records", names: []string{"discernibility"}, by: []string{"method", "cores"}, across: "records", where: byRecords},
		{title: "Other programs: classes, by the number of records", names: []string{"classes"}, by: []string{"method", "cores"}, across: "records", where: byRecords},
		{title: "Other programs: time in seconds, by k", names: []string{"time"}, by: []string{"method", "cores"}, across: "k", where: byK},
		{title: "Other programs: NCP in percent, by k", names: []string{"NCP"}, by: []string{"method", "cores"}, across: "k", where: byK},
		{title: "Other programs: DM, by k", names: []string{"discernibility"}, by: []string{"method", "cores"}, across: "k", where: byK},
		{title: "Other programs: classes, by k", names: []string{"classes"}, by: []string{"method", "cores"}, across: "k", where: byK},
	},
}
