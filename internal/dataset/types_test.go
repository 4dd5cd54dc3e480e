package dataset_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
)

// TestOutputForms has what PostgreSQL 15 writes for the texts: SELECT v::type.
func TestOutputForms(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ typeName, text, want string }{
		{"text", "+007", "+007"},
		{"integer", "+007", "7"},
		{"integer", "-0", "0"},
		{"integer", "2147483647", "2147483647"},
		{"integer", "2147483648", ""},
		{"integer", "1.0", ""},
		{"integer", "1_000", ""},
		{"integer", "0x1F", ""},
		{"bigint", "-09", "-9"},
		{"bigint", "9223372036854775808", ""},
		{"numeric", "1", "1"},
		{"numeric", "1.00", "1.00"},
		{"numeric", "+01.50", "1.50"},
		{"numeric", ".5", "0.5"},
		{"numeric", "5.", "5"},
		{"numeric", "-0.00", "0.00"},
		{"numeric", "-00.10", "-0.10"},
		{"numeric", "1.5e3", "1500"},
		{"numeric", "1.50E-2", "0.0150"},
		{"numeric", "12345e-3", "12.345"},
		{"numeric", "0e5", "0"},
		{"numeric", "nan", "NaN"},
		{"numeric", "-inf", "-Infinity"},
		{"numeric", "+infinity", "Infinity"},
		{"numeric", "1e", ""},
		{"numeric", ".", ""},
		{"numeric", "1,5", ""},
		{"numeric", "--1", ""},
		{"numeric", "1e999999999", ""},
		{"numeric", "1e-999999999", ""},
		{"numeric", "-", ""},
		{"boolean", "true", "t"},
		{"boolean", "T", "t"},
		{"boolean", "YES", "t"},
		{"boolean", "on", "t"},
		{"boolean", "1", "t"},
		{"boolean", "fal", "f"},
		{"boolean", "no", "f"},
		{"boolean", "of", "f"},
		{"boolean", "0", "f"},
		{"boolean", "o", ""},
		{"boolean", "2", ""},
		{"boolean", "trues", ""},
		{"date", "1990-01-02", "1990-01-02"},
		{"date", "1990-1-2", "1990-01-02"},
		{"date", "1990/01/02", "1990-01-02"},
		{"date", "19900102", "1990-01-02"},
		{"date", "2024-02-29", "2024-02-29"},
		{"date", "Infinity", "infinity"},
		{"date", "2023-02-29", ""},
		{"date", "2026-13-45", ""},
		{"date", "01/02/1990", ""},
		{"date", "0000-01-01", ""},
		{"date", "soon", ""},
		{"timestamp", "1990-01-02", "1990-01-02 00:00:00"},
		{"timestamp", "1990-1-2T3:04", "1990-01-02 03:04:00"},
		{"timestamp", "1990-01-02 03:04:05.6700", "1990-01-02 03:04:05.67"},
		{"timestamp", "1990-01-02 23:59:59.9999996", "1990-01-03 00:00:00"},
		{"timestamp", "1990-01-02 03:04:05+02", ""},
		{"timestamp", "1990-01-02 25:00", ""},
		{"timestamp", "1990-01-02 03:04:05,6", ""},
		{"timestamptz", "1990-01-02 03:04:05+02", "1990-01-02 01:04:05+00"},
		{"timestamptz", "1990-01-02T03:04:05Z", "1990-01-02 03:04:05+00"},
		{"timestamptz", "1990-01-01 23:30 -05:30", "1990-01-02 05:00:00+00"},
		{"timestamptz", "1990-01-02", "1990-01-02 00:00:00+00"},
		{"timestamptz", "1990-01-02 03:04:05+99", ""},
		{"timestamptz", "1990-01-02 03:04:05 home", ""},
	} {
		form := config.CSV{Delimiter: ';', Columns: []string{"v"}, Types: map[string]string{"v": row.typeName}}
		f, err := dataset.Parse([]byte(row.text+"\n"), form)
		switch {
		case (err == nil) != (row.want != ""):
			t.Errorf("%s %q: error %v", row.typeName, row.text, err)
		case err == nil && f.Field(0, 0) != row.want:
			t.Errorf("%s %q becomes %q, want %q", row.typeName, row.text, f.Field(0, 0), row.want)
		}
	}
}

