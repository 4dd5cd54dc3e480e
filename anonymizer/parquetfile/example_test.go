package parquetfile_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/csvfile"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/parquetfile"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Records of CSV become a release in Parquet.
func ExampleWriteRelease() {
	const people = "age,born,zip,diagnosis\n23,2001-02-03,10115,flu\n27,1997-05-06,10117,gout\n51,1973-01-01,80331,flu\n58,1966-12-24,80333,\n"
	f, err := csvfile.Read(strings.NewReader(people), []csvfile.QuasiIdentifier{
		{Column: "age", Spec: hierarchy.Spec{Kind: hierarchy.Numeric}},
		{Column: "born", Spec: hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainDate}},
		{Column: "zip", Spec: hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText}},
	}, "diagnosis")
	if err != nil {
		panic(err)
	}
	method, err := methods.Trying("lookahead-partition", anonymizer.Fast)
	if err != nil {
		panic(err)
	}
	parts, err := anonymizer.Anonymize(context.Background(), method, f.Table, privacy.ConstraintSet{privacy.KAnonymity{K: 2}}, anonymizer.Options{Seed: 1})
	if err != nil {
		panic(err)
	}
	var file bytes.Buffer
	if err := parquetfile.WriteRelease(&file, f, parts[0].Release); err != nil {
		panic(err)
	}

	r, err := parquetfile.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Columns())
	for row, err := range r.Rows() {
		if err != nil {
			panic(err)
		}
		fmt.Println(row[0].Text, row[1].Text, row[2].Text, row[3].Text)
	}
	// Output:
	// [range of bigint range of date text text]
	// [23,28) [1997-05-06,2001-02-04) 1011* flu
	// [23,28) [1997-05-06,2001-02-04) 1011* gout
	// [51,59) [1966-12-24,1973-01-02) 8033* flu
	// [51,59) [1966-12-24,1973-01-02) 8033*
}

// A file can be written and read row by row.
func ExampleWriter() {
	var file bytes.Buffer
	w, err := parquetfile.NewWriter(&file, []parquetfile.Column{
		{Name: "name"},
		{Name: "cost", Kind: parquetfile.Decimal, Precision: 9, Scale: 2},
		{Name: "age", Kind: parquetfile.Int32, Range: true},
	})
	if err != nil {
		panic(err)
	}
	if err := w.Write([]parquetfile.Value{parquetfile.Of("Ann"), parquetfile.Of("12.5"), parquetfile.Of("[20,30)")}); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	r, err := parquetfile.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		panic(err)
	}
	for row, err := range r.Rows() {
		fmt.Println(r.Columns(), row, err)
	}
	// Output: [text numeric(9,2) range of integer] [{Ann false} {12.50 false} {[20,30) false}] <nil>
}
