package proxy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"unicode/utf8"
)

// parseQuery returns the text in the body of a Query message.
func parseQuery(body []byte) (string, error) {
	if end := bytes.IndexByte(body, 0); end < 0 || end != len(body)-1 {
		return "", violation("invalid string in a Query message")
	}
	return string(body[:len(body)-1]), nil
}

// parseMessage is the body of a Parse message.
type parseMessage struct {
	name  []byte // of the statement, without NUL; empty = the unnamed one
	sql   string
	types []byte // number and OIDs of the parameter types, as received
}

// parseParse reads the body of a Parse message.
func parseParse(body []byte) (parseMessage, error) {
	invalid := violation("invalid Parse message")
	nameEnd := bytes.IndexByte(body, 0)
	if nameEnd < 0 {
		return parseMessage{}, invalid
	}
	name, rest := body[:nameEnd], body[nameEnd+1:]
	textEnd := bytes.IndexByte(rest, 0)
	if textEnd < 0 {
		return parseMessage{}, invalid
	}
	text, types := rest[:textEnd], rest[textEnd+1:]
	if len(types) < 2 || len(types) != 2+4*int(binary.BigEndian.Uint16(types)) {
		return parseMessage{}, invalid
	}
	return parseMessage{name: name, sql: string(text), types: types}, nil
}

// appendQuery appends a Query message.
func appendQuery(dst []byte, sql string) []byte {
	dst = appendHeader(dst, 'Q', len(sql)+1)
	return append(append(dst, sql...), 0)
}

// appendParse appends a Parse message with m's name and types and the text sql.
func appendParse(dst []byte, m parseMessage, sql string) []byte {
	dst = appendHeader(dst, 'P', len(m.name)+len(sql)+len(m.types)+2)
	dst = append(append(dst, m.name...), 0)
	dst = append(append(dst, sql...), 0)
	return append(dst, m.types...)
}

// decide returns the statement to send for a client's text in a state, or its refusal.
func (c *Config) decide(sql string, in State) (Statement, *refusal) {
	if statement, refused, known := c.decideAlone(sql); known {
		return statement, refused
	}
	return checked(c.Gate.Rewrite(sql, in))
}

// decideQuickly is decide for texts about which the Gate need not think.
func (c *Config) decideQuickly(sql string, in State) (statement Statement, refused *refusal, known bool) {
	if statement, refused, known = c.decideAlone(sql); known {
		return statement, refused, true
	}
	statement, known, err := c.Gate.Recall(sql, in)
	if !known {
		return Statement{}, nil, false
	}
	statement, refused = checked(statement, err)
	return statement, refused, true
}

// decideAlone decides on texts that the Gate is not to see.
func (c *Config) decideAlone(sql string) (statement Statement, refused *refusal, known bool) {
	if err := c.Available(); err != nil {
		return Statement{}, newRefusal(err, stateCannotConnectNow), true
	}
	if !utf8.ValidString(sql) {
		return Statement{}, newRefusal(errors.New(`invalid byte sequence for encoding "UTF8"`), stateCharacterNotInEncoding), true
	}
	if strings.Trim(sql, " \t\n\r\f\v;") == "" {
		return Statement{SQL: sql}, nil, true
	}
	return Statement{}, nil, false
}

// checked is what the Gate has decided.
func checked(statement Statement, err error) (Statement, *refusal) {
	if err != nil {
		return Statement{}, newRefusal(err, stateFeatureNotSupported)
	}
	if strings.IndexByte(statement.SQL, 0) >= 0 {
		// It would end the message early and desynchronize the connection.
		return Statement{}, newRefusal(errors.New("the rewritten statement is not valid"), stateInternalError)
	}
	return statement, nil
}
