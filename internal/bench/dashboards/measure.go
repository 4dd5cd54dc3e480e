package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/bench/result"
)

// way is how questions are asked.
type way struct {
	name string
	url  string
	set  string                    // a statement for each session
	ask  func(number int) string   // the text of a question
	each func(number int) []string // statements that belong to a question when it is asked for the first time
}

// The ways. kept is kproxy whose answers are kept; view reads what was materialized before, and refreshed makes it anew
// first, as it has to be for an answer of now.
const (
	direct    = "direct"
	through   = "kproxy"
	kept      = "kproxy, kept"
	view      = "view"
	refreshed = "refreshed view"
)

func (s *site) ways() []way {
	plain := func(n int) string { return questions[n].sql }
	materialized := func(n int) string { return "TABLE " + viewName(n) }
	return []way{
		{name: direct, url: s.admin, ask: plain},
		{name: through, url: s.clients, set: "SET kproxy.cache = off", ask: plain},
		{name: kept, url: s.clients, ask: plain},
		{name: view, url: s.admin, ask: materialized},
		{name: refreshed, url: s.admin, ask: materialized, each: func(n int) []string { return []string{"REFRESH MATERIALIZED VIEW " + viewName(n)} }},
	}
}

func viewName(number int) string { return fmt.Sprintf("dashboard_%d", number+1) }

// measure measures a table in one state.
func (s *site) measure(ctx context.Context, state string, out io.Writer) (figures []result.Figure, err error) {
	if state == "changes" {
		stop := s.change(ctx)
		defer func() { err = errors.Join(err, stop()) }()
	}
	for _, viewers := range s.viewers {
		var measured []result.Figure
		if viewers == 1 {
			measured, err = s.one(ctx, state, out)
		} else {
			measured, err = s.many(ctx, state, viewers, out)
		}
		if err != nil {
			return nil, err
		}
		figures = append(figures, measured...)
	}
	return figures, nil
}

