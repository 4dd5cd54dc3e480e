//go:build unix

package incremental_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// BenchmarkChanges maintains a table under inserts, deletes and modifications in
// equal parts, settled one by one or in groups, as sync does. An operation is one
// change.
func BenchmarkChanges(b *testing.B) {
	for _, records := range []int{10_000, 100_000} {
		benchmarkChanges(b, records)
	}
}

// BenchmarkChangesOfMillion is BenchmarkChanges for a million records.
func BenchmarkChangesOfMillion(b *testing.B) { benchmarkChanges(b, 1_000_000) }

// BenchmarkChangesOfTenMillion is BenchmarkChanges for ten million records: it takes
// 4 GB of memory and a minute to begin.
func BenchmarkChangesOfTenMillion(b *testing.B) { benchmarkChanges(b, 10_000_000) }

// sources give the cells of records of eight attributes: independent numbers of a
// thousand values each, for which there is nothing to find near by, and values like
// those of the Adult census.
var sources = map[string]func(records int) ([]anonymizer.Attribute, func(random *rand.Rand, cells []hierarchy.Cell)){
	"uniform": func(int) ([]anonymizer.Attribute, func(*rand.Rand, []hierarchy.Cell)) {
		attributes := make([]anonymizer.Attribute, 8)
		for a := range attributes {
			attributes[a] = workload.Attribute(fmt.Sprintf("a%d", a), hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
		}
		return attributes, func(random *rand.Rand, cells []hierarchy.Cell) {
			for a := range cells {
				cells[a] = float64(random.IntN(1000))
			}
		}
	},
	"adult": func(int) ([]anonymizer.Attribute, func(*rand.Rand, []hierarchy.Cell)) {
		table := workload.AdultLike(1, 1<<20)
		return table.Attributes(), func(random *rand.Rand, cells []hierarchy.Cell) {
			record := random.IntN(table.Len())
			for a := range cells {
				cells[a] = table.Cells(a)[record]
			}
		}
	},
}

func benchmarkChanges(b *testing.B, records int) {
	for _, source := range []string{"uniform", "adult"} {
		for _, group := range []int{2000, 1} {
			b.Run(fmt.Sprintf("%s/records=%d/qi=8/k=5/group=%d", source, records, group), func(b *testing.B) {
				m, bytes := newStream(b, source, records)
				change, began := 0, userTime(b)
				for b.Loop() {
					m.change(change)
					if change++; change%group == 0 {
						m.partition.Settle()
					}
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "changes/s")
				b.ReportMetric(float64((userTime(b)-began).Nanoseconds())/float64(b.N), "user-ns/op")
				b.ReportMetric(bytes, "bytes/record")
				runtime.KeepAlive(m)
			})
		}
	}
}

// stream changes a partition of records with ids from first to below next.
type stream struct {
	b           *testing.B
	partition   *incremental.Partition
	random      *rand.Rand
	values      func(random *rand.Rand, cells []hierarchy.Cell)
	first, next incremental.RecordID
	record      incremental.Record
}

// newStream makes one, and gives the memory that it takes for each record.
func newStream(b *testing.B, source string, records int) (*stream, float64) {
	b.Helper()
	attributes, values := sources[source](records)
	before := heap()
	m := &stream{
		b: b, random: rand.New(rand.NewPCG(1, 1)), values: values, next: 1, first: 1,
		partition: incremental.New(attributes, privacy.ConstraintSet{privacy.KAnonymity{K: 5}}, partition.RoundedPartition{}, incremental.Options{}),
		record:    incremental.Record{Cells: make([]hierarchy.Cell, len(attributes)), Sensitive: make([]uint32, 1)},
	}
	for range records {
		m.insert()
	}
	m.partition.Settle()
	for i := range min(records/2, 100_000) { // until sizes of classes are as they stay
		m.change(i)
		if i%2000 == 1999 {
			m.partition.Settle()
		}
	}
	m.partition.Settle()
	return m, float64(heap()-before) / float64(records)
}

// userTime is the processor time that the process has taken, of all cores: what others
// do on the machine says less in it.
func userTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano())
}

func heap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func (m *stream) must(err error) {
	if err != nil {
		m.b.Fatal(err)
	}
}

func (m *stream) draw(id incremental.RecordID) incremental.Record {
	m.values(m.random, m.record.Cells)
	m.record.ID, m.record.Sensitive[0] = id, uint32(m.random.IntN(10))
	return m.record
}

func (m *stream) insert() {
	m.must(m.partition.Insert(m.draw(m.next)))
	m.next++
}

func (m *stream) change(i int) {
	switch i % 3 {
	case 0:
		m.insert()
	case 1: // the oldest: records are random, so that it lies anywhere
		m.must(m.partition.Delete(m.first))
		m.first++
	default:
		m.must(m.partition.Modify(m.draw(m.first + incremental.RecordID(m.random.Int64N(int64(m.next-m.first))))))
	}
}
