package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/bench/host"
)

// sampling is how often the processes and the store are looked at, or as often as six
// times in each part of the day.
const sampling = 5 * time.Second

// sample takes down what processes and server have, until ctx ends.
func (s *site) sample(ctx context.Context, d *diary) error {
	conn, err := pgx.Connect(ctx, s.admin)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	last := time.Now()
	kproxy, postgres := host.Use(s.kproxy.PID()), host.FamilyUse(s.server.PID())
	for {
		rest(ctx, min(sampling, d.part/6))
		if ctx.Err() != nil {
			return nil
		}
		now := time.Now()
		k, p := host.Use(s.kproxy.PID()), host.FamilyUse(s.server.PID())
		passed := now.Sub(last).Seconds()
		d.note(kproxyBytes, k.Bytes)
		d.note(kproxyCores, (k.Seconds-kproxy.Seconds)/passed)
		d.note(postgresBytes, p.Bytes)
		d.note(postgresCores, (p.Seconds-postgres.Seconds)/passed)
		last, kproxy, postgres = now, k, p
		if err := s.sampleStore(ctx, d, conn); err != nil {
			return err
		}
		n, err := s.sessions(ctx)
		if err != nil {
			return err
		}
		d.note(sessions, n)
	}
}

// sampleStore takes down how far the release and the slot are behind.
func (s *site) sampleStore(ctx context.Context, d *diary, conn *pgx.Conn) error {
	const behind = `SELECT waiting::float8, stale::float8, ghosts::float8,
		(SELECT (pg_current_wal_insert_lsn() - restart_lsn)::float8 FROM pg_replication_slots WHERE slot_name = $1)
		FROM kproxy_store.generation WHERE table_name = 'patients'`
	var w, st, g, kept float64
	if err := conn.QueryRow(ctx, behind, slot).Scan(&w, &st, &g, &kept); err != nil {
		return fmt.Errorf("reading how fresh the release is: %w", err)
	}
	d.note(waiting, w)
	d.note(stale, st)
	d.note(ghosts, g)
	d.note(keptWAL, kept)
	return nil
}

// sessions are those that kproxy's metrics tell of.
func (s *site) sessions(ctx context.Context) (float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.metrics, http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, fmt.Errorf("reading kproxy's metrics: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	sum := 0.0
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if strings.HasPrefix(name, "kproxy_sessions{") {
			n, _ := strconv.ParseFloat(value, 64) // Prometheus' own format
			sum += n
		}
	}
	return sum, nil
}
