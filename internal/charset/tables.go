package charset

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// singleByte are the encodings of one byte a character, by PostgreSQL's names.
var singleByte = map[string]encoding.Encoding{
	"ISO_8859_5": charmap.ISO8859_5, "ISO_8859_6": charmap.ISO8859_6, "ISO_8859_7": charmap.ISO8859_7, "ISO_8859_8": charmap.ISO8859_8,
	"KOI8R": charmap.KOI8R, "KOI8U": charmap.KOI8U,
	"LATIN1": charmap.ISO8859_1, "LATIN2": charmap.ISO8859_2, "LATIN3": charmap.ISO8859_3, "LATIN4": charmap.ISO8859_4,
	"LATIN5": charmap.ISO8859_9, "LATIN6": charmap.ISO8859_10, "LATIN7": charmap.ISO8859_13, "LATIN8": charmap.ISO8859_14,
	"LATIN9": charmap.ISO8859_15, "LATIN10": charmap.ISO8859_16,
	"WIN1250": charmap.Windows1250, "WIN1251": charmap.Windows1251, "WIN1252": charmap.Windows1252, "WIN1253": charmap.Windows1253,
	"WIN1254": charmap.Windows1254, "WIN1255": charmap.Windows1255, "WIN1256": charmap.Windows1256, "WIN1257": charmap.Windows1257,
	"WIN1258": charmap.Windows1258, "WIN866": charmap.CodePage866, "WIN874": charmap.Windows874,
}

// c1 are the encodings in which PostgreSQL reads the bytes 80 to 9F as control characters,
// and the tables of the codec as none.
var c1 = []string{
	"ISO_8859_5", "ISO_8859_6", "ISO_8859_7", "ISO_8859_8",
	"LATIN2", "LATIN3", "LATIN4", "LATIN6", "LATIN7", "LATIN8", "LATIN9", "LATIN10",
}

// differences are what PostgreSQL reads otherwise, by the encoding.
var differences = map[string]map[string]rune{
	"BIG5":    big5(),
	"EUC_CN":  {"\xa1\xa4": '\u30fb', "\xa1\xaa": '\u2015'},
	"EUC_JP":  {"\x8f\xa2\xc3": '\uffe4'},
	"GB18030": {"\xa3\xa0": 0},
	"KOI8U":   {"\xae": '\u255d', "\xbe": '\u256c'},
	"WIN1255": {"\xca": 0},
}

// big5 are the symbols that PostgreSQL has as Unicode's first table had them, and the rows C6
// to C7, which every vendor filled in another way.
func big5() map[string]rune {
	read := map[string]rune{
		"\xa1\x45": '\u2022', "\xa1\x4e": '\uff64', "\xa1\xc2": '\u203e', "\xa1\xe3": '\u223c', "\xa1\xf2": '\u2641', "\xa1\xf3": '\u2609',
		"\xa2\x41": '\uff0f', "\xa2\x42": '\uff3c', "\xa2\x44": '\u00a5', "\xa2\x46": '\u00a2', "\xa2\x47": '\u00a3',
	}
	for _, none := range []string{"\xa1\x5a", "\xa1\xc3", "\xa1\xc5", "\xa1\xfe", "\xa2\x40", "\xa2\xcc", "\xa2\xce"} {
		read[none] = 0
	}
	for code := 0xc6a1; code <= 0xc7fe; code++ {
		read[string([]byte{byte(code >> 8), byte(code)})] = 0
	}
	return read
}

// source is where the characters of an encoding come from.
type source struct {
	codec encoding.Encoding
	// length is the length of the character of several bytes that a text begins with; nil
	// where all have one byte.
	length func(text string) int
	// least is what all bytes of a character of several are at least.
	least byte
	// read are the characters that PostgreSQL reads differently; 0 = none is read, since
	// the codec's would be wrong.
	read map[string]rune
}

// character decodes a single one; U+FFFD where the bytes are none.
func (s *source) character(decoder *encoding.Decoder, bytes string) rune {
	if r, special := s.read[bytes]; special {
		if r == 0 {
			return utf8.RuneError
		}
		return r
	}
	if bytes[0] < s.least || bytes[len(bytes)-1] < s.least {
		return utf8.RuneError
	}
	decoder.Reset()
	var found [8]byte
	n, _, err := decoder.Transform(found[:], []byte(bytes), true)
	r, size := utf8.DecodeRune(found[:n])
	if err != nil || size != n || r < utf8.RuneSelf {
		return utf8.RuneError
	}
	return r
}

// tables are the characters of an encoding, and the way back.
type tables struct {
	source
	one  [256]rune
	two  []rune // by both bytes
	mark []rune // by those behind 8F, in EUC_JP
	back map[rune]string
}

func (s source) makeTables() *tables {
	t := &tables{source: s, back: make(map[rune]string)}
	decoder := s.codec.NewDecoder()
	add := func(bytes ...byte) rune {
		r := utf8.RuneError
		if s.length == nil || s.length(string(bytes)) == len(bytes) {
			r = s.character(decoder, string(bytes))
		}
		if _, known := t.back[r]; !known && r != utf8.RuneError {
			t.back[r] = string(bytes)
		}
		return r
	}
	for a := 0x80; a < 0x100; a++ {
		t.one[a] = add(byte(a))
	}
	if s.length == nil {
		return t
	}
	t.two, t.mark = make([]rune, 1<<16), make([]rune, 1<<16)
	for i := range t.two {
		t.two[i], t.mark[i] = utf8.RuneError, utf8.RuneError
		if i >= 0x8000 {
			t.two[i] = add(byte(i>>8), byte(i))
			t.mark[i] = add(0x8f, byte(i>>8), byte(i))
		}
	}
	return t
}

