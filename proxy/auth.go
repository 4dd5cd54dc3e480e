package proxy

import (
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgproto3"
	xscram "github.com/xdg-go/scram"

	"github.com/kproxy/kproxy/scram"
)

const (
	mechanism        = "SCRAM-SHA-256"
	mechanismBinding = "SCRAM-SHA-256-PLUS"

	// maxPasswordBytes caps a message of the exchange; PG_MAX_SASL_MESSAGE_LENGTH
	// is 1024, the rest is for long user names.
	maxPasswordBytes = 4096
)

// authenticate runs the SCRAM exchange for user. Users who do not exist run it
// whole, and fail as a wrong password does.
func (s *settings) authenticate(conn net.Conn, user string) error {
	mechanisms := []string{mechanism}
	var binding xscram.ChannelBinding
	if isEncrypted(conn) && s.binding.IsSupported() {
		binding = s.binding
		mechanisms = []string{mechanismBinding, mechanism}
	}
	if err := sendMessages(conn, &pgproto3.AuthenticationSASL{AuthMechanisms: mechanisms}); err != nil {
		return err
	}
	verifier, known := s.verifiers[user]
	if !known {
		verifier = mockVerifier(s.mockSecret, user, s.mockIterations, scram.SaltBytes)
	}
	// The name inside the exchange is not looked at, as in PostgreSQL.
	scramServer, err := xscram.SHA256.NewServer(func(string) (xscram.StoredCredentials, error) {
		return credentials(verifier), nil
	})
	if err != nil {
		return err
	}

	body, err := readPassword(conn)
	if err != nil {
		return err
	}
	var first pgproto3.SASLInitialResponse
	if err := first.Decode(body); err != nil {
		return violation("malformed SASLInitialResponse message")
	}
	var conversation *xscram.ServerConversation
	switch {
	case first.AuthMechanism == mechanismBinding && binding.IsSupported():
		conversation = scramServer.NewConversationWithChannelBindingRequired(binding)
	case first.AuthMechanism == mechanism:
		conversation = scramServer.NewConversationWithChannelBinding(binding)
	default:
		return violation("client selected an invalid SASL authentication mechanism")
	}

	challenge, err := conversation.Step(string(first.Data))
	if err != nil || conversation.AuthzID() != "" {
		return violation("malformed SCRAM message")
	}
	if err := sendMessages(conn, &pgproto3.AuthenticationSASLContinue{Data: []byte(challenge)}); err != nil {
		return err
	}
	body, err = readPassword(conn)
	if err != nil {
		return err
	}
	proof, err := conversation.Step(string(body))
	if err != nil || !conversation.Valid() || !known {
		return newFatal(stateInvalidPassword, "password authentication failed for user \""+cleanText(user)+"\"")
	}
	return sendMessages(conn, &pgproto3.AuthenticationSASLFinal{Data: []byte(proof)}, &pgproto3.AuthenticationOk{})
}

// readPassword reads one message of the exchange, and not a byte more.
func readPassword(conn net.Conn) ([]byte, error) {
	var header [headerBytes]byte
	if _, err := io.ReadFull(conn, header[:]); err != nil {
		return nil, err
	}
	f, err := parseHeader(header[:])
	switch {
	case err != nil:
		return nil, violation(err.Error())
	case f.kind == 'X':
		return nil, io.EOF
	case f.kind != 'p':
		return nil, violation("expected SASL response, got another message type")
	case f.size > maxPasswordBytes:
		return nil, violation("invalid message length")
	}
	body := make([]byte, f.size)
	_, err = io.ReadFull(conn, body)
	return body, unexpected(err)
}

// sendMessages writes messages at once.
func sendMessages(conn net.Conn, messages ...pgproto3.BackendMessage) error {
	var out []byte
	for _, message := range messages {
		var err error
		if out, err = message.Encode(out); err != nil {
			return errors.New("encoding a message")
		}
	}
	_, err := conn.Write(out)
	return err
}
