package sync

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/seal"
)

// The store of a sealed table has, in stored_<n>, or in records_<n> of a guarded one with its place in the
// release, the number of each record and its row, encrypted as one. The server that it is on cannot read, compare or copy any value of it. So what is to be known of
// records is asked of memory, and what memory does not hold of them, such as wide values, passes
// through kproxy: it reads the rows, opens them, and writes what is published. That a store is sealed
// makes no other difference to what readers see.
//
// Each generation has a data key of its own, sealed with the operator's, in kproxy_store.seal.

// sealing is how the store of a table is sealed; the zero sealing, not at all.
type sealing struct {
	ring *seal.Ring // the operator's
	box  *seal.Box  // of the table's generation
	// wrapped is the data key of a generation that is being made.
	wrapped seal.WrappedKey
}

// isSealed reports whether the table's rows are sealed.
func (t *layout) isSealed() bool { return t.publication.IsSealed() }

// errUnsealable says why the store of a table cannot be sealed, if so. The configuration refuses what
// it can know of.
func (t *table) errUnsealable() error {
	var why string
	text := func(c catalog.Column) bool { return textWeight(c) == 0 }
	switch {
	case !t.layout.isSealed():
		return nil
	case t.layout.isLinked():
		why = "it is released together with others"
	case !t.isPacked() && !t.layout.isGuarded():
		why = "only tables with one division into classes can be"
	case len(t.layout.audiences) > 0:
		why = "it is published for audiences"
	case t.layout.subject >= 0:
		why = "it has a subject"
	case t.layout.publication.Relation.KeyRepeats:
		why = "its rows have no key"
	case slices.ContainsFunc(t.layout.columns, text):
		c := t.layout.columns[slices.IndexFunc(t.layout.columns, text)]
		why = fmt.Sprintf("column %s has type %s, whose text can change by itself", c.Name, c.Type)
	default:
		return nil
	}
	return fmt.Errorf("the private store of table %s cannot be sealed: %s", t.layout.name(), why)
}

func (t *table) place(generation int64) string { return sealingPlace(t.layout.name(), generation) }

// sealAnew draws a data key for a generation that is made.
func (t *table) sealAnew(generation int64) error {
	if !t.layout.isSealed() {
		return nil
	}
	if t.sealing.ring == nil {
		return internal(errors.New("there is no key to seal the private store with"))
	}
	key := seal.NewDataKey()
	t.sealing.wrapped = t.sealing.ring.Wrap(key, t.place(generation))
	t.sealing.box = seal.NewBox(key, t.layout.columns.names())
	return nil
}

// keepKey has the store keep the data key of a generation that is made.
func (t *table) keepKey() string {
	w := t.sealing.wrapped
	return fmt.Sprintf("INSERT INTO kproxy_store.seal (generation, key, wrapped) VALUES (%d, %s, '\\x%x') ON CONFLICT (generation) DO UPDATE SET key = excluded.key, wrapped = excluded.wrapped",
		t.release.generation, catalog.QuoteLiteral(w.ID), w.Sealed)
}

// unseal finds the data key of a generation of the store.
func (t *table) unseal(ctx context.Context, conn *pgconn.PgConn, generation int64) error {
	if !t.layout.isSealed() {
		return nil
	}
	var found seal.WrappedKey
	err := copyOut(ctx, conn, 2, func(values []value) (err error) {
		found.ID = values[0].text
		if found.Sealed, err = hex.DecodeString(values[1].text); err != nil {
			return errCopyText
		}
		return nil
	}, fmt.Sprintf("SELECT key, pg_catalog.encode(wrapped, 'hex') FROM kproxy_store.seal WHERE generation = %d", generation))
	if err != nil {
		return err
	}
	if found.ID == "" {
		return &TableError{Table: t.layout.name(), What: "the key that its private store is sealed with is gone from kproxy_store.seal", Fix: t.layout.fixStore()}
	}
	key, err := t.sealing.ring.Unwrap(found, t.place(generation))
	switch {
	case errors.Is(err, seal.ErrUnknownKey):
		return errOtherKey(found.ID)
	case err != nil:
		return &TableError{Table: t.layout.name(), What: "the key that its private store is sealed with was changed in kproxy_store.seal, or is another generation's", Fix: t.layout.fixStore()}
	}
	t.sealing.box = seal.NewBox(key, t.layout.columns.names())
	return nil
}

// errOtherKey is a store that is sealed with a key which this process was not given.
func errOtherKey(id string) error {
	return &StopError{
		What: fmt.Sprintf("the private store is sealed with key %s, which is not among those of release.seal", id),
		Fix:  "give kproxy that key; if it is lost, see docs/sealed.md",
	}
}

// errSpoiled is a record whose row cannot be opened.
func (t *layout) errSpoiled() error {
	return &TableError{Table: t.name(), What: "a row of its private store cannot be opened: it was changed there, or belongs elsewhere", Fix: t.fixStore()}
}

