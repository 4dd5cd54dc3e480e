package dossier

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// ParseKey reads a private key in PEM: PKCS #8, as openssl genpkey writes it. Encrypted keys are refused.
func ParseKey(text []byte) (crypto.Signer, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, errors.New("it is no private key in PEM (PKCS #8), as 'openssl genpkey -algorithm ed25519' writes it")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("reading the key: %w", err)
	}
	signer, is := key.(crypto.Signer)
	if !is {
		return nil, errors.New("its key cannot sign")
	}
	_, err = algorithmOf(signer.Public())
	return signer, err
}

// ParsePublicKey reads a public key in PEM, as 'openssl pkey -pubout' writes it.
func ParsePublicKey(text []byte) (crypto.PublicKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PUBLIC KEY" {
		return nil, errors.New("it is no public key in PEM, as 'openssl pkey -pubout' writes it")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("reading the key: %w", err)
	}
	_, err = algorithmOf(key)
	return key, err
}

// leastRSA is the least size of an RSA key, in bits.
const leastRSA = 2048

// algorithmOf is the algorithm of a key's signatures (RFC 7518, RFC 8037).
func algorithmOf(key crypto.PublicKey) (jose.SignatureAlgorithm, error) {
	switch key := key.(type) {
	case ed25519.PublicKey:
		return jose.EdDSA, nil
	case *ecdsa.PublicKey:
		switch key.Curve.Params().BitSize {
		case 256:
			return jose.ES256, nil
		case 384:
			return jose.ES384, nil
		case 521:
			return jose.ES512, nil
		}
	case *rsa.PublicKey:
		if key.N.BitLen() >= leastRSA {
			return jose.PS256, nil
		}
	}
	return "", errors.New("keys are Ed25519, of the curves P-256, P-384 and P-521, or RSA of 2048 bits and more")
}

// Sign signs a file: a detached JSON Web Signature (RFC 7515, appendix F) in one line.
func Sign(file []byte, key crypto.Signer) ([]byte, error) {
	algorithm, err := algorithmOf(key.Public())
	if err != nil {
		return nil, err
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, nil)
	if err != nil {
		return nil, fmt.Errorf("signing: %w", err)
	}
	signature, err := signer.Sign(file)
	if err != nil {
		return nil, fmt.Errorf("signing: %w", err)
	}
	text, err := signature.DetachedCompactSerialize()
	if err != nil {
		return nil, fmt.Errorf("signing: %w", err)
	}
	return append([]byte(text), '\n'), nil
}

// CheckSignature says whether the key's owner has signed the file.
func CheckSignature(file, signature []byte, key crypto.PublicKey) error {
	algorithm, err := algorithmOf(key)
	if err != nil {
		return err
	}
	parsed, err := jose.ParseDetached(strings.TrimSpace(string(signature)), file, []jose.SignatureAlgorithm{algorithm})
	if err != nil {
		return fmt.Errorf("it is no signature by such a key: %w", err)
	}
	if _, err := parsed.Verify(key); err != nil {
		return errors.New("the signature is not of this file by this key")
	}
	return nil
}
