package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/kproxy/kproxy/internal/bench/result"
	"github.com/kproxy/kproxy/internal/eval/drift"
)

// readFigures reads the file of a program that writes figures itself.
func readFigures(_ []byte, file string) ([]result.Figure, error) { return result.ReadFigures(file) }

// readDrift reads the folder that `kproxy eval drift --out` writes.
func readDrift(_ []byte, folder string) ([]result.Figure, error) {
	text, err := os.ReadFile(filepath.Join(folder, drift.JSONName))
	if err != nil {
		return nil, err
	}
	var report drift.Report
	if err := json.Unmarshal(text, &report); err != nil {
		return nil, fmt.Errorf("reading the drift: %w", err)
	}
	var figures []result.Figure
	for _, s := range report.Summary {
		for _, p := range s.Points {
			parameters := map[string]string{
				"method": s.Method, "k": strconv.Itoa(s.K), "operations": strconv.Itoa(p.Operations), "records": strconv.Itoa(report.Setup.Records),
			}
			add := func(name, way, unit string, value float64) {
				figures = append(figures, result.New(name, way, parameters, unit, value))
			}
			add("drift-loss", "afresh", "%", 100*p.Afresh)
			add("drift-loss", "maintained", "%", 100*p.Maintained.Loss)
			add("drift-loss", "renewed", "%", 100*p.Renewed.Loss)
			add("drift", "maintained", "", p.Maintained.Drift)
			add("drift", "renewed", "", p.Renewed.Drift)
		}
	}
	return figures, nil
}

// readDay reads the figures of internal/bench/day: of each measure, how often it was taken,
// and its mean, median, 99th percentile and greatest value.
func readDay(_ []byte, file string) ([]result.Figure, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var day struct {
		Options struct {
			Patients   int     `json:"patients"`
			Minutes    float64 `json:"minutes"`
			Rate       float64 `json:"rate"`
			Dashboards int     `json:"dashboards"`
		} `json:"options"`
		Counts struct {
			Violations int `json:"violations"`
			Errors     int `json:"errors"`
		} `json:"counts"`
		Interrupted    bool    `json:"interrupted"`
		PublishSeconds float64 `json:"publishSeconds"`
		PeakBytes      float64 `json:"peakBytes"`
		Whole          map[string]struct {
			N    int     `json:"n"`
			Sum  float64 `json:"sum"`
			Mean float64 `json:"mean"`
			P50  float64 `json:"p50"`
			P99  float64 `json:"p99"`
			Max  float64 `json:"max"`
		} `json:"whole"`
	}
	if err := json.Unmarshal(text, &day); err != nil {
		return nil, fmt.Errorf("reading the day: %w", err)
	}
	if day.Interrupted {
		return nil, errors.New("the day was interrupted")
	}
	if len(day.Whole) == 0 {
		return nil, fmt.Errorf("the day has no measures")
	}
	parameters := map[string]string{
		"patients": strconv.Itoa(day.Options.Patients), "minutes": strconv.FormatFloat(day.Options.Minutes, 'g', -1, 64),
		"rate": strconv.FormatFloat(day.Options.Rate, 'g', -1, 64), "dashboards": strconv.Itoa(day.Options.Dashboards),
	}
	var figures []result.Figure
	add := func(name, measure, unit string, value float64) {
		with := map[string]string{"measure": measure}
		for k, v := range parameters {
			with[k] = v
		}
		figures = append(figures, result.New(name, "kproxy", with, unit, value))
	}
	add("day-count", "violations", "", float64(day.Counts.Violations))
	add("day-count", "errors", "", float64(day.Counts.Errors))
	add("day-publish", "publication", "s", day.PublishSeconds)
	add("day-peak", "most memory of kproxy", "B", day.PeakBytes)
	for _, m := range sortedKeys(day.Whole) {
		v := day.Whole[m]
		add("day-n", m, "", float64(v.N))
		if v.N == 0 {
			continue
		}
		add("day-mean", m, "", v.Mean)
		add("day-p50", m, "", v.P50)
		add("day-p99", m, "", v.P99)
		add("day-max", m, "", v.Max)
	}
	return figures, nil
}

// asCorpus reads the benchmark of rewriting's corpus, whose floor is pg_query's share of
// a miss.
func asCorpus(s step) step {
	read := s.read
	s.read = func(printed []byte, file string) ([]result.Figure, error) {
		figures, err := read(printed, file)
		for i, f := range figures {
			path := f.Parameters["case"]
			if path == "floor" {
				figures[i].Way, path = "pg_query", "miss"
			}
			figures[i].Parameters = map[string]string{"path": path}
		}
		return figures, err
	}
	return s
}

// asScale reads the benchmark of a large table's life: each of its units is a row, but
// those of package testing.
func asScale(s step) step {
	read := s.read
	s.read = func(printed []byte, file string) ([]result.Figure, error) {
		all, err := read(printed, file)
		return scaleOf(all), err
	}
	return s
}

func scaleOf(all []result.Figure) []result.Figure {
	var figures []result.Figure
	for _, f := range all {
		switch f.Name {
		case "ns/op", "B/op", "allocs/op":
			continue
		}
		f.Parameters["what"] = f.Name
		f.Name = "scale"
		figures = append(figures, f)
	}
	return figures
}
