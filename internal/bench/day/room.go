package main

import "github.com/kproxy/kproxy/internal/bench/host"

// What a patient takes, in bytes: of memory while kproxy publishes, of disk with the log and
// the files of sorts; and what takes room whatever the number of patients, beside PostgreSQL's
// buffers. All processes had 1.57 GB at most with a million patients (-patients 1000000 -minutes 0.5,
// their PSS summed up twice a second), 0.53 of it kproxy, and 0.64 with 200,000; kproxy alone
// has had up to 600 bytes a record at other times, as its collector runs when it gets to.
const (
	memoryOfPatient, diskOfPatient = 700, 2000
	memoryOfRest, diskOfRest       = 5e8, 1e9
)

// room is what the day takes.
func (o options) room() host.Room {
	patients := float64(o.Patients)
	return host.Room{Memory: memoryOfRest + float64(o.buffers()) + memoryOfPatient*patients, Disk: diskOfRest + diskOfPatient*patients}
}

// buffers are the memory that PostgreSQL shares, in bytes.
func (o options) buffers() int {
	if o.Patients >= 500_000 {
		return 1 << 30
	}
	return 256 << 20
}