// one has one viewer ask each question by each way in turn.
func (s *site) one(ctx context.Context, state string, out io.Writer) (figures []result.Figure, err error) {
	ways := s.ways()
	conns := make([]*pgx.Conn, len(ways))
	for i, w := range ways {
		if conns[i], err = w.connect(ctx); err != nil {
			return nil, err
		}
		defer conns[i].Close(context.WithoutCancel(ctx))
	}
	fmt.Fprintf(out, "One viewer, %s updates, %s: milliseconds, and in parentheses the medians of the rounds' quotients by direct.\n", s.updates, state)
	quotients := make([][]float64, len(ways))
	for number, q := range questions {
		took := make([][]float64, len(ways))
		for round := range s.rounds + 2 { // answers are kept from the second time on
			for i, w := range ways {
				one, err := w.once(ctx, conns[i], number)
				if err != nil {
					return nil, fmt.Errorf("%s: %s: %w", w.name, q.name, err)
				}
				if round > 1 {
					took[i] = append(took[i], one.Seconds()*1000)
				}
			}
		}
		fmt.Fprintf(out, "%-32s", q.name)
		for i, w := range ways {
			figures = append(figures, w.figures("dashboard", "time", s.parameters(state, "question", q.name), "ms", took[i]...)...)
			of := quotient(took[i], took[0])
			quotients[i] = append(quotients[i], of)
			fmt.Fprintf(out, "  %s %.1f (%.3f)", w.name, median(took[i]), of)
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "%-32s", fmt.Sprintf("median of %d questions", len(questions)))
	for i, w := range ways {
		figures = append(figures, w.figures("dashboard", "quotient", s.parameters(state), "", median(quotients[i]))...)
		fmt.Fprintf(out, "  %s %.3f", w.name, median(quotients[i]))
	}
	fmt.Fprint(out, "\n\n")
	return figures, nil
}

// parameters are those of a figure of a table in one state: those of all figures, and more by name and value.
func (s *site) parameters(state string, more ...string) map[string]string {
	all := map[string]string{"patients": strconv.Itoa(s.patients), "updates": s.updates, "table": state}
	for of := range slices.Chunk(more, 2) {
		all[of[0]] = of[1]
	}
	return all
}

// figures are those of a way by the names under which it is compared: with what is asked for the first time, and
// with what is asked again.
func (w way) figures(subject, what string, parameters map[string]string, unit string, rounds ...float64) (figures []result.Figure) {
	add := func(name, way string) {
		figures = append(figures, result.New(subject+"-"+name+what, way, maps.Clone(parameters), unit, rounds...))
	}
	if w.name != kept && w.name != view {
		add("", w.name)
	}
	if w.name != through && w.name != refreshed {
		add("again-", strings.TrimSuffix(w.name, ", kept"))
	}
	return figures
}

// once asks a question and reads its answer.
func (w way) once(ctx context.Context, conn *pgx.Conn, number int) (time.Duration, error) {
	begin := time.Now()
	if w.each != nil {
		for _, sql := range w.each(number) {
			if _, err := conn.Exec(ctx, sql); err != nil {
				return 0, err
			}
		}
	}
	_, err := conn.Exec(ctx, w.ask(number), pgx.QueryExecModeSimpleProtocol)
	return time.Since(begin), err
}

// many has several viewers ask all questions at once, each in an order of its own.
func (s *site) many(ctx context.Context, state string, viewers int, out io.Writer) (figures []result.Figure, err error) {
	ways := slices.DeleteFunc(s.ways(), func(w way) bool { return w.name == refreshed })
	rates := make([][]float64, len(ways))
	for range s.rounds {
		for i, w := range ways {
			rate, err := w.rate(ctx, viewers, s.time)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", w.name, err)
			}
			rates[i] = append(rates[i], rate)
		}
	}
	fmt.Fprintf(out, "%d viewers, %s updates, %s, answers a second:", viewers, s.updates, state)
	for i, w := range ways {
		figures = append(figures, w.figures("dashboard", "rate", s.parameters(state, "viewers", strconv.Itoa(viewers)), "1/s", rates[i]...)...)
		fmt.Fprintf(out, "  %s %.1f (%.2f)", w.name, median(rates[i]), quotient(rates[i], rates[0]))
	}
	fmt.Fprint(out, "\n\n")
	return figures, nil
}

// rate is how many questions viewers have answered in a second. Those that are asked when the time is over are
// waited for, and count with the time that this takes.
func (w way) rate(ctx context.Context, viewers int, lasts time.Duration) (float64, error) {
	conns := make([]*pgx.Conn, viewers)
	for i := range conns {
		var err error
		if conns[i], err = w.connect(ctx); err != nil {
			return 0, err
		}
		defer conns[i].Close(context.WithoutCancel(ctx))
	}
	var group sync.WaitGroup
	var answers atomic.Int64
	failed := make([]error, viewers)
	begin := time.Now()
	for i, conn := range conns {
		group.Go(func() {
			for n := i; failed[i] == nil && time.Since(begin) < lasts; n++ {
				_, failed[i] = w.once(ctx, conn, n%len(questions))
				answers.Add(1)
			}
		})
	}
	group.Wait()
	return float64(answers.Load()) / time.Since(begin).Seconds(), errors.Join(failed...)
}

func (w way) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, w.url)
	if err == nil && w.set != "" {
		_, err = conn.Exec(ctx, w.set)
	}
	return conn, err
}

// quotient is the median of the rounds' quotients.
func quotient(of, by []float64) float64 {
	all := make([]float64, len(of))
	for i := range of {
		all[i] = of[i] / by[i]
	}
	return median(all)
}

func median(of []float64) float64 {
	of = slices.Sorted(slices.Values(of))
	return (of[(len(of)-1)/2] + of[len(of)/2]) / 2
}
