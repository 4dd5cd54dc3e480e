package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// median is the middle value, or the mean of the two middle ones; 0 of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// quantile is the least of the sorted values that at least a share of them do not exceed;
// 0 of none.
func quantile(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := int(share*float64(len(sorted))+0.999999) - 1
	return sorted[min(max(at, 0), len(sorted)-1)]
}

// ratio compares two ways: the ratio of the medians, and the least and the greatest ratio
// of two runs of the same round.
type ratio struct{ medians, least, greatest float64 }

// compare needs as many values of both, in the order of the rounds.
func compare(of, to []float64) ratio {
	r := ratio{medians: median(of) / median(to)}
	for i := range min(len(of), len(to)) {
		q := of[i] / to[i]
		if i == 0 {
			r.least, r.greatest = q, q
		}
		r.least, r.greatest = min(r.least, q), max(r.greatest, q)
	}
	return r
}

// String is for the tables: 0.97 (0.91 to 1.02). It is empty where there was nothing to
// compare with.
func (r ratio) String() string {
	if math.IsInf(r.medians, 0) || math.IsNaN(r.medians) {
		return ""
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", r.medians, r.least, r.greatest)
}

// table is printed as Markdown, with aligned columns.
type table [][]string

func (t *table) add(cells ...string) { *t = append(*t, cells) }

// write prints the table; its first row is the heading.
func (t *table) write(out io.Writer) {
	widths := make([]int, len((*t)[0]))
	for _, row := range *t {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	for i, row := range *t {
		var line strings.Builder
		for j, cell := range row {
			fmt.Fprintf(&line, "| %-*s ", widths[j], cell)
		}
		fmt.Fprintln(out, line.String()+"|")
		if i == 0 {
			fmt.Fprintln(out, strings.Repeat("| --- ", len(row))+"|")
		}
	}
	fmt.Fprintln(out)
}
