package main

import (
	"context"
	"fmt"
	"strconv"
)

// logins compares connecting, logging in by SCRAM and one lookup.
func logins(ctx context.Context, b *bench) error {
	var t table
	t.add("TLS", "clients", "way", "a second", "time of pgbouncer's", "mean ms", "proxy's CPU µs")
	for _, tls := range []bool{false, true} {
		ways := b.ways
		if tls {
			ways = b.encryptedWays()
		}
		for _, clients := range []int{1, 8} {
			got, err := b.lookupRounds(ctx, ways, work{clients: clients, protocol: "simple", reconnect: true, tls: tls})
			if err != nil {
				return err
			}
			bouncer := got.column(b.named(peer), meanOf)
			parameters := map[string]string{"clients": strconv.Itoa(clients), "TLS": strconv.FormatBool(tls)}
			for _, w := range ways {
				means := got.column(w, meanOf)
				b.note("login-time", w, parameters, "ms", means)
				b.noteCPU("login-cpu", w, parameters, "µs", got.column(w, processorOf))
				t.add(strconv.FormatBool(tls), strconv.Itoa(clients), w.name,
					fmt.Sprintf("%.0f", median(got.column(w, rateOf))), compare(means, bouncer).String(),
					fmt.Sprintf("%.2f", median(means)), fmt.Sprintf("%.0f", median(got.column(w, processorOf))))
			}
		}
	}
	fmt.Fprintf(b.out, "Connecting, logging in and one row, %d rounds of %v:\n\n", b.options.rounds, b.time)
	t.write(b.out)
	return nil
}
