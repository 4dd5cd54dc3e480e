package hospital

import (
	"context"
	_ "embed"
	"fmt"
	"iter"
	"math/big"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// Schema creates the tables patients, icd10 and wards in the schema that comes
// first on the search path.
//
//go:embed schema.sql
var Schema string

// Load creates the tables and fills them: n patients and the reference tables.
// It does all or nothing, and fails if one of the tables exists.
func Load(ctx context.Context, conn *pgx.Conn, n int, seed uint64) error {
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, Schema); err != nil {
			return fmt.Errorf("creating the tables: %w", err)
		}
		if err := loadReferences(ctx, tx); err != nil {
			return err
		}
		return loadPatients(ctx, tx, n, seed)
	})
	if err != nil {
		return fmt.Errorf("loading the hospital: %w", err)
	}
	if _, err := conn.Exec(ctx, "ANALYZE patients, icd10, wards"); err != nil {
		return fmt.Errorf("loading the hospital: %w", err)
	}
	return nil
}

func loadReferences(ctx context.Context, tx pgx.Tx) error {
	err := copyRows(ctx, tx, "wards", []string{"ward", "building", "beds"}, Wards(),
		func(w Ward) []any { return []any{w.Ward, w.Building, w.Beds} })
	if err != nil {
		return err
	}
	return copyRows(ctx, tx, "icd10", []string{"code", "description", "chapter"}, Codes(),
		func(c Code) []any { return []any{c.Code, c.Description, c.Chapter} })
}

func copyRows[R any](ctx context.Context, tx pgx.Tx, table string, columns []string, rows []R, values func(R) []any) error {
	source := pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) { return values(rows[i]), nil })
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{table}, columns, source); err != nil {
		return fmt.Errorf("filling %s: %w", table, err)
	}
	return nil
}

// patientColumns are the columns of patients in their order.
var patientColumns = []string{
	"patient_id", "name", "national_id", "birth_date", "sex", "postcode",
	"marital_status", "occupation", "ward", "admission_date", "diagnosis", "cost",
}

func loadPatients(ctx context.Context, tx pgx.Tx, n int, seed uint64) error {
	next, stop := iter.Pull(Generate(n, seed))
	defer stop()
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"patients"}, patientColumns,
		pgx.CopyFromFunc(func() ([]any, error) {
			p, ok := next()
			if !ok {
				return nil, nil
			}
			return []any{
				p.ID, p.Name, p.NationalID, p.BirthDate, p.Sex, p.Postcode,
				p.MaritalStatus, p.Occupation, p.Ward, p.AdmissionDate, p.Diagnosis,
				pgtype.Numeric{Int: big.NewInt(p.Cents), Exp: -2, Valid: true},
			}, nil
		}))
	if err != nil {
		return fmt.Errorf("filling patients: %w", err)
	}
	return nil
}
