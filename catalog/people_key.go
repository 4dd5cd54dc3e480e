package catalog

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/people"
)

// KeyDigest stands for a key, given the Canonical texts of its values. Two keys of one table
// have the same digest with a probability of the square of their number by 2^129.
func KeyDigest(texts ...string) people.Key {
	hash := sha256.New()
	var length [8]byte
	for _, text := range texts {
		binary.LittleEndian.PutUint64(length[:], uint64(len(text)))
		hash.Write(length[:])
		hash.Write([]byte(text))
	}
	return people.Key(hash.Sum(nil)[:len(people.Key{})])
}

// MonthOf is the month of a date or a point in time, counted from January of the year 0. It
// is false for infinities, and for what is no date.
func MonthOf(text string) (month int32, ok bool) {
	year, rest, _ := strings.Cut(text, "-")
	name, _, _ := strings.Cut(rest, "-")
	y, err := strconv.Atoi(year)
	if err != nil || y > 1_000_000 { // PostgreSQL's dates end before
		return 0, false
	}
	m, err := strconv.Atoi(name)
	if err != nil || m < 1 || m > 12 {
		return 0, false
	}
	if strings.HasSuffix(text, " BC") {
		y = 1 - y // there is no year 0 before Christ
	}
	return int32(12*y + m - 1), true
}
