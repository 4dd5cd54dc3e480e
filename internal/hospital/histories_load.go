package hospital

import (
	"context"
	_ "embed"
	"fmt"
	"math/big"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// HistoriesSchema creates the tables persons, stays, diagnoses, prescriptions and labs in the
// schema that comes first on the search path.
//
//go:embed histories.sql
var HistoriesSchema string

// historyRows are the rows of the tables of histories.
type historyRows struct{ persons, stays, diagnoses, prescriptions, labs [][]any }

// LoadHistories creates the tables of histories and fills them with n persons. It does all or
// nothing, and fails if one of the tables exists.
func LoadHistories(ctx context.Context, conn *pgx.Conn, n int, seed uint64) error {
	var rows historyRows
	for h := range Histories(n, seed) {
		rows.add(h)
	}
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, HistoriesSchema); err != nil {
			return fmt.Errorf("creating the tables: %w", err)
		}
		for _, t := range []struct {
			name    string
			columns []string
			rows    [][]any
		}{
			{"persons", []string{"person_id", "name", "national_id", "birth_date", "sex", "postcode"}, rows.persons},
			{"stays", []string{"stay_id", "person_id", "admission_date", "days", "ward", "cost"}, rows.stays},
			{"diagnoses", []string{"stay_id", "position", "code"}, rows.diagnoses},
			{"prescriptions", []string{"prescription_id", "stay_id", "day", "drug"}, rows.prescriptions},
			{"labs", []string{"lab_id", "stay_id", "day", "test", "value"}, rows.labs},
		} {
			if err := copyRows(ctx, tx, t.name, t.columns, t.rows, func(row []any) []any { return row }); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("loading the histories: %w", err)
	}
	if _, err := conn.Exec(ctx, "ANALYZE persons, stays, diagnoses, prescriptions, labs"); err != nil {
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