// read returns the character that a text begins with, which is not ASCII, and the number of
// its bytes; U+FFFD where they are none.
func (t *tables) read(text string) (rune, int) {
	n := 1
	if t.length != nil {
		n = t.length(text)
	}
	if n > len(text) {
		return utf8.RuneError, len(text)
	}
	switch n {
	case 1:
		return t.one[text[0]], 1
	case 2:
		return t.two[int(text[0])<<8|int(text[1])], 2
	case 3:
		return t.mark[int(text[1])<<8|int(text[2])], 3
	}
	return t.character(t.codec.NewDecoder(), text[:n]), n
}

// write returns a character in the encoding, or a question mark.
func (t *tables) write(r rune) string {
	if bytes, known := t.back[r]; known {
		return bytes
	}
	if t.codec == simplifiedchinese.GB18030 { // whose characters of four bytes are a million
		if bytes, err := t.codec.NewEncoder().String(string(r)); err == nil && len(bytes) == 4 {
			return bytes
		}
	}
	return "?"
}

// double is the length of the characters of two bytes.
func double(string) int { return 2 }

// eucJP has three bytes behind 8F, shiftJIS one for the narrow katakana, gb18030 four where
// the second one is a digit.
func eucJP(text string) int {
	if text[0] == 0x8f {
		return 3
	}
	return 2
}

func shiftJIS(text string) int {
	if text[0] >= 0xa1 && text[0] <= 0xdf {
		return 1
	}
	return 2
}

func gb18030(text string) int {
	if len(text) > 1 && text[1] >= '0' && text[1] <= '9' {
		return 4
	}
	return 2
}

// all are the encodings, and byName leads to them by every name that PostgreSQL knows.
var (
	all    = charsets()
	byName = names()
)

func charsets() map[string]*Charset {
	sources := map[string]source{
		"BIG5":    {codec: traditionalchinese.Big5, length: double},
		"EUC_CN":  {codec: simplifiedchinese.GBK, length: double, least: 0xa1},
		"EUC_JP":  {codec: japanese.EUCJP, length: eucJP},
		"EUC_KR":  {codec: korean.EUCKR, length: double, least: 0xa1},
		"GB18030": {codec: simplifiedchinese.GB18030, length: gb18030},
		"GBK":     {codec: simplifiedchinese.GBK, length: double},
		"SJIS":    {codec: japanese.ShiftJIS, length: shiftJIS},
		"UHC":     {codec: korean.EUCKR, length: double},
	}
	for name, codec := range singleByte {
		sources[name] = source{codec: codec}
	}
	found := map[string]*Charset{UTF8: {Name: UTF8}}
	for name, s := range sources {
		s.read = maps.Clone(differences[name])
		if slices.Contains(c1, name) {
			s.read = make(map[string]rune, 32)
			for b := rune(0x80); b < 0xa0; b++ {
				s.read[string([]byte{byte(b)})] = b
			}
		}
		found[name] = &Charset{Name: name, source: s, tables: sync.OnceValue(s.makeTables)}
	}
	return found
}

// aliases are the other names that PostgreSQL knows (pg_encname_tbl in encnames.c), as Find
// compares them.
var aliases = map[string]string{
	"abc": "WIN1258", "alt": "WIN866", "koi8": "KOI8R", "mskanji": "SJIS", "shiftjis": "SJIS", "tcvn": "WIN1258", "tcvn5712": "WIN1258",
	"unicode": UTF8, "vscii": "WIN1258", "win": "WIN1251", "win932": "SJIS", "win936": "GBK", "win949": "UHC", "win950": "BIG5",
	"windows932": "SJIS", "windows936": "GBK", "windows949": "UHC", "windows950": "BIG5",
	"iso88591": "LATIN1", "iso88592": "LATIN2", "iso88593": "LATIN3", "iso88594": "LATIN4", "iso88599": "LATIN5",
	"iso885910": "LATIN6", "iso885913": "LATIN7", "iso885914": "LATIN8", "iso885915": "LATIN9", "iso885916": "LATIN10",
}

func names() map[string]*Charset {
	found := map[string]*Charset{
		"utf8": all[UTF8], "big5": all["BIG5"], "euccn": all["EUC_CN"], "eucjp": all["EUC_JP"], "euckr": all["EUC_KR"],
		"gb18030": all["GB18030"], "gbk": all["GBK"], "sjis": all["SJIS"], "uhc": all["UHC"], "koi8r": all["KOI8R"], "koi8u": all["KOI8U"],
	}
	for n := 5; n <= 8; n++ {
		found[fmt.Sprintf("iso8859%d", n)] = all[fmt.Sprintf("ISO_8859_%d", n)]
	}
	for n := 1; n <= 10; n++ {
		found[fmt.Sprintf("latin%d", n)] = all[fmt.Sprintf("LATIN%d", n)]
	}
	for _, n := range []int{866, 874, 1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258} {
		page := all[fmt.Sprintf("WIN%d", n)]
		found[fmt.Sprintf("win%d", n)], found[fmt.Sprintf("windows%d", n)] = page, page
	}
	for alias, name := range aliases {
		found[alias] = all[name]
	}
	return found
}
