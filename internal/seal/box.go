package seal

import (
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"strings"
	gosync "sync"
	"sync/atomic"
)

// A sealed row is a byte that says how, a salt, a counter, and what GCM makes of the row. The salt is
// drawn and derives a key, and the counter is the nonce: no two rows have the same key and nonce unless
// the same salt is drawn twice.
const (
	rowForm   = 1
	saltSize  = 12
	countSize = 8
	headSize  = 1 + saltSize + countSize
	tagSize   = 16
	// Overhead is how many bytes a sealed row is longer than the row, padded.
	Overhead = headSize + tagSize
)

// padTo is what the length of rows is padded to, so that it tells little of the lengths of values. It is the
// size of AES's blocks.
const padTo = 16

// maxBlocks is how many blocks one derived key encrypts, 16 TiB: what it has encrypted is told from random bytes with
// a probability below 2^-48 then. Another salt is drawn for those that follow.
const maxBlocks = 1 << 40

// Box seals and opens rows with one data key. Its methods may be called at the same time.
type Box struct {
	key     DataKey
	context string // what derived keys are bound to
	sealing atomic.Pointer[sealer]
	opening gosync.Map // by salt: those with which something was opened
	// most is maxBlocks.
	most uint64
}

// sealer is a derived key that seals. It counts blocks, so that its nonces are those of where rows begin.
type sealer struct {
	salt [saltSize]byte
	aead cipher.AEAD
	done atomic.Uint64 // blocks
}

// NewBox makes a box for rows of some columns.
func NewBox(key DataKey, columns []string) *Box {
	b := &Box{key: key, context: "kproxy: rows 1\x00" + strings.Join(columns, "\x00"), most: maxBlocks}
	b.renew(nil)
	return b
}

// Secret derives 32 bytes from the data key for a purpose, which tell nothing of it, nor of those for other purposes.
func (b *Box) Secret(purpose string) []byte {
	secret, err := hkdf.Key(sha256.New, b.key[:], nil, "kproxy: secret 1\x00"+purpose, keySize)
	if err != nil {
		panic(err) // so many bytes can be derived
	}
	return secret
}

// renew has another derived key seal, unless somebody else has seen to that.
func (b *Box) renew(spent *sealer) {
	s := &sealer{}
	_, _ = rand.Read(s.salt[:]) // it never fails
	s.aead = b.derive(s.salt)
	if b.sealing.CompareAndSwap(spent, s) {
		b.opening.Store(s.salt, s.aead)
	}
}

// take takes blocks of a derived key, and returns where they begin.
func (b *Box) take(blocks uint64) (*sealer, uint64) {
	for {
		s := b.sealing.Load()
		if end := s.done.Add(blocks); end <= b.most || end == blocks { // a row that is longer than the bound has a key of its own
			return s, end - blocks
		}
		b.renew(s)
	}
}

func (b *Box) derive(salt [saltSize]byte) cipher.AEAD {
	derived, err := hkdf.Key(sha256.New, b.key[:], salt[:], b.context, keySize)
	if err != nil {
		panic(err) // so many bytes can be derived
	}
	return newAEAD(derived)
}

// Seal appends a record's row, sealed, to a text. Zero bytes are put behind the row, as far as it is
// not of a length that is to be seen.
func (b *Box) Seal(to []byte, record int64, row []byte) []byte {
	var nonce [12]byte
	var of [8]byte
	s, at := b.take(uint64(len(row)+padTo-1)/padTo + 1) // the tag takes one
	binary.BigEndian.PutUint64(nonce[4:], at)
	binary.BigEndian.PutUint64(of[:], uint64(record))
	to = append(append(append(to, rowForm), s.salt[:]...), nonce[4:]...)
	from := len(to)
	to = append(to, row...)
	if more := len(row) % padTo; more > 0 {
		to = append(to, make([]byte, padTo-more)...)
	}
	return s.aead.Seal(to[:from], nonce[:], to[from:], of[:])
}

// Open appends what was sealed of a record to a text, with the zero bytes behind it. The error is
// ErrSpoiled.
func (b *Box) Open(to []byte, record int64, sealed []byte) ([]byte, error) {
	if len(sealed) < Overhead || sealed[0] != rowForm {
		return to, ErrSpoiled
	}
	var nonce [12]byte
	var of [8]byte
	salt := [saltSize]byte(sealed[1:])
	copy(nonce[4:], sealed[1+saltSize:headSize])
	binary.BigEndian.PutUint64(of[:], uint64(record))
	known, is := b.opening.Load(salt)
	if !is {
		known = b.derive(salt)
	}
	opened, err := known.(cipher.AEAD).Open(to, nonce[:], sealed[headSize:], of[:])
	if err != nil {
		return to, ErrSpoiled
	}
	if !is { // salts that are made up take no room
		b.opening.Store(salt, known)
	}
	return opened, nil
}
