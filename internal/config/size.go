package config

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
)

var sized = regexp.MustCompile(`^([0-9]{1,18}) ?(B|kB|MB|GB|TB)$`)

// sizeUnits are PostgreSQL's units of memory, which are powers of 1024 (chapter
// "Parameter Names and Values").
var sizeUnits = map[string]int64{"B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}

// parseSize reads a number of bytes with its unit; 0 needs none. It is false for all
// else. What is more than an int64 holds becomes the greatest one.
func parseSize(text string) (int64, bool) {
	if text == "0" {
		return 0, true
	}
	parts := sized.FindStringSubmatch(text)
	if parts == nil {
		return 0, false
	}
	number, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return 0, false
	}
	unit := sizeUnits[parts[2]]
	if number > math.MaxInt64/unit {
		return math.MaxInt64, true
	}
	return number * unit, true
}

// sizeUpTo parses a number of bytes with its unit.
func sizeUpTo(most string) func(*decoder, string, string) (any, string, string) {
	bound, ok := parseSize(most)
	if !ok {
		panic("a size in a tag is wrong: " + most)
	}
	return func(_ *decoder, what, text string) (value any, wrong, fix string) {
		switch value, ok := parseSize(text); {
		case !ok:
			return nil, what + " is not a size", "write a whole number with its unit, B, kB, MB, GB or TB: for example 512MB or 10GB"
		case value > bound:
			return nil, what + " is out of range", fmt.Sprintf("write a size between 0 and %s", most)
		default:
			return value, "", ""
		}
	}
}
