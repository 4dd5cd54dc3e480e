package sync

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/catalog"
)

// returning recognizes records of a guarded table that come back in a later transaction of the
// source than the one in which they left, while the rows that they left are published. Published
// anew, such a person would be in two classes, and readers who kept both could tell him, and
// everybody else in them, apart.
//
// No key is kept. Of each record whose row stays there is a keyed hash of its key (HMAC-SHA-256,
// 128 bits of it), in memory and in kproxy_store.departed, until the record comes back or the row
// vanishes. Who can read the store, where the secret lies beside the records, can try keys and
// find the row of one that he guesses.
type returning struct {
	mac    hash.Hash // with the table's secret; nil until a record leaves
	sum    [sha256.Size]byte
	ghosts map[keyHash]lineage.Ghost
	hashes []keyHash // by ghost
	most   int       // ghosts that there were, since room was given back

	// What the store does not know yet.
	secret []byte // a new one
	come   map[keyHash]lineage.Left
	gone   []keyHash
	back   int // records that have come back, ever
}

// keyHash stands for a key.
type keyHash [16]byte

func (r *returning) use(secret []byte) {
	r.mac = hmac.New(sha256.New, secret)
	r.ghosts, r.come = make(map[keyHash]lineage.Ghost), make(map[keyHash]lineage.Left)
}

// resume goes on where a generation of the store stands.
func (r *returning) resume(g generation) {
	if r.back = g.returned; g.secret != nil {
		r.use(g.secret)
	}
}

func (r *returning) hash(key []byte) keyHash {
	r.mac.Reset()
	r.mac.Write(key)
	return keyHash(r.mac.Sum(r.sum[:0])[:len(keyHash{})])
}

// hashOfLeaving is the hash of the key of a record that leaves. The first one makes the secret.
func (r *returning) hashOfLeaving(key []byte) keyHash {
	if r.mac == nil {
		r.secret = make([]byte, sha256.Size)
		_, _ = rand.Read(r.secret) // it never fails
		r.use(r.secret)
	}
	return r.hash(key)
}

// left notes what stays of a record whose key has the hash. Of several rows that had the same
// key, one after the other or without a key, the last one left is recognized.
func (r *returning) left(h keyHash, left lineage.Left) {
	if earlier, known := r.ghosts[h]; known {
		r.vanished(earlier)
	}
	r.know(h, left.Ghost)
	r.come[h] = left
}

func (r *returning) know(h keyHash, g lineage.Ghost) {
	r.ghosts[h] = g
	r.most = max(r.most, len(r.ghosts))
	for int(g) >= len(r.hashes) {
		r.hashes = append(r.hashes, keyHash{})
	}
	r.hashes[g] = h
}

// find gives the ghost of a record that comes back.
func (r *returning) find(key []byte) (lineage.Ghost, bool) {
	if len(r.ghosts) == 0 {
		return 0, false
	}
	g, known := r.ghosts[r.hash(key)]
	return g, known
}

// returned notes that a ghost's record has come back, and vanished that its row has gone.
func (r *returning) returned(g lineage.Ghost) {
	r.vanished(g)
	r.back++
}

func (r *returning) vanished(g lineage.Ghost) {
	if int(g) >= len(r.hashes) || r.hashes[g] == (keyHash{}) {
		return // another one that left later had the same key
	}
	h := r.hashes[g]
	delete(r.ghosts, h)
	r.hashes[g] = keyHash{}
	if _, untold := r.come[h]; untold {
		delete(r.come, h)
		return
	}
	r.gone = append(r.gone, h)
}

// forget forgets everybody who has left.
func (r *returning) forget() {
	for _, g := range r.ghosts {
		r.vanished(g)
	}
}

