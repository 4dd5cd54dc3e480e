package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
)

// series are the samples of each way, in the order of the rounds.
type series map[*way][]sample

// column is one figure of all samples of a way.
func (s series) column(w *way, figure func(sample) float64) []float64 {
	var column []float64
	for _, one := range s[w] {
		column = append(column, figure(one))
	}
	return column
}

func rateOf(s sample) float64      { return s.rate }
func meanOf(s sample) float64      { return s.mean }
func medianOf(s sample) float64    { return s.median }
func worstOf(s sample) float64     { return s.worst }
func processorOf(s sample) float64 { return s.processor }

// named finds a way.
func (b *bench) named(name string) *way {
	for _, w := range b.ways {
		if w.name == name {
			return w
		}
	}
	return nil
}

// lookupRounds measures work by some ways in all rounds. The statement is the lookup, as
// each way has it, unless the work has its own.
func (b *bench) lookupRounds(ctx context.Context, ways []*way, job work) (series, error) {
	got := series{}
	err := b.rounds(ctx, ways, func(w *way) error {
		s, err := b.lookupOnce(ctx, w, job)
		got[w] = append(got[w], s)
		return err
	})
	return got, err
}

func (b *bench) lookupOnce(ctx context.Context, w *way, job work) (s sample, err error) {
	protected, published := b.site.lookup, b.site.lookupPublished
	if job.page {
		protected, published = b.site.page, b.site.pagePublished
	}
	job.script = published
	if w.protected {
		job.script = protected
	}
	err = b.quietly(func() (err error) {
		s, err = b.pgbench(ctx, w, job)
		return err
	})
	return s, err
}

// lookups compares rates and latencies of one row by its index.
func lookups(ctx context.Context, b *bench) error {
	for _, protocol := range b.protocols {
		title := fmt.Sprintf("One row by an index, %s protocol", protocol)
		if err := b.compareRates(ctx, "lookup", title, b.ways, work{protocol: protocol}, b.clients); err != nil {
			return err
		}
	}
	return nil
}

// pages compares rates and latencies of a thousand rows.
func pages(ctx context.Context, b *bench) error {
	return b.compareRates(ctx, "page", "A thousand rows, prepared protocol", b.ways, work{protocol: "prepared", page: true}, []int{1, 8})
}

// encrypted compares lookups by TLS, for which the server itself has no certificate.
func encrypted(ctx context.Context, b *bench) error {
	return b.compareRates(ctx, "tls", "One row by an index, prepared protocol, TLS", b.encryptedWays(), work{protocol: "prepared", tls: true}, []int{1, 8})
}

// encryptedWays are those that have a certificate.
func (b *bench) encryptedWays() []*way {
	return slices.DeleteFunc(slices.Clone(b.ways), func(w *way) bool { return w.plain })
}

// compareRates measures work by some ways for several numbers of clients.
func (b *bench) compareRates(ctx context.Context, name, title string, ways []*way, job work, clients []int) error {
	var t table
	t.add("clients", "way", "tps", "of pgbouncer's tps", "of direct", "mean ms", "p50 ms", "p99 ms", "added mean µs", "proxy's CPU µs", "of pgbouncer's CPU")
	for _, job.clients = range clients {
		got, err := b.lookupRounds(ctx, ways, job)
		if err != nil {
			return err
		}
		parameters := map[string]string{
			"clients": strconv.Itoa(job.clients), "protocol": job.protocol,
			"TLS": strconv.FormatBool(job.tls), "records": strconv.FormatInt(b.site.published, 10),
		}
		for _, w := range ways {
			t.add(b.lookupRow(got, w, job.clients)...)
			b.noteSeries(name, w, parameters, got)
		}
	}
	fmt.Fprintf(b.out, "%s, %d rounds of %v:\n\n", title, b.options.rounds, b.time)
	t.write(b.out)
	return nil
}

func (b *bench) lookupRow(got series, w *way, clients int) []string {
	bouncer, straight := b.named(peer), b.named(direct)
	rates, means := got.column(w, rateOf), got.column(w, meanOf)
	row := []string{
		strconv.Itoa(clients), w.name, fmt.Sprintf("%.0f", median(rates)),
		compare(rates, got.column(bouncer, rateOf)).String(),
		compare(rates, got.column(straight, rateOf)).String(),
		fmt.Sprintf("%.3f", median(means)),
		fmt.Sprintf("%.3f", median(got.column(w, medianOf))),
		fmt.Sprintf("%.3f", median(got.column(w, worstOf))),
	}
	if w == straight {
		return append(row, "", "", "")
	}
	processors := got.column(w, processorOf)
	added := ""
	if len(got[straight]) > 0 {
		added = fmt.Sprintf("%.0f", 1000*(median(means)-median(got.column(straight, meanOf))))
	}
	return append(row, added,
		fmt.Sprintf("%.1f", median(processors)),
		compare(processors, got.column(bouncer, processorOf)).String())
}
