package hospital

import (
	"context"
	_ "embed"
	"fmt"
	"math/big"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/kproxy/kproxy/internal/example"
)

// HistoriesSchema creates the tables persons, stays, diagnoses, prescriptions and labs in the
// schema that comes first on the search path.
//
//go:embed histories.sql
var HistoriesSchema string

// HistoriesPolicy is a policy file that releases the tables of histories together.
//
//go:embed histories.yaml
var HistoriesPolicy string

// historyRows are the rows of the tables of histories.
type historyRows struct{ persons, stays, diagnoses, prescriptions, labs [][]any }

// LoadHistories creates the tables of histories and fills them with n persons. It does all or
// nothing, and fails if one of the tables exists.
func LoadHistories(ctx context.Context, conn *pgx.Conn, n int, seed uint64) error {
	var rows historyRows
	for h := range Histories(n, seed) {
		rows.add(h)
	}
	err := example.Load(ctx, conn, HistoriesSchema, []example.Table{
		{Name: "persons", Columns: []string{"person_id", "name", "national_id", "birth_date", "sex", "postcode"}, Rows: rows.persons},
		{Name: "stays", Columns: []string{"stay_id", "person_id", "admission_date", "days", "ward", "cost"}, Rows: rows.stays},
		{Name: "diagnoses", Columns: []string{"stay_id", "position", "code"}, Rows: rows.diagnoses},
		{Name: "prescriptions", Columns: []string{"prescription_id", "stay_id", "day", "drug"}, Rows: rows.prescriptions},
		{Name: "labs", Columns: []string{"lab_id", "stay_id", "day", "test", "value"}, Rows: rows.labs},
	})
	if err != nil {
		return fmt.Errorf("loading the histories: %w", err)
	}
	return nil
}

// add numbers the rows of one person after those of the persons before.
func (r *historyRows) add(h History) {
	r.persons = append(r.persons, []any{h.ID, h.Name, h.NationalID, h.BirthDate, h.Sex, h.Postcode})
	for _, s := range h.Stays {
		stay := int64(len(r.stays)) + 1
		cost := pgtype.Numeric{Int: big.NewInt(s.Cents), Exp: -2, Valid: true}
		r.stays = append(r.stays, []any{stay, h.ID, s.AdmissionDate, s.Days, s.Ward, cost})
		for i, code := range s.Diagnoses {
			r.diagnoses = append(r.diagnoses, []any{stay, i + 1, code})
		}
		for _, p := range s.Prescriptions {
			r.prescriptions = append(r.prescriptions, []any{int64(len(r.prescriptions)) + 1, stay, p.Day, p.Drug})
		}
		for _, l := range s.Labs {
			value := pgtype.Numeric{Int: big.NewInt(l.Value), Exp: -1, Valid: true}
			r.labs = append(r.labs, []any{int64(len(r.labs)) + 1, stay, l.Day, l.Test, value})
		}
	}
}
