package integration

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/jackc/pgx/v5"
)

// Markers: raw is in rows, hidden in definitions.
const (
	rawMarker    = "qvzcanary"
	hiddenMarker = "qvzmeta"
)

const canaryTables = `
tables:
  public.people:
    method: rounded-partition
    updates: immediate
    constraints: [{k: 5}, {l: 2, of: illness}]
    unpublishable: withhold
    acknowledge: {joinable: [cost]}
    columns:
      id: identifying
      name: identifying
      account: {role: quasi-identifying, hierarchy: numeric, publish: value}
      born: {role: quasi-identifying, hierarchy: date, publish: value}
      town: {role: quasi-identifying, hierarchy: categorical}
      postcode: {role: quasi-identifying, hierarchy: prefix}
      illness: sensitive
      cost: sensitive
  public.ledger:
    method: rounded-partition
    updates: immediate
    constraints: [{k: 5}]
    unpublishable: withhold
    columns:
      holder: identifying
      amount: {role: quasi-identifying, hierarchy: numeric, publish: value}
      kind: sensitive
readable: [public.codes]
`

// canarySite serves the canary's tables.
func canarySite(t *testing.T) *site {
	t.Helper()
	statements, err := os.ReadFile("testdata/canary.sql")
	if err != nil {
		t.Fatal(err)
	}
	return ready(t, sqlSite(string(statements), canaryTables))
}

// canary is something that no client may receive.
type canary struct {
	kind string // "value", or what of the database's inside it gives away
	what string
	// bytes are four at least; letters are looked for as they are and in lower case.
	bytes []byte
	// whole looks for it where no digit stands beside it.
	whole bool
}

type canaries []canary

// found names the first canary in received bytes.
func (c canaries) found(received []byte) string {
	for canary := range c.in(received) {
		return fmt.Sprintf("%s (%q)", canary.what, canary.bytes)
	}
	return ""
}

// kinds are the kinds of canaries in received bytes, sorted. Names that the client
// sent itself may come back in an error: those are not counted.
func (c canaries) kinds(received []byte, sent string) []string {
	sent = strings.ToLower(sent)
	var kinds []string
	for canary := range c.in(received) {
		if !slices.Contains(kinds, canary.kind) && (canary.kind == "value" || !strings.Contains(sent, string(canary.bytes))) {
			kinds = append(kinds, canary.kind)
		}
	}
	slices.Sort(kinds)
	return kinds
}

// in yields the canaries in received bytes, once for each place. All are looked for
// at once, by the four bytes that they begin with: answers can be long.
func (c canaries) in(received []byte) iter.Seq[canary] {
	return func(yield func(canary) bool) {
		lower := bytes.Clone(received)
		for i, b := range lower {
			if b >= 'A' && b <= 'Z' {
				lower[i] = b + 'a' - 'A'
			}
		}
		starts := make(map[uint32][]canary)
		var some [1 << 16]bool // of the starts, by their hash
		for _, canary := range c {
			start := binary.BigEndian.Uint32(canary.bytes)
			starts[start] = append(starts[start], canary)
			some[start*2654435769>>16] = true
		}
		for _, within := range [][]byte{received, lower} {
			for i := range max(len(within)-3, 0) {
				start := binary.BigEndian.Uint32(within[i:])
				if !some[start*2654435769>>16] {
					continue
				}
				for _, canary := range starts[start] {
					if canary.at(within, i) && !yield(canary) {
						return
					}
				}
			}
		}
	}
}

func (c canary) at(within []byte, i int) bool {
	end := i + len(c.bytes)
	if !bytes.HasPrefix(within[i:], c.bytes) {
		return false
	}
	before := i > 0 && digitOrPoint(within[i-1])
	after := end < len(within) && digitOrPoint(within[end])
	return !c.whole || !before && !after
}

func digitOrPoint(b byte) bool { return b >= '0' && b <= '9' || b == '.' }

// spellings are the ways in which functions, formats and encodings may show a text of
// lower-case letters.
func spellings(kind, what, text string) canaries {
	reversed := []byte(text)
	slices.Reverse(reversed)
	c := canaries{
		{kind: kind, what: what, bytes: []byte(text)},
		{kind: kind, what: what + ", reversed", bytes: reversed},
		{kind: kind, what: what + " in hexadecimal", bytes: []byte(hex.EncodeToString([]byte(text)))},
		{kind: kind, what: what + " in capitals, in hexadecimal", bytes: []byte(hex.EncodeToString([]byte(strings.ToUpper(text))))},
		{kind: kind, what: what + " in UTF-16", bytes: inUTF16(text)},
	}
	// The base64 digits that the text alone decides, for each place at which it can
	// begin in a group of three bytes.
	for lead := range 3 {
		padded := slices.Concat(make([]byte, lead), []byte(text))
		encoded := base64.StdEncoding.EncodeToString(padded[:len(padded)/3*3])
		skip := (lead*8 + 5) / 6
		c = append(c, canary{kind: kind, what: what + " in base64", bytes: []byte(encoded[skip:])})
	}
	return c
}

