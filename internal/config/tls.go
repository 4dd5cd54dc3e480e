package config

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// TLS is how client connections are encrypted.
type TLS struct {
	// Mode defaults to TLSRequire when there is a certificate, else to TLSOff.
	Mode TLSMode `yaml:"mode" what:"tls mode" choices:"off allow require" doc:"Clients are not encrypted (off), choose (allow), or must be encrypted (require). With a certificate the default is require, else off."`
	// CertFile and KeyFile are PEM files; a relative path starts at the
	// configuration's folder. Both are set unless Mode is TLSOff.
	CertFile string `yaml:"cert_file" as:"path" doc:"A PEM file: the certificate first, then its chain. Relative paths start at the configuration's folder. A reload reads it again."`
	KeyFile  string `yaml:"key_file" as:"path" doc:"A PEM file with the certificate's key, without a passphrase."`
	// ClientCAFile holds the certificates of the authorities that sign clients'
	// certificates, in PEM. It is set where a rule of Access asks for one.
	ClientCAFile string `yaml:"client_ca_file" as:"path" doc:"A PEM file with the authorities that sign clients' certificates, where a rule of access asks for one."`

	files digest
}

// TLSMode says whether clients encrypt.
type TLSMode string

// The modes.
const (
	TLSOff     TLSMode = "off"     // clients that ask for encryption are told there is none
	TLSAllow   TLSMode = "allow"   // clients choose
	TLSRequire TLSMode = "require" // clients that do not encrypt are refused
)

func (t *TLS) check(d *decoder, n *yaml.Node, _ string) {
	cert, key := d.at(&t.CertFile), d.at(&t.KeyFile)
	if d.at(&t.Mode) == nil && (cert != nil || key != nil || t.ClientCAFile != "") {
		t.Mode = TLSRequire
	}
	if t.ClientCAFile != "" {
		t.readClientCA(d)
	}
	if t.Mode != TLSAllow && t.Mode != TLSRequire {
		return
	}
	const fix = "write cert_file: and key_file: with the paths of PEM files"
	switch {
	case cert == nil && key == nil:
		d.wrong(n, fmt.Sprintf("tls mode %s has no certificate", t.Mode), fix)
	case cert == nil:
		d.wrong(key, "tls has a key_file but no cert_file", fix)
	case key == nil:
		d.wrong(cert, "tls has a cert_file but no key_file", fix)
	default:
		for _, text := range d.keyPair(cert, t.CertFile, key, t.KeyFile) {
			t.files.add(text)
		}
	}
}

// keyPair reads a certificate and its key, and returns both.
func (d *decoder) keyPair(certAt *yaml.Node, certFile string, keyAt *yaml.Node, keyFile string) [][]byte {
	certificate, certRead := d.contents(certAt, "cert_file", certFile)
	private, keyRead := d.contents(keyAt, "key_file", keyFile)
	if !certRead || !keyRead {
		return nil
	}
	if _, err := tls.X509KeyPair(certificate, private); err != nil {
		d.wrong(keyAt, "cert_file and key_file are no pair of a certificate and its key",
			"give PEM files: the certificate first, then its chain; the key without a passphrase")
	}
	return [][]byte{certificate, private}
}

// readClientCA reads the authorities that sign clients' certificates.
func (t *TLS) readClientCA(d *decoder) {
	at := d.at(&t.ClientCAFile)
	text, ok := d.contents(at, "client_ca_file", t.ClientCAFile)
	if !ok {
		return
	}
	t.files.add(text)
	if !x509.NewCertPool().AppendCertsFromPEM(text) {
		d.wrong(at, "client_ca_file holds no certificate", "give a PEM file with the certificates of the authorities that sign clients' certificates")
	}
}
