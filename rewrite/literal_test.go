package rewrite

import (
	"strings"
	"testing"
)

// TestNumberClasses tells the numbers that a template may replace from those that PostgreSQL
// reads as something else: other bases, exponents, several numbers in a row.
func TestNumberClasses(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]class{
		"0": classInteger, "1": classInteger, "9": classInteger, "10": classInteger, "123456789": classInteger,
		"999999999": classInteger, "1234567890": 0, "01": 0, "00": 0, "0x1": 0, "0.5": classDecimal, "0.": 0, "1.": 0, "1.5": classDecimal,
		"12345678901.5": classDecimal, "1.5.3": 0, "1..5": 0, "1e5": 0, "1_000": 0, "1.5e3": 0, "5a": 0, "5/": 0, "5:": 0, "0:": 0,
	} {
		if got := numberClass(number); got != want {
			t.Errorf("%s has the class %q, want %q", number, got, want)
		}
	}
	for text, want := range map[string]class{
		"'a'": classString, "''": classString, "'it''s'": classString, `E'a'`: 0, `e'a'`: 0, `'a\b'`: 0, "'a\x00'": 0, `'\'`: 0,
	} {
		if got := stringClass(text); got != want {
			t.Errorf("%q has the class %q, want %q", text, got, want)
		}
	}
}

// TestLiterals finds the plain literals of texts, and gives up where two may be one.
func TestLiterals(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		"SELECT 1":                      "1",
		"SELECT 1, 'a', 2.5 FROM t":     "1 'a' 2.5",
		"1":                             "1",
		"SELECT 'a''b'":                 "'a''b'",
		"SELECT a.1":                    "none",
		"SELECT t.5, 6":                 "6",
		"SELECT 1e5, 6":                 "6",
		"SELECT 'a' 'b'":                "none",
		"SELECT 'a', 'b'":               "'a' 'b'",
		"SELECT 'a'\n'b', 1":            "none",
		"SELECT $1, 2":                  "2",
		"SELECT $$a$$, 2":               "none",
		"SELECT E'a', 2":                "2",
		"SELECT a":                      "none",
		"":                              "none",
		"SELECT 'open":                  "none",
		"SELECT 12 -- 'a'":              "12",
		"SELECT /* 3 */ 12":             "12",
		"SELECT \"1\", \"a 'b' c\", 12": "12",
	} {
		found, ok := literals(sql, []literal{{1, 2, classString}})
		var texts []string
		for _, l := range found {
			texts = append(texts, sql[l.start:l.end])
		}
		got := strings.Join(texts, " ")
		if !ok {
			got = "none"
		}
		if got != want {
			t.Errorf("%s has the literals %s, want %s", sql, got, want)
		}
	}
	many := "SELECT 0" + strings.Repeat(",1", maxLiterals-1)
	if found, ok := literals(many, nil); !ok || len(found) != maxLiterals {
		t.Errorf("%d literals, %v", len(found), ok)
	}
	if _, ok := literals(many+",1", nil); ok {
		t.Error("one literal too many")
	}
}
