package hospital

// Code is a row of the table icd10.
type Code struct {
	Code        string
	Description string
	Chapter     string
}

// Codes returns the rows of the table icd10, ordered by code.
func Codes() []Code {
	codes := make([]Code, len(diagnoses))
	for i, d := range diagnoses {
		codes[i] = Code{Code: d.code, Description: d.description, Chapter: d.chapter}
	}
	return codes
}
