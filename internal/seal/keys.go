// Package seal encrypts the rows of a private store, so that who has the server, its files or its
// backups has nothing of them without a key that kproxy alone is given.
//
// There are two kinds of keys. The operator's keys, a [Ring], seal data keys and nothing else. A
// [DataKey] is drawn for each generation of a table; the store keeps it, sealed. A [Box] seals the
// rows of that generation with it. All of it is AES-256 in Galois/counter mode (NIST SP 800-38D), and
// keys are derived by HKDF with SHA-256 (RFC 5869).
//
// What is sealed is bound to where it belongs: a data key to its table and generation, a row to the
// number of its record and the columns. That a server shows an earlier ciphertext of the same record
// is not noticed.
package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
)

// keySize is the size of all keys in bytes.
const keySize = 32

// Ring is the operator's keys. The first one seals; the others open what was sealed before it was
// theirs to do so.
type Ring struct{ keys []ringKey }

type ringKey struct {
	id     string
	secret [keySize]byte
}

// ParseRing reads keys, each on a line of its own: 32 bytes in base64, or in 64 hexadecimal digits.
// Empty lines, and those that begin with #, say nothing. The error names a line, and nothing of it.
func ParseRing(text []byte) (*Ring, error) {
	r := &Ring{}
	for i, line := range bytes.Split(text, []byte("\n")) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		secret, ok := parseKey(string(line))
		if !ok {
			return nil, fmt.Errorf("line %d is not a key: 32 bytes in base64, or in 64 hexadecimal digits", i+1)
		}
		key := ringKey{id: keyID(secret), secret: secret}
		if r.Has(key.id) {
			return nil, fmt.Errorf("line %d has a key that stands before", i+1)
		}
		r.keys = append(r.keys, key)
	}
	if len(r.keys) == 0 {
		return nil, errors.New("there is no key")
	}
	return r, nil
}

func parseKey(text string) (secret [keySize]byte, ok bool) {
	bytes, err := base64.StdEncoding.DecodeString(text)
	if len(text) == 2*keySize {
		bytes, err = hex.DecodeString(text)
	}
	if err != nil || len(bytes) != keySize {
		return secret, false
	}
	return [keySize]byte(bytes), true
}

// keyID names a key without telling anything of it.
func keyID(secret [keySize]byte) string {
	mac := hmac.New(sha256.New, secret[:])
	mac.Write([]byte("kproxy: name of a key"))
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// First names the key that seals.
func (r *Ring) First() string { return r.keys[0].id }

// Names names all keys, in their order.
func (r *Ring) Names() []string {
	names := make([]string, len(r.keys))
	for i, k := range r.keys {
		names[i] = k.id
	}
	return names
}

// Has reports whether the key of that name is there.
func (r *Ring) Has(id string) bool {
	return slices.ContainsFunc(r.keys, func(k ringKey) bool { return k.id == id })
}

// DataKey seals the rows of one generation of a table.
type DataKey [keySize]byte

// NewDataKey draws a key.
func NewDataKey() (k DataKey) {
	_, _ = rand.Read(k[:]) // it never fails
	return k
}

// WrappedKey is a data key as the store has it.
type WrappedKey struct {
	ID     string // of the operator's key that seals it
	Sealed []byte
}

// What keeps something from being opened.
var (
	// ErrUnknownKey says that the ring does not have the key.
	ErrUnknownKey = errors.New("it is sealed with a key that is not there")
	// ErrSpoiled says that what is sealed is not what was, or belongs elsewhere.
	ErrSpoiled = errors.New("what is sealed was changed, or belongs elsewhere")
)

// Wrap seals a data key with the first key, for a place: a salt, and what GCM makes of the key under a key that
// is derived with the salt and used this once. So any number of data keys can be sealed.
func (r *Ring) Wrap(k DataKey, place string) WrappedKey {
	first, salt := r.keys[0], make([]byte, keySize)
	_, _ = rand.Read(salt) // it never fails
	return WrappedKey{ID: first.id, Sealed: wrapping(first.secret, salt).Seal(salt, onceNonce, k[:], []byte(place))}
}

// onceNonce is the nonce of keys that are used once.
var onceNonce = make([]byte, 12)

// wrapping derives what seals one data key.
func wrapping(secret [keySize]byte, salt []byte) cipher.AEAD {
	derived, err := hkdf.Key(sha256.New, secret[:], salt, "kproxy: data key 1", keySize)
	if err != nil {
		panic(err) // so many bytes can be derived
	}
	return newAEAD(derived)
}

// Unwrap opens a data key that was sealed for a place. The error is ErrUnknownKey or ErrSpoiled.
func (r *Ring) Unwrap(w WrappedKey, place string) (k DataKey, err error) {
	at := slices.IndexFunc(r.keys, func(k ringKey) bool { return k.id == w.ID })
	if at < 0 {
		return k, ErrUnknownKey
	}
	if len(w.Sealed) < keySize {
		return k, ErrSpoiled
	}
	opened, err := wrapping(r.keys[at].secret, w.Sealed[:keySize]).Open(nil, onceNonce, w.Sealed[keySize:], []byte(place))
	if err != nil || len(opened) != keySize {
		return k, ErrSpoiled
	}
	return DataKey(opened), nil
}

// newAEAD is AES-256-GCM with a key of keySize bytes.
func newAEAD(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // the size is right
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return aead
}
