package rewrite

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kproxy/kproxy/catalog"
)

// sessionKeys tell sessions apart in which one text may mean different things; texts have been
// decoded. They are made when they are first asked for: most states of a session are left before
// a text runs in them.
type sessionKeys struct {
	once sync.Once
	// any is the same for sessions that differ in nothing but their user; it is empty
	// for one that has done nothing. user is the same for sessions of one user whose
	// path leads through the schema of that name; empty for other sessions.
	any, user string
}

// keyed gives a session keys of its own.
func (s Session) keyed() *Session {
	s.keys = new(sessionKeys)
	return &s
}

// cacheKey is the same for sessions in which every text means the same.
func (s *Session) cacheKey(snapshot *catalog.Snapshot) string {
	if s == nil || s.keys == nil {
		return ""
	}
	s.keys.once.Do(s.makeKeys)
	if s.keys.user != "" && snapshot.HasSchema(s.user) {
		return s.keys.user
	}
	return s.keys.any
}

// makeKeys makes the keys. What is on the stack matters only to texts that undo it before they go
// on, and then every detail of it does. Without such a text, all transactions and savepoints lead
// back to the same state, so they need not be distinguished.
func (s *Session) makeKeys() {
	var k key
	if s.path.now.text != defaultPath || s.path.reset != defaultPath {
		k.strings("path", s.path.now.text, s.path.reset)
	}
	if s.undoable() {
		k.strings("undo")
		k.flags(s.path.now.session, s.block, s.failed)
		k.number(len(s.path.stack))
		for _, found := range s.path.stack {
			k.number(found.level)
			k.number(int(found.action))
			k.strings(found.prior.text, found.masked.text)
			k.flags(found.prior.session, found.masked.session)
		}
		k.number(len(s.levels))
		var outside []temporaryTable
		for _, l := range s.levels {
			k.strings(l.savepoint)
			same := sameTemporary(l.temporary, outside)
			if k.flags(same); !same {
				k.tables(l.temporary)
			}
			outside = l.temporary
		}
	}
	if s.full() {
		k.strings("full") // where SAVEPOINT is refused
	}
	if len(s.temporary) > 0 {
		k.strings("temporary")
		k.tables(s.temporary)
	}
	s.keys.any = k.sum()
	if s.user != "" && namesUser(s.path) {
		k.strings("user", s.user)
		s.keys.user = k.sum()
	}
}

// undoable says whether ending a transaction or a savepoint changes what names mean.
func (s *Session) undoable() bool {
	if len(s.path.stack) > 0 {
		return true
	}
	for _, l := range s.levels {
		if !sameTemporary(l.temporary, s.temporary) {
			return true
		}
	}
	for _, t := range s.temporary {
		if t.dropped {
			return true
		}
	}
	return false
}

// levelOverhead and tableOverhead are what a savepoint, or a value that it leads back to, and a
// temporary table cost in addition to their names, in bytes, rounded up.
const (
	levelOverhead = 64
	tableOverhead = 64
)

// full says whether no more savepoints fit inside those that are open. Between two of
// them a session can add one path, one encoding and its tables only.
func (s *Session) full() bool {
	if len(s.levels) > maxNesting {
		return true
	}
	size := 0
	for _, found := range slices.Concat(s.path.stack, s.encoding.stack) {
		size += levelOverhead + len(found.prior.text) + len(found.masked.text)
	}
	var outside []temporaryTable
	for _, l := range s.levels {
		size += levelOverhead + len(l.savepoint)
		if !sameTemporary(l.temporary, outside) {
			size += tableOverhead * len(l.temporary)
		}
		outside = l.temporary
	}
	return size > maxStackBytes
}

// key is a hash of parts, each with its length. A session may have hundreds of kilobytes of them,
// and its key is part of each entry of the cache.
type key struct{ hash hash.Hash }

func (k *key) write(part []byte) {
	if k.hash == nil {
		k.hash = sha256.New()
	}
	k.hash.Write(part)
}

func (k *key) number(n int) { k.write(binary.BigEndian.AppendUint64(nil, uint64(n))) }

func (k *key) strings(texts ...string) {
	for _, text := range texts {
		k.number(len(text))
		k.write([]byte(text))
	}
}

func (k *key) flags(flags ...bool) {
	for _, flag := range flags {
		k.write(strconv.AppendBool(nil, flag))
	}
}

func (k *key) tables(tables []temporaryTable) {
	k.number(len(tables))
	for _, t := range tables {
		k.strings(t.name)
		k.flags(t.dropped)
	}
}

// sum is empty where there are no parts.
func (k *key) sum() string {
	if k.hash == nil {
		return ""
	}
	return string(k.hash.Sum(nil))
}

// namesUser says whether a path, now or after it was reset or undone, leads through
// the schema of the user's name.
func namesUser(s setting) bool {
	if mentionsUser(s.reset) || mentionsUser(s.now.text) {
		return true
	}
	for _, k := range s.stack {
		if mentionsUser(k.prior.text) || mentionsUser(k.masked.text) {
			return true
		}
	}
	return false
}

// mentionsUser may be true of a path that has the word in the name of a schema. Entries
// without quotes are folded, as splitPath does.
func mentionsUser(path string) bool { return strings.Contains(lowerASCII(path), userSchema) }