// TestFieldsOfDeclaredTypes finds every mistake, and shows ten of them.
func TestFieldsOfDeclaredTypes(t *testing.T) {
	t.Parallel()
	form := config.CSV{Delimiter: ',', Header: true, Types: map[string]string{"age": "integer", "born": "date"}}
	for _, row := range []struct{ name, text, missing, want string }{
		{"one", "age,born\r\n7,2020-01-01\r\nold,2020-01-02\r\n", "", `line 3: age is "old", which is no whole number within 32 bits: correct it, or write csv.missing: old`},
		{"by line", "age,born\n7,2026-13-45\n\"a\nb\",2020-01-02\nn.a.,\n", "", `line 2: born is "2026-13-45", which is no date (year-month-day)
line 3: age is "a\nb", which is no whole number within 32 bits
line 5: age is "n.a.", which is no whole number within 32 bits
Correct them, or leave the fields empty`},
		{"one text", "age,born\nn.a.,\nn.a.,\n", "", `line 2: age is "n.a.", which is no whole number within 32 bits
line 3: age is "n.a.", which is no whole number within 32 bits
Correct them, or write csv.missing: "n.a."`},
		{"another is missing", "age,born\nold,?\n", "?", `line 2: age is "old", which is no whole number within 32 bits: correct it, or leave the field empty`},
		{"long", "age,born\n" + strings.Repeat("x", 1000) + ",\n", "?", "age is \"" + strings.Repeat("x", 40) + "\"..., which"},
	} {
		form.Missing = row.missing
		if _, err := dataset.Parse([]byte(row.text), form); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: error\n%v\nwant\n%s", row.name, err, row.want)
		}
	}
	form.Missing = ""
	var text strings.Builder
	text.WriteString("born,age\n")
	for i := range 30 {
		fmt.Fprintf(&text, "%d.1.2020,old\n", i)
	}
	_, err := dataset.Parse([]byte(text.String()), form)
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 12 || !strings.HasPrefix(lines[9], "line 6: age") || lines[10] != "and 50 more" || lines[11] != "Correct them, or leave the fields empty" {
		t.Errorf("error\n%v", err)
	}
	form.Types = map[string]string{"aeg": "integer"}
	if _, err := dataset.Parse([]byte("age\n1\n"), form); err == nil || !strings.Contains(err.Error(), `csv.types has a column "aeg", which the file does not have: there are age`) {
		t.Errorf("a type of no column: %v", err)
	}
}

// TestFieldsThatMakeATextOfNumbers are named where a hierarchy wants numbers.
func TestFieldsThatMakeATextOfNumbers(t *testing.T) {
	t.Parallel()
	const born = `
tables:
  public.people:
    constraints: [{k: 2}]
    columns:
      born: {role: quasi-identifying, hierarchy: date}
`
	for _, row := range []struct{ name, policy, text, want string }{
		{"one field", policy, "age\n" + strings.Repeat("31\n", 99) + "old\n", `line 101: age is "old", which is no number: correct it, or leave the field empty`},
		{"no missing text", strings.Replace(policy, `"?"`, `"-"`, 1), "age\n31\n32\n33\n?\n?", "line 6"},
		{"codes", policy, "age\n31\n007\n", `line 3: age is "007", which is taken for a text: if it is a number, write csv.types: {age: bigint}`},
		{"no numbers", policy, "age\nnurse\nfarmer\n3\n", `policy.yaml:11: a numeric hierarchy does not fit age: most of its values are no numbers, as "nurse" on line 2; use another kind`},
		{"no dates", born, "born\n1990-01-02\n1990-01-03\n1990-02-30\n", `line 4: born is "1990-02-30", which is no date: correct it, or write csv.missing: "1990-02-30"`},
		{"no moments", born, "born\n1990-01-02 10:00\n1990-01-03 10:01\nlate\n", `line 4: born is "late", which is no date: correct it, or write csv.missing: late`},
		{"nothing", born, "born,x\n,1\n", `policy.yaml:6: born has no values, so that its type is not known: write csv.types: {born: date}`},
	} {
		if _, err := parse(t, row.policy, row.text); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: error\n%v\nwant\n%s", row.name, err, row.want)
		}
	}
	f, err := parse(t, strings.Replace(policy, "age: {role: quasi-identifying, hierarchy: numeric}", "age: {role: quasi-identifying, hierarchy: categorical}", 1), "age\n1\n2\n3\nold\n")
	if err != nil {
		t.Fatal(err)
	}
	if name, line, misfits, ok := f.Nearly(0); name != "bigint" || line != 5 || misfits != 1 || !ok {
		t.Errorf("nearly %s but for %d on line %d: %v", name, misfits, line, ok)
	}
}

// TestReadNamesTheFile has the path before each line.
func TestReadNamesTheFile(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/people.csv"
	write(t, path, "age\nold\n")
	_, err := dataset.Read(path, config.CSV{Delimiter: ',', Header: true, Types: map[string]string{"age": "integer"}})
	if err == nil || !strings.HasPrefix(err.Error(), path+":2: age is") {
		t.Errorf("error %v", err)
	}
}

// TestEmptyFieldsBetweenTabs are not taken for spaces around a field.
func TestEmptyFieldsBetweenTabs(t *testing.T) {
	t.Parallel()
	f, err := dataset.Parse([]byte("age\tzip\tsex\r\n1\t\t f \r\n"), config.CSV{Delimiter: '\t', Header: true, TrimSpaces: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Field(0, 0) + "|" + f.Field(0, 1) + "|" + f.Field(0, 2); got != "1||f" {
		t.Errorf("record %q", got)
	}
}
