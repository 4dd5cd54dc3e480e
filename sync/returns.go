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

// returnTracker recognizes records of a guarded table that return in a later transaction than the
// one that deleted them, while their former rows are published. If published as new, such a
// person would be in two classes, and readers who kept both could distinguish that person, and
// the others in both classes.
//
// It keeps no key. For each deleted record whose row stays, it keeps a keyed hash of the key
// (HMAC-SHA-256, 128 bits of it), in memory and in kproxy_store.departed, until the record
// returns or the row vanishes. Whoever can read the store, which has the secret too, can test
// guessed keys and find their rows. That of a sealed store is derived from its data key, and not stored.
type returnTracker struct {
	mac    hash.Hash // with the table's secret; nil until a record leaves
	sum    [sha256.Size]byte
	ghosts map[keyHash]lineage.Ghost
	hashes []keyHash // by ghost
	peak   int       // ghosts that there were, since room was given back

	// What the store does not know yet.
	secret   []byte // a new one
	added    map[keyHash]lineage.Left
	removed  []keyHash
	restored int // records that have come back, ever
}

// keyHash stands for a key.
type keyHash [16]byte

func (r *returnTracker) use(secret []byte) {
	r.mac = hmac.New(sha256.New, secret)
	r.ghosts, r.added = make(map[keyHash]lineage.Ghost), make(map[keyHash]lineage.Left)
}

// resume goes on where a generation of the store stands.
func (r *returnTracker) resume(g generation) {
	if r.restored = g.returned; g.secret != nil {
		r.use(g.secret)
	}
}

func (r *returnTracker) hash(key []byte) keyHash {
	r.mac.Reset()
	r.mac.Write(key)
	return keyHash(r.mac.Sum(r.sum[:0])[:len(keyHash{})])
}

// hashDeleted is the hash of the key of a record that leaves. The first one makes the secret.
func (r *returnTracker) hashDeleted(key []byte) keyHash {
	if r.mac == nil {
		r.secret = make([]byte, sha256.Size)
		_, _ = rand.Read(r.secret) // it never fails
		r.use(r.secret)
	}
	return r.hash(key)
}

// add records the ghost of a record by the hash of its key. If several rows had the same key, one
// after another or in a table without a key, the one deleted last is recognized.
func (r *returnTracker) add(h keyHash, left lineage.Left) {
	if earlier, known := r.ghosts[h]; known {
		r.remove(earlier)
	}
	r.know(h, left.Ghost)
	r.added[h] = left
}

func (r *returnTracker) know(h keyHash, g lineage.Ghost) {
	r.ghosts[h] = g
	r.peak = max(r.peak, len(r.ghosts))
	for int(g) >= len(r.hashes) {
		r.hashes = append(r.hashes, keyHash{})
	}
	r.hashes[g] = h
}

// find gives the ghost of a record that comes back.
func (r *returnTracker) find(key []byte) (lineage.Ghost, bool) {
	if len(r.ghosts) == 0 {
		return 0, false
	}
	g, known := r.ghosts[r.hash(key)]
	return g, known
}

// restore notes that a ghost's record has come back, and vanished that its row has gone.
func (r *returnTracker) restore(g lineage.Ghost) {
	r.remove(g)
	r.restored++
}

func (r *returnTracker) remove(g lineage.Ghost) {
	if int(g) >= len(r.hashes) || r.hashes[g] == (keyHash{}) {
		return // another one that left later had the same key
	}
	h := r.hashes[g]
	delete(r.ghosts, h)
	r.hashes[g] = keyHash{}
	if _, untold := r.added[h]; untold {
		delete(r.added, h)
		return
	}
	r.removed = append(r.removed, h)
}

// forget removes all ghosts.
func (r *returnTracker) forget() {
	for _, g := range r.ghosts {
		r.remove(g)
	}
}

// written discards the changes after they were queued for the store, and frees unused memory.
func (r *returnTracker) written() {
	r.secret, r.removed = nil, nil
	few := r.peak > writeChunk && 4*len(r.ghosts) < r.peak
	if len(r.added) > 0 || few {
		r.added = make(map[keyHash]lineage.Left)
	}
	if few {
		r.ghosts, r.peak = maps.Collect(maps.All(r.ghosts)), len(r.ghosts)
	}
	if len(r.ghosts) == 0 {
		r.hashes = nil
	}
}

// writeDeparted queues the added and removed hashes.
func (s *guarded) writeDeparted(batch *statements) {
	r, generation := &s.returns, s.t.release.generation
	if r.secret != nil {
		batch.Queue("UPDATE kproxy_store.generation SET hash_key = $4 WHERE table_schema = $1 AND table_name = $2 AND generation = $3", s.t.layout.name().Schema, s.t.layout.name().Relation, generation, r.secret)
	}
	for chunk := range slices.Chunk(r.removed, writeChunk) {
		hashes := make([][]byte, len(chunk))
		for i := range chunk {
			hashes[i] = chunk[i][:]
		}
		batch.Queue("DELETE FROM kproxy_store.departed WHERE generation = $1 AND hash = ANY($2)", generation, hashes)
	}
	for chunk := range slices.Chunk(slices.Collect(maps.Keys(r.added)), writeChunk) {
		hashes, changed := make([][]byte, len(chunk)), make([]string, len(chunk))
		classes, rows := make([]int64, len(chunk)), make([]int64, len(chunk))
		for i, h := range chunk {
			left := r.added[h]
			hashes[i], classes[i], rows[i], changed[i] = h[:], int64(left.Class), int64(left.Row), left.Changed
		}
		batch.Queue(`INSERT INTO kproxy_store.departed (generation, hash, class, row, changed)
			SELECT $1, * FROM unnest($2::bytea[], $3::bigint[], $4::bigint[], $5::text[])
			ON CONFLICT (generation, hash) DO UPDATE SET class = excluded.class, row = excluded.row, changed = excluded.changed`, generation, hashes, numbers(classes), numbers(rows), changed)
	}
}

// loadDeparted reads the hashes of deleted records after the lineage was loaded.
func (s *guarded) loadDeparted(ctx context.Context, from *storeView) error {
	if s.returns.mac == nil {
		return nil // nobody has
	}
	t := s.t
	columns := []string{"encode(d.hash, 'hex')", "d.class", "d.row", "d.changed"}
	own := len(columns)
	for _, i := range t.layout.copied {
		columns = append(columns, "l."+catalog.QuoteIdentifier(t.layout.columns[i].Name))
	}
	row := make([]value, len(t.layout.columns))
	return copyOut(ctx, from.first, len(columns), func(values []value) error {
		for i, column := range t.layout.copied {
			row[column] = values[own+i]
		}
		return s.formerly(values[:own], t.layout.fingerprints(nil, row, nil))
	}, fmt.Sprintf("SELECT %s FROM kproxy_store.departed AS d LEFT JOIN %s AS l ON l.%s = d.class AND l.%s = d.row WHERE d.generation = %d",
		strings.Join(columns, ", "), t.release.releaseTable(), s.part.column, catalog.RowColumn, t.release.generation))
}

// formerly loads one deleted record.
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
		s.returns.removed = append(s.returns.removed, keyHash(h))
		return nil
	}
	s.returns.know(keyHash(h), ghost)
	return nil
}
