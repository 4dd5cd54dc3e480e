package main

import "slices"

// ofMemory is how far memory may be from what docs/scale.md says: what collections of garbage
// at other moments make of it.
const ofMemory = 0.2

// ofScale are the claims of docs/scale.md about memory and bytes, which its reckoning rests
// on: those of its table's rows, for immediate and guarded tables of one and ten million records,
// which full size alone measures. Times are the machine's.
var ofScale = slices.Concat(
	lifeOf("| memory of kproxy, held a record | 210 bytes | 174 bytes | 210 bytes | 174 bytes |", "held-B/row", 210, 174, 210, 174),
	lifeOf("| memory of kproxy, at most while publishing | 304 MB | 3.0 GB | 479 MB | 3.5 GB |", "publish-peak-MB", 304, 3000, 479, 3500),
	lifeOf("| … while loading | 193 MB | 1.8 GB | 230 MB | 2.2 GB |", "reload-peak-MB", 193, 1800, 230, 2200),
	lifeOf("| WAL a change, source and store | 1.5 KB | 1.7 KB | 0.6 KB | 0.7 KB |", "rows-1-WAL-B/change", 1500, 1700, 600, 700),
)

// lifeOf claims what the benchmark Scale measures of four tables, in the order of the columns.
func lifeOf(quote, what string, immediate1, immediate10, guarded1, guarded10 float64) []claim {
	held := func(updates, rows string, number float64) claim {
		return claim{
			page: "docs/scale.md", quote: quote, section: synchronization.name, name: "scale", way: "kproxy",
			where: map[string]string{"case": updates, "rows": rows, "what": what}, number: number, within: ofMemory,
		}
	}
	return []claim{
		held("immediate", "1000000", immediate1), held("immediate", "10000000", immediate10),
		held("guarded", "1000000", guarded1), held("guarded", "10000000", guarded10),
	}
}
