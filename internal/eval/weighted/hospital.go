package weighted

import (
	"encoding/csv"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kproxy/kproxy"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
	"github.com/kproxy/kproxy/internal/hospital"
)

// hospitalForm is how the generated patients are written.
const hospitalForm = `csv:
  types: {patient_id: bigint, postcode: text, cost: numeric}
  key: row_number
`

// Hospital are n patients of the demonstration under the policy of config.example.yaml, of
// which the cost is summed.
func Hospital(n int, seed uint64) (Data, error) {
	example := string(kproxy.ExampleConfig)
	from, to := strings.Index(example, "\ntables:"), strings.Index(example, "\nreadable:")
	if from < 0 || to < from {
		return Data{}, errors.New("the example of a configuration has no policy")
	}
	policy, err := config.ParsePolicy("config.example.yaml", []byte(hospitalForm+example[from:to]+"\n"))
	if err != nil {
		return Data{}, fmt.Errorf("reading the hospital's policy: %w", err)
	}
	var text strings.Builder
	w := csv.NewWriter(&text)
	_ = w.Write(strings.Split("patient_id,name,national_id,birth_date,sex,postcode,marital_status,occupation,ward,admission_date,diagnosis,cost", ","))
	for p := range hospital.Generate(n, seed) {
		_ = w.Write([]string{
			strconv.FormatInt(p.ID, 10), p.Name, p.NationalID, p.BirthDate.Format(time.DateOnly), p.Sex, p.Postcode, p.MaritalStatus, p.Occupation,
			p.Ward, p.AdmissionDate.Format(time.DateOnly), p.Diagnosis, p.Cost(),
		})
	}
	w.Flush() // a strings.Builder takes everything
	file, err := dataset.Parse([]byte(text.String()), policy.CSV)
	if err != nil {
		return Data{}, fmt.Errorf("reading the generated patients: %w", err)
	}
	return NewData("hospital", file, policy, "cost")
}
