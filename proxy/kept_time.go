package proxy

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// timeWords are what PostgreSQL reads as a moment that passes, in texts that become dates or times
// (datetime.c).
var timeWords = [][]byte{[]byte("now"), []byte("today"), []byte("tomorrow"), []byte("yesterday")}

// mayReadTime tells whether a text of the question may be read as a moment that passes: it has one of
// the timeWords, or what the input of arrays and ranges takes out of texts, so that such a word can be
// written with it inside: a backslash or a quotation mark.
func (q *question) mayReadTime() bool {
	return namesTime(q.sql) || namesTime(q.parameters) || quotesInLiterals(q.sql) || strings.ContainsAny(q.parameters, `\"`)
}

// The types of times of day with a zone, and of arrays of these (pg_type.dat).
const timetzOID, timetzArrayOID = 1266, 1270

// declaresTimeOfDay tells whether Parse declares a parameter as a time of day with a zone, whose offset
// depends on the day. The types are behind their number.
func declaresTimeOfDay(types []byte) bool {
	for i := 2; i+4 <= len(types); i += 4 {
		if of := binary.BigEndian.Uint32(types[i:]); of == timetzOID || of == timetzArrayOID {
			return true
		}
	}
	return false
}

// namesTime tells whether one of the timeWords stands in a text, between what is no letter. One letter
// may stand before it: the last byte of the length of a value in Bind.
func namesTime(text string) bool {
	var word [len("yesterday") + 1]byte
	n := 0
	for i := 0; i <= len(text); i++ {
		c := byte(0)
		if i < len(text) {
			c = text[i] | 0x20
		}
		if c >= 'a' && c <= 'z' && text[i]&0x80 == 0 {
			if n < len(word) {
				word[n] = c
			}
			n++
			continue
		}
		if n >= len("now") && n <= len(word) {
			for _, w := range timeWords {
				if bytes.Equal(word[:n], w) || bytes.Equal(word[1:n], w) {
					return true
				}
			}
		}
		n = 0
	}
	return false
}

// quotesInLiterals tells whether a string constant of a statement has a backslash or a quotation mark, or
// whether that is not clear: there are comments, or constants between dollars.
func quotesInLiterals(sql string) bool {
	for i := 0; i < len(sql); i++ {
		rest := sql[i:]
		switch {
		case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "/*"):
			return true
		case sql[i] == '$' && (len(rest) == 1 || rest[1] < '0' || rest[1] > '9'):
			return true
		case sql[i] == '"', sql[i] == '\'':
			end := strings.IndexByte(rest[1:], sql[i])
			if end < 0 || sql[i] == '\'' && strings.ContainsAny(rest[1:1+end], `\"`) {
				return true
			}
			i += 1 + end // a doubled one begins the next
		}
	}
	return false
}
