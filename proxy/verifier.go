package proxy

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/xdg-go/scram"
)

const (
	verifierPrefix = "SCRAM-SHA-256$"

	// minIterations is RFC 7677's minimum and PostgreSQL's default
	// (SCRAM_SHA_256_DEFAULT_ITERATIONS); maxIterations bounds what a client is
	// made to compute.
	minIterations = 4096
	maxIterations = 10_000_000

	// maxSaltBytes bounds the salt; PostgreSQL makes 16
	// (SCRAM_DEFAULT_SALT_LEN).
	maxSaltBytes     = 1024
	defaultSaltBytes = 16
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
	return verifierPrefix + strconv.Itoa(v.Iterations) + ":" + encode(v.Salt) + "$" + encode(v.StoredKey) + ":" + encode(v.ServerKey)
}

// NewVerifier derives the verifier of a password, as text. Salt must be random,
// 1 to 1024 bytes (PostgreSQL takes 16); iterations from 4096 to 10,000,000.
// The password is normalized by SASLprep; one that cannot be is taken as it is,
// as PostgreSQL does (pg_saslprep).
func NewVerifier(password string, salt []byte, iterations int) (string, error) {
	switch {
	case password == "":
		return "", errors.New("making a SCRAM verifier: the password is empty")
	case strings.ContainsRune(password, 0):
		return "", errors.New("making a SCRAM verifier: the password has a NUL")
	case len(salt) == 0 || len(salt) > maxSaltBytes:
		return "", fmt.Errorf("making a SCRAM verifier: the salt has %d bytes; it must have 1 to %d", len(salt), maxSaltBytes)
	case iterations < minIterations || iterations > maxIterations:
		return "", fmt.Errorf("making a SCRAM verifier: %d iterations; it must be from %d to %d", iterations, minIterations, maxIterations)
	}
	client, err := scram.SHA256.NewClient("", password, "")
	if err != nil {
		client, err = scram.SHA256.NewClientUnprepped("", password, "")
	}
	if err != nil {
		return "", errors.New("making a SCRAM verifier: the password cannot be used")
	}
	keys, err := client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: string(salt), Iters: iterations})
	if err != nil {
		return "", errors.New("making a SCRAM verifier: the keys cannot be derived")
	}
	return Verifier{Iterations: iterations, Salt: salt, StoredKey: keys.StoredKey, ServerKey: keys.ServerKey}.String(), nil
}

// ParseVerifier reads the form of pg_authid.rolpassword. Its errors never hold
// a part of the text.
func ParseVerifier(text string) (Verifier, error) {
	malformed := errors.New("the verifier is not of the form SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey")
	rest, ok := strings.CutPrefix(text, verifierPrefix)
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
	case v.Iterations < 1 || v.Iterations > maxIterations:
		return Verifier{}, fmt.Errorf("the verifier's iterations are not from 1 to %d", maxIterations)
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

// credentials is the verifier as the SCRAM library takes it.
func (v Verifier) credentials() scram.StoredCredentials {
	return scram.StoredCredentials{
		KeyFactors: scram.KeyFactors{Salt: string(v.Salt), Iters: v.Iterations},
		StoredKey:  v.StoredKey,
		ServerKey:  v.ServerKey,
	}
}

// mockVerifier returns the verifier that a user who does not exist is checked
// against, so that the exchange tells nothing about who exists. The same user
// gets the same salt for as long as secret lives; nobody knows a password.
func mockVerifier(secret []byte, user string, iterations, saltBytes int) Verifier {
	derive := func(purpose string) []byte {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(purpose))
		mac.Write([]byte{0})
		mac.Write([]byte(user))
		return mac.Sum(nil)
	}
	salt := derive("salt")
	for len(salt) < saltBytes {
		salt = append(salt, derive("salt"+strconv.Itoa(len(salt)))...)
	}
	return Verifier{
		Iterations: iterations,
		Salt:       salt[:saltBytes],
		StoredKey:  derive("stored key"),
		ServerKey:  derive("server key"),
	}
}
