package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// watchedClasses is how many numbers of classes of the morning are watched, and as many
// of those that come.
const watchedClasses = 500

// version is what a reader can see of the watched classes at a moment: by class, how
// often each row is there, and the class's weight.
type version struct {
	rows    map[int64]map[string]int
	weights map[int64]float32
}

// The row is all that is published but for class and weight, with the diagnosis in front.
const watch = `SELECT kproxy_class, kproxy_weight, concat_ws('|', diagnosis, ward, cost, ` + quasiIdentifiers + `)
FROM patients WHERE kproxy_class BETWEEN $1::bigint AND $2::bigint OR kproxy_class BETWEEN $3::bigint AND $4::bigint`

// ranges are the numbers of the classes that are watched.
type ranges struct{ old, young int64 }

func (r ranges) covers(class int64) bool {
	return r.old <= class && class < r.old+watchedClasses || r.young <= class && class < r.young+watchedClasses
}

// compareVersions reads versions through kproxy, one after the other, and compares each
// with the one before, until ctx ends: of classes of the morning, drawn at random, and of
// the newest.
func (s *site) compareVersions(ctx context.Context, d *diary) error {
	conn, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	first, last, err := numbers(ctx, conn)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(s.Seed, 0))
	now := ranges{old: first + rng.Int64N(max(1, last-first-watchedClasses)), young: last + 1}
	var before version
	for ctx.Err() == nil {
		begin := time.Now()
		after, err := now.read(ctx, conn)
		if err != nil {
			return err
		}
		d.took(versions, begin)
		if before.rows != nil {
			apart, err := compare(before, after)
			if err != nil {
				d.wrong("%v", err)
			}
			d.mu.Lock()
			d.counts.Apart += apart
			d.mu.Unlock()
		}
		before = after
		if _, last, err = numbers(ctx, conn); err != nil {
			return err
		}
		if last > now.young+2*watchedClasses {
			// What comes within the next range was not there in any version.
			now.young = last + 1
			before = before.within(now)
		}
		rest(ctx, max(200*time.Millisecond, 3*time.Since(begin)))
	}
	return nil
}

// numbers are the least and the greatest number of a class.
func numbers(ctx context.Context, conn *pgx.Conn) (first, last int64, err error) {
	err = conn.QueryRow(ctx, "SELECT min(kproxy_class), max(kproxy_class) FROM patients").Scan(&first, &last)
	return first, last, err
}

func (r ranges) read(ctx context.Context, conn *pgx.Conn) (version, error) {
	v := version{rows: map[int64]map[string]int{}, weights: map[int64]float32{}}
	rows, err := conn.Query(ctx, watch, r.old, r.old+watchedClasses-1, r.young, r.young+watchedClasses-1)
	if err != nil {
		return v, err
	}
	var class int64
	var weight float32
	var row string
	_, err = pgx.ForEachRow(rows, []any{&class, &weight, &row}, func() error {
		if v.rows[class] == nil {
			v.rows[class] = map[string]int{}
		}
		v.rows[class][row]++
		v.weights[class] = weight
		return nil
	})
	return v, err
}

// within is the part of a version in other ranges.
func (v version) within(r ranges) version {
	part := version{rows: map[int64]map[string]int{}, weights: map[int64]float32{}}
	for class, rows := range v.rows {
		if r.covers(class) {
			part.rows[class], part.weights[class] = rows, v.weights[class]
		}
	}
	return part
}

// compare says what is wrong with the difference of two versions: classes never gain a
// row, and what comparing them tells apart satisfies the constraints, on both sides. It
// counts the sets that are told apart.
func compare(before, after version) (apart int, err error) {
	for class, rows := range after.rows {
		was, old := before.rows[class]
		if !old {
			if wrong := unsatisfied(rows); wrong != "" {
				return apart, fmt.Errorf("a class has appeared with %s", wrong)
			}
			apart++
			continue
		}
		for row, count := range rows {
			if count > was[row] {
				return apart, fmt.Errorf("a class of %d rows has gained one", len(was))
			}
		}
	}
	for class, was := range before.rows {
		gone := map[string]int{}
		for row, count := range was {
			if left := after.rows[class][row]; left < count {
				gone[row] = count - left
			}
		}
		if len(gone) == 0 {
			continue
		}
		apart++
		if wrong := unsatisfied(gone); wrong != "" {
			return apart, fmt.Errorf("%s have left a class", wrong)
		}
		if left := after.rows[class]; len(left) > 0 {
			if wrong := unsatisfied(left); wrong != "" {
				return apart, fmt.Errorf("%s are left of a class", wrong)
			}
		}
	}
	return apart, nil
}

// unsatisfied says what is wrong with rows that can be told apart from others; "" if
// nothing is.
func unsatisfied(rows map[string]int) string {
	n, diagnoses := 0, map[string]bool{}
	for row, count := range rows {
		n += count
		diagnosis, _, _ := strings.Cut(row, "|")
		diagnoses[diagnosis] = true
	}
	if n < k || len(diagnoses) < l {
		return fmt.Sprintf("%d rows with %d diagnoses", n, len(diagnoses))
	}
	return ""
}
