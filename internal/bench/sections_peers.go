package main

import (
	"strconv"
	"time"
)

// peers are programs of others that make classes, which who measures has to provide.
// Without one the section keeps the figures that were measured last.
var peers = section{
	name: "peers", title: "Anonymization beside other programs",
	text: `Programs of others make classes of the same tables, in the same run as the methods here that are nearest
to them. Each release is checked for k by the same code, and NCP and DM are of what each publishes. A program is given
by who measures, as ` + "`-peer NAME=COMMAND`" + ` (see internal/bench/methods); where the last run had none, these figures are of the
last that had one, whose date is below. kproxy's methods run on one core, and on two; how many others use is theirs.

python-strict and python-relaxed are Mondrian in Python, [qiyuangong/Mondrian](https://github.com/qiyuangong/Mondrian)
(MIT license) in a folder that internal/bench/peers/mondrian.py is given: pure Python, on one core. It orders categories as kproxy
does, so that NCP compares. Its time is the one that it measures itself, of dividing alone, and its processor time is of
the same; kproxy's are of the whole method. Relaxed Mondrian leaves open which records on the median go to which side: the
project takes them as they come, kproxy orders them by the other attributes, and loses less. Its files are named as git
names their contents: mondrian.py 164bd640c4cc is that of its commit b1014b2f46b8.

internal/bench/peers/Arx.java has [ARX](https://arx.deidentifier.org) (Apache License) do the same by its library, with one
generalization for all records or one for groups of them. There are no figures of it here: it was not
measured, and the adapter has run with classes of the same names only.`,
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
		{title: "Beside other programs: time in seconds, by the number of records", names: []string{"time"}, by: []string{"method", "cores"}, across: "records", where: byRecords},
		{title: "Beside other programs: processor time in seconds, by the number of records", names: []string{"cpu"}, by: []string{"method", "cores"}, across: "records", where: byRecords},
		{title: "Beside other programs: NCP in percent, by the number of records", names: []string{"NCP"}, by: []string{"method", "cores"}, across: "records", where: byRecords},
		{title: "Beside other programs: DM, by the number of records", names: []string{"discernibility"}, by: []string{"method", "cores"}, across: "records", where: byRecords},
		{title: "Beside other programs: classes, by the number of records", names: []string{"classes"}, by: []string{"method", "cores"}, across: "records", where: byRecords},
		{title: "Beside other programs: time in seconds, by k", names: []string{"time"}, by: []string{"method", "cores"}, across: "k", where: byK},
		{title: "Beside other programs: NCP in percent, by k", names: []string{"NCP"}, by: []string{"method", "cores"}, across: "k", where: byK},
		{title: "Beside other programs: DM, by k", names: []string{"discernibility"}, by: []string{"method", "cores"}, across: "k", where: byK},
		{title: "Beside other programs: classes, by k", names: []string{"classes"}, by: []string{"method", "cores"}, across: "k", where: byK},
	},
}