// errSmallClass is a class of a sealed store that kproxy cannot have written.
func (t *layout) errSmallClass() error {
	return &TableError{Table: t.name(), What: "a class has fewer records than its constraints demand: it was changed there", Fix: t.fixStore()}
}

// names are those of the columns.
func (c storedColumns) names() []string {
	names := make([]string, len(c))
	for i := range c {
		names[i] = c[i].Name
	}
	return names
}

// into is the table of records with the columns that rows are sent to, some of them for their places.
func (t *table) into(places []storeColumn) string {
	columns := t.layout.columns.list("")
	if t.layout.isSealed() {
		columns = catalog.CiphertextColumn
	}
	return fmt.Sprintf("%s (%s)", t.recordsTable(), strings.Join(append([]string{recordColumn, columns}, columnNames(places)...), ", "))
}

// rowSealer seals rows. It belongs to one goroutine.
type rowSealer struct {
	box           *seal.Box
	plain, sealed []byte
}

// seal seals a record's row, until the next call.
func (s *rowSealer) seal(record int64, values []value) []byte {
	s.plain = s.plain[:0]
	for _, v := range values {
		if v.null {
			s.plain = append(s.plain, 0)
			continue
		}
		s.plain = binary.AppendUvarint(s.plain, uint64(len(v.text))+1)
		s.plain = append(s.plain, v.text...)
	}
	s.sealed = s.box.Seal(s.sealed[:0], record, s.plain)
	return s.sealed
}

// appendField appends a record's row, sealed, as a field of COPY.
func (s *rowSealer) appendField(to []byte, record int64, values []value) []byte {
	return hex.AppendEncode(append(to, `\\x`...), s.seal(record, values))
}

// rowOpener opens rows. It belongs to one goroutine.
type rowOpener struct {
	of    *layout
	box   *seal.Box
	plain []byte
}

func (t *table) opener() *rowOpener { return &rowOpener{of: &t.layout, box: t.sealing.box} }

// open opens a record's row: the values of all stored columns.
func (o *rowOpener) open(record int64, sealed []byte, values []value) (err error) {
	if o.plain, err = o.box.Open(o.plain[:0], record, sealed); err != nil {
		return o.of.errSpoiled()
	}
	at, text := 0, string(o.plain)
	for i := range values {
		length, n := binary.Uvarint(o.plain[at:])
		if at += n; n <= 0 || length > uint64(len(text)-at)+1 {
			return o.of.errSpoiled()
		}
		if length == 0 {
			values[i] = value{null: true}
			continue
		}
		values[i] = value{text: text[at : at+int(length)-1]}
		at += int(length) - 1
	}
	return nil
}

// sealedField is a sealed row as an expression whose text has nothing to escape.
const sealedField = "pg_catalog.encode(" + catalog.CiphertextColumn + ", 'hex')"

// openedRows opens rows on their way from the server, each a line with the number of its record, what else is to be
// known of it, and the sealed row: what is passed on has some of the columns instead of that.
type openedRows struct {
	to      io.Writer
	opener  *rowOpener
	columns []int
	values  []value
	sealed  []byte
	line    []byte // unfinished
	text    []byte
}

func newOpenedRows(t *table, columns []int, to io.Writer) *openedRows {
	return &openedRows{to: to, opener: t.opener(), columns: columns, values: make([]value, len(t.layout.columns))}
}

// Write takes the next piece of the stream. Pieces need not end at a row's end.
func (r *openedRows) Write(piece []byte) (int, error) {
	r.text = r.text[:0]
	rest := piece
	for {
		end := slices.Index(rest, '\n')
		if end < 0 {
			r.line = append(r.line, rest...)
			break
		}
		line := rest[:end]
		if len(r.line) > 0 {
			r.line = append(r.line, line...)
			line = r.line
		}
		if err := r.open(string(line)); err != nil {
			return 0, err
		}
		r.line, rest = r.line[:0], rest[end+1:]
	}
	if len(r.text) > 0 {
		if _, err := r.to.Write(r.text); err != nil {
			return 0, err
		}
	}
	return len(piece), nil
}

func (r *openedRows) open(line string) error {
	end := max(0, strings.LastIndexByte(line, '\t'))
	own, sealed := line[:end], strings.TrimPrefix(line[end:], "\t")
	number, _, _ := strings.Cut(own, "\t")
	record, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return errCopyText
	}
	if r.sealed, err = hex.AppendDecode(r.sealed[:0], []byte(sealed)); err != nil {
		return r.opener.of.errSpoiled() // NULL
	}
	if err := r.opener.open(record, r.sealed, r.values); err != nil {
		return err
	}
	r.text = append(r.text, own...)
	for _, c := range r.columns {
		r.text = appendCopyField(append(r.text, '\t'), r.values[c])
	}
	r.text = append(r.text, '\n')
	return nil
}
