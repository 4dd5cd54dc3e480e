package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

const report = `pgbench (15.20)
number of transactions actually processed: %d
number of failed transactions: 0 (0.000%%)
latency average = 0.125 ms
initial connection time = 3.2 ms
tps = 7990.5 (without initial connection time)
`

func TestReportIsRead(t *testing.T) {
	t.Parallel()
	s, transactions, err := parseReport(strings.Replace(report, "%d", "12000", 1))
	if err != nil || transactions != 12000 || s.rate != 7990.5 || s.mean != 0.125 {
		t.Errorf("%+v, %v transactions, %v", s, transactions, err)
	}
	if _, _, err := parseReport("pgbench: error: connection failed"); err == nil || errors.Is(err, errNone) {
		t.Errorf("of a failure: %v", err)
	}
	// It then has neither a rate nor a latency.
	none := "number of transactions actually processed: 0\nnumber of failed transactions: 0 (NaN%)\n"
	if _, _, err := parseReport(none); !errors.Is(err, errNone) {
		t.Errorf("of none: %v", err)
	}
}

func TestLogIsRead(t *testing.T) {
	t.Parallel()
	got, err := readLog(strings.NewReader("0 1 1500 0 1700000000 1\n3 2 250 0 1700000000 2\n"), []float64{7})
	if want := []float64{7, 1.5, 0.25}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if _, err := readLog(strings.NewReader("0 1\n"), nil); err == nil {
		t.Error("a line cut off was read")
	}
}
