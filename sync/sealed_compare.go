package sync

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"hash"
	"slices"
	"strconv"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// A sealed store cannot be ordered by its keys, nor joined. It is compared with its source by what
// memory has of each record when the store is loaded, which is its key, and by a digest of its row.
// Digests are of all values, keyed at random, so that nobody can have two rows with the same one; they
// take some 40 bytes a record of memory while the comparison lasts.

// rowDigest is the digest of a row.
type rowDigest [16]byte

// rowDigests makes digests. It belongs to one goroutine.
type rowDigests struct {
	mac  hash.Hash
	text []byte
	sum  [sha256.Size]byte
}

func newRowDigests() *rowDigests {
	var key [sha256.Size]byte
	_, _ = rand.Read(key[:]) // it never fails
	return &rowDigests{mac: hmac.New(sha256.New, key[:])}
}

func (d *rowDigests) of(values []value) rowDigest {
	d.text = d.text[:0]
	for _, v := range values {
		if v.null {
			d.text = append(d.text, '-')
			continue
		}
		d.text = append(strconv.AppendInt(d.text, int64(len(v.text)), 10), ':')
		d.text = append(d.text, v.text...)
	}
	d.mac.Reset()
	d.mac.Write(d.text)
	return rowDigest(d.mac.Sum(d.sum[:0])[:len(rowDigest{})])
}

// sealedDifference hands over what difference selects, of a source and a sealed store. The table has
// been loaded from that store.
func (t *table) sealedDifference(ctx context.Context, s *store, row func([]value) error) error {
	digests := newRowDigests()
	stored := make(map[incremental.RecordID]rowDigest)
	query := fmt.Sprintf("SELECT %s, %s FROM %s", recordColumn, sealedField, t.recordsTable())
	all := make([]int, len(t.layout.columns))
	for i := range all {
		all[i] = i
	}
	taken := &copyReader{columns: 1 + len(all), row: func(values []value) error {
		id, err := storedID(values[0])
		if err == nil {
			stored[incremental.RecordID(id)] = digests.of(values[1:])
		}
		return err
	}}
	into := &drainingWriter{reader: newOpenedRows(t, all, taken)}
	if _, err := s.conn.PgConn().CopyTo(ctx, into, "COPY ("+query+") TO STDOUT"); err != nil {
		return err
	}
	if into.failure != nil {
		return into.failure
	}
	query = fmt.Sprintf("SELECT %s FROM %s", t.layout.columns.list(""), t.layout.source().sql())
	err := copyOut(ctx, s.source.PgConn(), len(t.layout.columns), func(values []value) error {
		id, known := t.keys.find(t.keyOf(values))
		before, compared := stored[id]
		switch {
		case !known || !compared:
			return row(slices.Concat([]value{{null: true}, {text: "t"}}, values))
		case before != digests.of(values):
			delete(stored, id)
			return row(slices.Concat([]value{{text: strconv.FormatInt(int64(id), 10)}, {text: "t"}}, values))
		}
		delete(stored, id)
		return nil
	}, query)
	if err != nil {
		return err
	}
	return t.sealedRest(stored, row)
}

// sealedRest hands over the records whose rows the source does not have, with their keys.
func (t *table) sealedRest(gone map[incremental.RecordID]rowDigest, row func([]value) error) error {
	var rows [][]value
	err := t.keys.each(func(key []byte, id incremental.RecordID) error {
		if _, is := gone[id]; !is {
			return nil
		}
		values := make([]value, 2+len(t.layout.columns))
		values[0], values[1] = value{text: strconv.FormatInt(int64(id), 10)}, value{null: true}
		rows = append(rows, values)
		return t.keyInto(key, values[2:])
	})
	if err != nil {
		return err
	}
	slices.SortFunc(rows, func(a, b []value) int { // the order of keys differs between processes
		if order := len(a[0].text) - len(b[0].text); order != 0 {
			return order
		}
		return bytes.Compare([]byte(a[0].text), []byte(b[0].text))
	})
	for _, values := range rows {
		if err := row(values); err != nil {
			return err
		}
	}
	return nil
}

// keyInto takes the key's values out of a text that keyOf has made.
func (t *table) keyInto(key []byte, values []value) error {
	for _, i := range t.layout.key {
		if len(key) > 0 && key[0] == '-' {
			values[i], key = value{null: true}, key[1:]
			continue
		}
		digits, text, found := bytes.Cut(key, []byte(":"))
		length, err := strconv.Atoi(string(digits))
		if err != nil || !found || length > len(text) {
			return errCopyText
		}
		values[i], key = value{text: string(text[:length])}, text[length:]
	}
	return nil
}