func inUTF16(text string) []byte {
	var b []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, unit)
	}
	return b[:len(b)-1] // the last zero belongs to big-endian text as little as the first
}

// numbered are the ways in which a large number can be shown.
func numbered(kind, what string, n int64) canaries {
	c := canaries{
		{kind: kind, what: what, bytes: []byte(fmt.Sprint(n))},
		{kind: kind, what: what + " in binary", bytes: binary.BigEndian.AppendUint64(nil, uint64(n))},
		{kind: kind, what: what + " as a binary double", bytes: binary.BigEndian.AppendUint64(nil, math.Float64bits(float64(n)))},
		{kind: kind, what: what + " as a binary numeric", bytes: inNumeric(n)},
	}
	if n > math.MaxUint32 { // eight hexadecimal digits occur by chance
		c = append(c, canary{kind: kind, what: what + " in hexadecimal", bytes: []byte(strconv.FormatInt(n, 16))})
	}
	return c
}

// counted are the ways in which a number of rows can be shown.
func counted(n int64) canaries {
	text := []byte(fmt.Sprint(n))
	field := binary.BigEndian.AppendUint32([]byte{0, 0, 0, 4}, uint32(n))
	estimate := binary.BigEndian.AppendUint32([]byte{0, 0, 0, 4}, math.Float32bits(float32(n)))
	return canaries{
		{kind: "count", what: "a hidden table's number of rows", bytes: text, whole: true},
		{kind: "count", what: "a hidden table's number of rows in binary", bytes: binary.BigEndian.AppendUint64(nil, uint64(n))},
		{kind: "count", what: "a hidden table's number of rows in binary", bytes: field},
		{kind: "count", what: "a hidden table's number of rows as pg_class has it", bytes: estimate},
	}
}

// inNumeric is a number in the base of 10,000 in which type numeric sends it.
func inNumeric(n int64) []byte {
	var b []byte
	for ; n > 0; n /= 10000 {
		b = append([]byte{byte(n % 10000 >> 8), byte(n % 10000)}, b...)
	}
	return b
}

// rawCanaries collects the raw values of the protected tables, as text and as
// PostgreSQL's binary format shows them. Values that are published by chance
// are left out; there must be next to none.
func rawCanaries(t *testing.T, conn *pgx.Conn) canaries {
	t.Helper()
	c := spellings("value", "a raw text", rawMarker)
	published := make(map[int64]bool)
	for _, n := range numbers(t, conn, `SELECT account FROM kproxy_release_public.people UNION SELECT amount FROM kproxy_release_public.ledger`) {
		published[n] = true
	}
	chance := 0
	for _, n := range numbers(t, conn, "SELECT id FROM people UNION SELECT account FROM people UNION SELECT id FROM ledger UNION SELECT amount FROM ledger") {
		if published[n] {
			chance++
			continue
		}
		c = append(c, numbered("value", "a raw number", n)...)
	}
	published = make(map[int64]bool)
	for _, n := range numbers(t, conn, "SELECT DISTINCT born - date '2000-01-01' FROM kproxy_release_public.people") {
		published[n] = true
	}
	for _, n := range numbers(t, conn, "SELECT born - date '2000-01-01' FROM people") {
		if published[n] {
			chance++
			continue
		}
		date := scalar[string](t, conn, "SELECT (date '2000-01-01' + $1::int)::text", n)
		// A field of four bytes: days since 2000.
		field := binary.BigEndian.AppendUint32([]byte{0, 0, 0, 4}, uint32(n))
		c = append(c, canary{kind: "value", what: "a raw date", bytes: []byte(date)},
			canary{kind: "value", what: "a raw date in binary", bytes: field})
	}
	if chance > 5 || len(c) < 500 {
		t.Fatalf("%d canaries, of which %d more are published", len(c), chance)
	}
	return c
}

func numbers(t *testing.T, conn *pgx.Conn, sql string) []int64 {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		t.Fatal(err)
	}
	return all
}
