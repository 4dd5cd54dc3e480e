package config

import (
	"fmt"
	"math"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
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

// storeSize reads a number of bytes with its unit; zero means no bound.
func (r *reader) storeSize(to *int64, what string, most int64) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if r.asks(n, ShapeSize) {
			r.byDefault(n, writeSize(*to))
			return
		}
		text, ok := r.setting(n, what)
		if !ok {
			return
		}
		n = r.follow(n)
		switch value, ok := parseSize(text); {
		case !ok:
			r.wrong(n, what+" is not a size", "write a whole number with its unit, B, kB, MB, GB or TB: for example 512MB or 10GB")
		case value > most:
			r.wrong(n, what+" is out of range", fmt.Sprintf("write a size between 0 and %dTB", most/sizeUnits["TB"]))
		default:
			*to = value
		}
	}
}
