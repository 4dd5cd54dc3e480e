// Package pseudonym numbers rows so that no number tells of another one. Generator is the entry
// point.
package pseudonym

import (
	"crypto/aes"
	"crypto/cipher"
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/kproxy/kproxy/anonymizer/people"
)

// Generator numbers the rows of a table by a secret permutation: no two numbers are the
// same, and none tells of another one, or of when it was given. The permutation is a Feistel
// network with rounds of AES, walked until it is in range (Black and Rogaway 2002).
type Generator struct {
	key    [16]byte
	secret cipher.Block
	half   uint // bits of each half
	limit  uint64
	given  uint64
}

// ErrAllGiven ends a generator, after which there are others.
var ErrAllGiven = errors.New("all pseudonyms of a table have been given")

// New makes a generator of numbers between 1 and 2^bits - 1, with a secret of its own.
func New(bits int) (*Generator, error) {
	var key [16]byte
	if _, err := crand.Read(key[:]); err != nil {
		return nil, fmt.Errorf("drawing a secret: %w", err)
	}
	secret, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, fmt.Errorf("drawing a secret: %w", err)
	}
	return &Generator{key: key, secret: secret, half: uint(bits+1) / 2, limit: 1 << bits}, nil
}

// State is what Resume goes on from.
func (p *Generator) State() []byte { return binary.LittleEndian.AppendUint64(p.key[:], p.given) }

// Resume goes on where another one stood, so that no number is given twice.
func (p *Generator) Resume(state []byte) error {
	if len(state) != len(p.key)+8 {
		return errors.New("what pseudonyms are made of is not in the store")
	}
	secret, err := aes.NewCipher(state[:len(p.key)])
	if err != nil {
		return fmt.Errorf("taking over a secret: %w", err)
	}
	p.key, p.secret, p.given = [16]byte(state), secret, binary.LittleEndian.Uint64(state[len(p.key):])
	return nil
}

// Sealed is a key as the store has it of who has left: only with the secret, which the store has
// elsewhere, can guessed keys be tested.
func (p *Generator) Sealed(key people.Key) []byte {
	var block people.Key
	p.secret.Encrypt(block[:], key[:])
	return block[:]
}

// Unsealed is the key of Sealed.
func (p *Generator) Unsealed(block people.Key) (key people.Key) {
	p.secret.Decrypt(key[:], block[:])
	return key
}

// Next is a further pseudonym, between 1 and 2^bits - 1. All of them are given once; the
// next session has another secret, and all again.
func (p *Generator) Next() (uint64, error) {
	if p.given++; p.given >= p.limit {
		return 0, ErrAllGiven
	}
	for at := p.permuted(p.given); ; at = p.permuted(at) {
		if at != 0 && at < p.limit {
			return at, nil
		}
	}
}

// feistelRounds is twice what makes a network of ideal rounds indistinguishable from a random
// permutation.
const feistelRounds = 8

func (p *Generator) permuted(number uint64) uint64 {
	mask := uint64(1)<<p.half - 1
	left, right := number>>p.half, number&mask
	var block [aes.BlockSize]byte
	for round := range uint64(feistelRounds) {
		clear(block[:])
		binary.LittleEndian.PutUint64(block[:8], right)
		block[8] = byte(round)
		p.secret.Encrypt(block[:], block[:])
		left, right = right, left^binary.LittleEndian.Uint64(block[:8])&mask
	}
	return left<<p.half | right
}
