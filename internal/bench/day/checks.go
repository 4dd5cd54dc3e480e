package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// The published columns by which classes are told apart.
const quasiIdentifiers = "birth_date, birth_date_range, sex, postcode, marital_status, occupation, admission_date, admission_date_range"

// checkAll counts, in one statement and so of one visible state, what a reader who does
// not trust kproxy would count: the rows that are alike in all that may identify, their
// diagnoses, and whether the rows of a class are alike and have one weight.
const checkAll = `SELECT coalesce(sum(n), 0)::bigint, count(*), count(*) FILTER (WHERE n < $1::int), count(*) FILTER (WHERE least = most),
	count(*) - count(DISTINCT kproxy_class), count(*) FILTER (WHERE NOT (lightest = heaviest AND lightest > 0 AND heaviest <= 1)), coalesce(sum(weight), 0)
FROM (SELECT kproxy_class, count(*) AS n, min(diagnosis COLLATE "C") AS least, max(diagnosis COLLATE "C") AS most,
	min(kproxy_weight) AS lightest, max(kproxy_weight) AS heaviest, sum(kproxy_weight::float8) AS weight
	FROM patients GROUP BY kproxy_class, ` + quasiIdentifiers + `) AS classes`

// state is one visible state of the release.
type state struct {
	rows, classes        int64
	small, alike         int64 // classes with fewer than k rows; with one diagnosis alone
	mixed, unevenWeights int64
	weight               float64
}

// violation says what is wrong with a state; "" if nothing is.
func (s state) violation() string {
	var wrong []string
	for _, w := range []struct {
		n    int64
		what string
	}{
		{s.small, fmt.Sprintf("classes have fewer than %d rows", k)},
		{s.alike, fmt.Sprintf("classes have fewer than %d diagnoses", l)},
		{s.mixed, "generalizations more than classes"},
		{s.unevenWeights, "classes have a weight that is none, or several"},
	} {
		if w.n != 0 {
			wrong = append(wrong, fmt.Sprintf("%d %s", w.n, w.what))
		}
	}
	if s.rows == 0 {
		wrong = append(wrong, "there is nothing")
	}
	return strings.Join(wrong, "; ")
}

// check looks at whole states, one after the other, through kproxy; after each it rests
// for three times as long as it took, so that it is a reader among others.
func (s *site) check(ctx context.Context, d *diary) error {
	conn, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for ctx.Err() == nil {
		begin := time.Now()
		seen, err := lookAt(ctx, conn)
		if err != nil {
			return err
		}
		d.took(checks, begin)
		if wrong := seen.violation(); wrong != "" {
			d.wrong("a visible state of %d rows: %s", seen.rows, wrong)
		}
		rest(ctx, 3*time.Since(begin))
	}
	return nil
}

func lookAt(ctx context.Context, conn *pgx.Conn) (state, error) {
	var seen state
	err := conn.QueryRow(ctx, checkAll, fmt.Sprint(k)).
		Scan(&seen.rows, &seen.classes, &seen.small, &seen.alike, &seen.mixed, &seen.unevenWeights, &seen.weight)
	return seen, err
}
