package config

import (
	"math"
	"testing"
)

func TestSizesHavePostgreSQLsUnits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "0GB": 0, "7B": 7, "1kB": 1024, "512MB": 512 << 20, "10GB": 10 << 30, "10 GB": 10 << 30, "1TB": 1 << 40,
		"999999999999999999TB": math.MaxInt64,
	} {
		if got, ok := parseSize(text); !ok || got != want {
			t.Errorf("%s: %d, %t; want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "1", "GB", "-1GB", "1.5GB", "1gb", "1KB", "1GiB", "1  GB", "1GB ", "1000000000000000000B", "0x1MB"} {
		if got, ok := parseSize(text); ok {
			t.Errorf("%s is read as %d", text, got)
		}
	}
}
