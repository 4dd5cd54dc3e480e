package proxy

import (
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
	xscram "github.com/xdg-go/scram"

	"github.com/kproxy/kproxy/internal/scram"
	"github.com/kproxy/kproxy/proxy/access"
)

const (
	mechanism        = "SCRAM-SHA-256"
	mechanismBinding = "SCRAM-SHA-256-PLUS"

	// maxPasswordBytes caps a message of the exchange; PG_MAX_SASL_MESSAGE_LENGTH
	// is 1024, the rest is for long user names.
	maxPasswordBytes = 4096
)

// errWrongPassword is a proof made with another password than the user's.
var errWrongPassword = errors.New("wrong password")

// proof is the end of an exchange, before it has been checked.
type proof struct {
	conversation *xscram.ServerConversation
	bound        bool // to the channel
	said         string
}

// exchange asks for a password by SCRAM-SHA-256 (RFC 5802, RFC 7677). An error is a
// client that does not keep to the protocol.
func (a *attempt) exchange(account access.Account) (proof, error) {
	mechanisms := []string{mechanism}
	if a.binding.IsSupported() {
		mechanisms = []string{mechanismBinding, mechanism}
	}
	if err := sendMessages(a.conn, &pgproto3.AuthenticationSASL{AuthMechanisms: mechanisms}); err != nil {
		return proof{}, err
	}
	body, err := readPassword(a.conn)
	if err != nil {
		return proof{}, err
	}
	conversation, bound, first, err := a.converse(body, account.Verifier)
	if err != nil {
		return proof{}, err
	}
	challenge, err := conversation.Step(first)
	if err != nil {
		return proof{}, malformedFirst(challenge, bound)
	}
	if conversation.AuthzID() != "" {
		return proof{}, newFatal(stateFeatureNotSupported, "client uses authorization identity, but it is not supported")
	}
	if err := sendMessages(a.conn, &pgproto3.AuthenticationSASLContinue{Data: []byte(challenge)}); err != nil {
		return proof{}, err
	}
	if body, err = readPassword(a.conn); err != nil {
		return proof{}, err
	}
	return proof{conversation, bound, string(body)}, nil
}

// check returns the message that ends the exchange well, or what is wrong with the
// proof; an error is a client that does not keep to the protocol. It is called once.
func (p proof) check(account access.Account) (final *pgproto3.AuthenticationSASLFinal, wrong, err error) {
	answer, err := p.conversation.Step(p.said)
	switch {
	case err == nil && p.conversation.Valid() && account.HasPassword:
		return &pgproto3.AuthenticationSASLFinal{Data: []byte(answer)}, nil, nil
	case err == nil || answer == xscram.ErrInvalidProof:
		return nil, errWrongPassword, nil
	case answer == xscram.ErrChannelBindingsDontMatch && p.bound:
		// Somebody else's certificate was presented to the client.
		return nil, nil, newFatal(stateInvalidAuthorization, "SCRAM channel binding check failed")
	case answer == xscram.ErrChannelBindingsDontMatch:
		return nil, nil, violation("unexpected SCRAM channel-binding attribute in client-final-message")
	default:
		return nil, nil, violation("malformed SCRAM message")
	}
}

// converse begins the conversation that the client's first message is for. It returns
// whether the client binds the password to the channel, and what the message says.
func (a *attempt) converse(body []byte, verifier scram.Verifier) (c *xscram.ServerConversation, bound bool, said string, err error) {
	var first pgproto3.SASLInitialResponse
	if err := first.Decode(body); err != nil {
		return nil, false, "", violation("malformed SASLInitialResponse message")
	}
	// The name inside the exchange is not looked at, as in PostgreSQL.
	server, err := xscram.SHA256.NewServer(func(string) (xscram.StoredCredentials, error) {
		return credentials(verifier), nil
	})
	if err != nil {
		return nil, false, "", err
	}
	data := string(first.Data)
	binding, _, _ := strings.Cut(data, ",")
	kind, binds := strings.CutPrefix(binding, "p=")
	switch {
	case first.AuthMechanism == mechanismBinding && a.binding.IsSupported() && binds && kind != string(a.binding.Type):
		return nil, false, "", violation("unsupported SCRAM channel-binding type \"" + shownName(kind) + "\"")
	case first.AuthMechanism == mechanismBinding && a.binding.IsSupported():
		return server.NewConversationWithChannelBindingRequired(a.binding), true, data, nil
	case first.AuthMechanism == mechanism && !binds:
		return server.NewConversationWithChannelBinding(a.binding), false, data, nil
	case first.AuthMechanism == mechanism:
		return nil, false, "", violation("malformed SCRAM message")
	default:
		return nil, false, "", violation("client selected an invalid SASL authentication mechanism")
	}
}

// malformedFirst is the refusal of a first message, for the library's reason.
func malformedFirst(reason string, bound bool) error {
	if reason == xscram.ErrServerDoesSupportChannelBinding && !bound {
		// Somebody has taken the mechanism with binding off the list.
		return newFatal(stateInvalidAuthorization, "SCRAM channel binding negotiation error")
	}
	return violation("malformed SCRAM message")
}

// credentials is the verifier as the SCRAM library takes it.
func credentials(v scram.Verifier) xscram.StoredCredentials {
	return xscram.StoredCredentials{
		KeyFactors: xscram.KeyFactors{Salt: string(v.Salt), Iters: v.Iterations},
		StoredKey:  v.StoredKey,
		ServerKey:  v.ServerKey,
	}
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
	out, err := encoded(messages)
	if err == nil {
		_, err = conn.Write(out)
	}
	return err
}

func encoded(messages []pgproto3.BackendMessage) ([]byte, error) {
	var out []byte
	for _, message := range messages {
		var err error
		if out, err = message.Encode(out); err != nil {
			return nil, errors.New("encoding a message")
		}
	}
	return out, nil
}
