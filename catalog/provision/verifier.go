package provision

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/xdg-go/stringprep"
)

const (
	scramScheme = "SCRAM-SHA-256$"
	// scramIterations and scramSaltBytes are PostgreSQL's own
	// (SCRAM_SHA_256_DEFAULT_ITERATIONS, SCRAM_DEFAULT_SALT_LEN).
	scramIterations = 4096
	scramSaltBytes  = 16
)

// scramVerifier is what PostgreSQL stores for a password (RFC 5803's fields in
// the notation of pg_authid.rolpassword), so that the password itself stays out
// of the server's log. A verifier is returned as it is.
func scramVerifier(password string) (string, error) {
	if strings.HasPrefix(password, scramScheme) {
		return password, nil
	}
	// Like PostgreSQL, a password that SASLprep refuses is taken byte by byte.
	if prepared, err := stringprep.SASLprep.Prepare(password); err == nil {
		password = prepared
	}
	salt := make([]byte, scramSaltBytes)
	if _, err := rand.Read(salt); err != nil {
		return "", fmt.Errorf("making a salt: %w", err)
	}
	salted, err := pbkdf2.Key(sha256.New, password, salt, scramIterations, sha256.Size)
	if err != nil {
		return "", fmt.Errorf("salting: %w", err)
	}
	stored := sha256.Sum256(mac(salted, "Client Key"))
	encode := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("%s%d:%s$%s:%s", scramScheme, scramIterations,
		encode(salt), encode(stored[:]), encode(mac(salted, "Server Key"))), nil
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