// written forgets what the store has been told, and gives back the room of many.
func (r *returning) written() {
	r.secret, r.gone = nil, nil
	few := r.most > writeChunk && 4*len(r.ghosts) < r.most
	if len(r.come) > 0 || few {
		r.come = make(map[keyHash]lineage.Left)
	}
	if few {
		r.ghosts, r.most = maps.Collect(maps.All(r.ghosts)), len(r.ghosts)
	}
	if len(r.ghosts) == 0 {
		r.hashes = nil
	}
}

// writeDeparted tells the store who has left, and of whom nothing stays.
func (s *guarded) writeDeparted(batch *sink) {
	r, generation := &s.returning, s.t.generation
	if r.secret != nil {
		batch.Queue("UPDATE kproxy_store.generation SET hash_key = $4 WHERE table_schema = $1 AND table_name = $2 AND generation = $3", s.t.name().Schema, s.t.name().Relation, generation, r.secret)
	}
	for chunk := range slices.Chunk(r.gone, writeChunk) {
		hashes := make([][]byte, len(chunk))
		for i := range chunk {
			hashes[i] = chunk[i][:]
		}
		batch.Queue("DELETE FROM kproxy_store.departed WHERE generation = $1 AND hash = ANY($2)", generation, hashes)
	}
	for chunk := range slices.Chunk(slices.Collect(maps.Keys(r.come)), writeChunk) {
		hashes, changed := make([][]byte, len(chunk)), make([]string, len(chunk))
		classes, rows := make([]int64, len(chunk)), make([]int64, len(chunk))
		for i, h := range chunk {
			left := r.come[h]
			hashes[i], classes[i], rows[i], changed[i] = h[:], int64(left.Class), int64(left.Row), left.Changed
		}
		batch.Queue(`INSERT INTO kproxy_store.departed (generation, hash, class, row, changed)
			SELECT $1, * FROM unnest($2::bytea[], $3::bigint[], $4::bigint[], $5::text[])
			ON CONFLICT (generation, hash) DO UPDATE SET class = excluded.class, row = excluded.row, changed = excluded.changed`, generation, hashes, numbers(classes), numbers(rows), changed)
	}
}

// loadDeparted reads who has left, once the lineage is loaded.
func (s *guarded) loadDeparted(ctx context.Context, from *storeView) error {
	if s.returning.mac == nil {
		return nil // nobody has
	}
	t := s.t
	columns := []string{"encode(d.hash, 'hex')", "d.class", "d.row", "d.changed"}
	own := len(columns)
	for _, i := range t.copied {
		columns = append(columns, "l."+catalog.QuoteIdentifier(t.columns[i].Name))
	}
	row := make([]value, len(t.columns))
	return copyOut(ctx, from.first, len(columns), func(values []value) error {
		for i, column := range t.copied {
			row[column] = values[own+i]
		}
		return s.formerly(values[:own], t.fingerprints(nil, row, nil))
	}, fmt.Sprintf("SELECT %s FROM kproxy_store.departed AS d LEFT JOIN %s AS l ON l.%s = d.class AND l.%s = d.row WHERE d.generation = %d",
		strings.Join(columns, ", "), t.releaseTable(), s.part.column, catalog.RowColumn, t.generation))
}

// formerly takes over one who has left.
func (s *guarded) formerly(own []value, copied []uint64) error {
	h, err := hex.DecodeString(own[0].text)
	if err != nil || len(h) != len(keyHash{}) {
		return errCopyText
	}
	class, err := storedID(own[1])
	if err != nil {
		return err
	}
	id, err := storedID(own[2])
	if err != nil {
		return err
	}
	ghost, is, err := s.lineage.LoadGhost(lineage.Left{Class: incremental.ClassID(class), Row: lineage.RowID(id), Changed: own[3].text}, copied)
	if err != nil {
		return internal(err)
	}
	if !is { // an earlier version, which does not know of hashes, has applied meanwhile
		s.returning.gone = append(s.returning.gone, keyHash(h))
		return nil
	}
	s.returning.know(keyHash(h), ghost)
	return nil
}
