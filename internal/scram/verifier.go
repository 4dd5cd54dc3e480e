// Package scram makes and parses SCRAM-SHA-256 verifiers in the form that PostgreSQL
// stores (RFC 5802, RFC 7677; PostgreSQL, chapter pg_authid). A library implements the
// exchange itself.
package scram

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/xdg-go/scram"
)

const (
	prefix = "SCRAM-SHA-256$"

	// MinIterations is RFC 7677's minimum and PostgreSQL's default
	// (SCRAM_SHA_256_DEFAULT_ITERATIONS).
	MinIterations = 4096
	// MaxIterations bounds the work that a client has to do.
	MaxIterations = 10_000_000

	// SaltBytes is the length of the salts that New and PostgreSQL make
	// (SCRAM_DEFAULT_SALT_LEN); maxSaltBytes bounds those of others.
	SaltBytes    = 16
	maxSaltBytes = 1024
)

// Verifier is what a server keeps to check a password by SCRAM-SHA-256
// (RFC 5802, section 3), without being able to log in with it.
type Verifier struct {
	Iterations int    // from 1 to 10,000,000
	Salt       []byte // 1 to 1024 bytes
	StoredKey  []byte // 32 bytes
	ServerKey  []byte // 32 bytes
}

// String returns the form of pg_authid.rolpassword:
// SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey, in base64.
func (v Verifier) String() string {
	encode := base64.StdEncoding.EncodeToString
	return prefix + strconv.Itoa(v.Iterations) + ":" + encode(v.Salt) + "$" + encode(v.StoredKey) + ":" + encode(v.ServerKey)
}

// New makes a verifier of a password with a random salt and PostgreSQL's number
// of iterations.
func New(password string) (Verifier, error) {
	salt := make([]byte, SaltBytes)
	if _, err := rand.Read(salt); err != nil {
		return Verifier{}, fmt.Errorf("making a SCRAM verifier: drawing a salt: %w", err)
	}
	return Derive(password, salt, MinIterations)
}

// Derive derives the verifier of a password. Salt must be random,
// 1 to 1024 bytes (PostgreSQL takes 16); iterations from 4096 to 10,000,000.
// The password is normalized by [Prepare].
func Derive(password string, salt []byte, iterations int) (Verifier, error) {
	switch {
	case password == "":
		return Verifier{}, errors.New("making a SCRAM verifier: the password is empty")
	case strings.ContainsRune(password, 0):
		return Verifier{}, errors.New("making a SCRAM verifier: the password has a NUL")
	case len(salt) == 0 || len(salt) > maxSaltBytes:
		return Verifier{}, fmt.Errorf("making a SCRAM verifier: the salt has %d bytes; it must have 1 to %d", len(salt), maxSaltBytes)
	case iterations < MinIterations || iterations > MaxIterations:
		return Verifier{}, fmt.Errorf("making a SCRAM verifier: %d iterations; it must be from %d to %d", iterations, MinIterations, MaxIterations)
	}
	client, err := scram.SHA256.NewClientUnprepped("", Prepare(password), "")
	if err != nil {
		return Verifier{}, errors.New("making a SCRAM verifier: the password cannot be used")
	}
	keys, err := client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: string(salt), Iters: iterations})
	if err != nil {
		return Verifier{}, errors.New("making a SCRAM verifier: the keys cannot be derived")
	}
	return Verifier{Iterations: iterations, Salt: salt, StoredKey: keys.StoredKey, ServerKey: keys.ServerKey}, nil
}

// Parse reads the form of pg_authid.rolpassword. Its errors never hold
// a part of the text.
func Parse(text string) (Verifier, error) {
	malformed := errors.New("the verifier is not of the form SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey")
	rest, ok := strings.CutPrefix(text, prefix)
	if !ok {
		return Verifier{}, malformed
	}
	factors, keys, ok := strings.Cut(rest, "$")
	if !ok {
		return Verifier{}, malformed
	}
	iterations, salt, ok := strings.Cut(factors, ":")
	if !ok {
		return Verifier{}, malformed
	}
	stored, server, ok := strings.Cut(keys, ":")
	if !ok {
		return Verifier{}, malformed
	}
	var v Verifier
	var errs [4]error
	v.Iterations, errs[0] = strconv.Atoi(iterations)
	v.Salt, errs[1] = base64.StdEncoding.DecodeString(salt)
	v.StoredKey, errs[2] = base64.StdEncoding.DecodeString(stored)
	v.ServerKey, errs[3] = base64.StdEncoding.DecodeString(server)
	switch {
	case errors.Join(errs[:]...) != nil:
		return Verifier{}, malformed
	case v.Iterations < 1 || v.Iterations > MaxIterations:
		return Verifier{}, fmt.Errorf("the verifier's iterations are not from 1 to %d", MaxIterations)
	case len(v.Salt) == 0 || len(v.Salt) > maxSaltBytes:
		return Verifier{}, fmt.Errorf("the verifier's salt does not have 1 to %d bytes", maxSaltBytes)
	case len(v.StoredKey) != sha256.Size || len(v.ServerKey) != sha256.Size:
		return Verifier{}, fmt.Errorf("the verifier's keys do not have %d bytes", sha256.Size)
	case v.String() != text:
		// The decoders overlook line breaks and a plus sign.
		return Verifier{}, malformed
	}
	return v, nil
}
