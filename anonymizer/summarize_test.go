package anonymizer_test

import (
	"reflect"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
)

// TestSummarizeSubjects: person 7 has three records and two diagnoses.
func TestSummarizeSubjects(t *testing.T) {
	t.Parallel()
	records, err := anonymizer.NewTable(nil, nil, [][]uint32{{1, 1, 2, 1, 3}, {5, 5, 5, 6, 6}})
	if err != nil {
		t.Fatal(err)
	}
	persons, err := records.WithSubjects([]uint32{7, 7, 7, 8, 9})
	if err != nil {
		t.Fatal(err)
	}
	class := []int32{0, 1, 2, 3}
	s := records.Summarize(class)
	if s.Records != 4 || !reflect.DeepEqual(s.Sensitive, []map[uint32]int{{1: 3, 2: 1}, {5: 3, 6: 1}}) {
		t.Errorf("of records: %+v", s)
	}
	s = persons.Summarize(class)
	if s.Records != 2 || !reflect.DeepEqual(s.Sensitive, []map[uint32]int{{1: 2, 2: 1}, {5: 1, 6: 1}}) {
		t.Errorf("of persons: %+v", s)
	}
	if all := persons.Population(); all.Records != 3 || !reflect.DeepEqual(all.Sensitive[0], map[uint32]int{1: 2, 2: 1, 3: 1}) {
		t.Errorf("of all persons: %+v", all.Summary)
	}
	if records.Population().Records != 5 {
		t.Error("the table without subjects has some")
	}
}
