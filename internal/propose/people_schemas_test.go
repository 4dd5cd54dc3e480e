package propose_test

import (
	"fmt"
	"math/rand/v2"
)

// peopleSchemas have several tables about the same persons.
var peopleSchemas = []schema{smallHospital, smallShop, omopCDM, syntheaFiles}

// smallHospital has patients with visits, and what hangs on them.
var smallHospital = schema{"people-hospital", []relation{
	{"patients", protect, 600, []field{
		{"patient_id", "integer", "i", serial(1), true, ""},
		{"name", "text", "i", full, false, ""},
		{"birth_date", "date", "q", day(1930, 2020), false, ""},
		{"sex", "text", "q", one("f", "m"), false, ""},
		{"postcode", "integer", "q", number(1000, 1090), false, ""},
		{"doctor_id", "integer", "i", of(20), false, "doctors"},
	}},
	{"doctors", protect, 20, []field{
		{"doctor_id", "integer", "i", serial(1), true, ""},
		{"first_name", "text", "i", first, false, ""},
		{"last_name", "text", "i", last, false, ""},
		{"birth_date", "date", "q", day(1950, 1990), false, ""},
	}},
	{"visits", protect, 1500, []field{
		{"visit_id", "bigint", "i", serial(1000), true, ""},
		{"patient_id", "integer", "i", of(600), false, "patients"},
		{"created_at", "timestamp with time zone", "i", moment, false, ""},
		{"admitted", "date", "q", day(2023, 2026), false, ""},
		{"ward", "text", "s", one("eye", "heart", "skin"), false, ""},
		{"previous_visit_id", "bigint", "i", nothing(func(r *rand.Rand, _ int) string { return fmt.Sprint(1000 + r.IntN(1500)) }, 80), false, "visits"},
	}},
	{"prescriptions", protect, 3000, []field{
		{"prescription_id", "uuid", "i", func(_ *rand.Rand, i int) string { return patientOf(i) }, true, ""},
		{"visit_id", "bigint", "i", func(r *rand.Rand, _ int) string { return fmt.Sprint(1000 + r.IntN(1500)) }, false, "visits"},
		{"doctor_id", "integer", "i", of(20), false, "doctors"},
		{"drug", "text", "s", one("ramipril", "timolol", "metformin", "ibuprofen"), false, ""},
	}},
	{"administrations", leftOut, 4000, []field{
		{"prescription_id", "uuid", "i", somePatient, false, "prescriptions"},
		{"given_at", "timestamp without time zone", "q", moment, false, ""},
		{"dose", "numeric", "s", number(1, 20), false, ""},
	}},
	{"labs", leftOut, 2000, []field{
		{"lab_id", "integer", "i", serial(1), true, ""},
		{"visit_id", "bigint", "i", func(r *rand.Rand, _ int) string { return fmt.Sprint(1000 + r.IntN(1500)) }, false, "visits"},
		{"patient_id", "integer", "i", of(600), false, "patients"},
		{"taken", "date", "q", day(2023, 2026), false, ""},
		{"test", "text", "s", one("HbA1c", "CRP"), false, ""},
		{"value", "numeric", "s", number(1, 200), false, ""},
	}},
	{"addresses", protect, 600, []field{
		{"address_id", "integer", "i", serial(1), true, ""},
		{"patient_id", "integer", "i", of(600), false, "patients"},
		{"city", "text", "q", one("Berlin", "Wien"), false, ""},
	}},
}}

// smallShop has customers with orders, items and payments.
var smallShop = schema{"people-shop", []relation{
	{"customers", protect, 900, []field{
		{"customer_id", "bigint", "i", serial(1), true, ""},
		{"name", "text", "i", full, false, ""},
		{"email", "text", "i", email, false, ""},
		{"birth_date", "date", "q", day(1940, 2008), false, ""},
		{"country", "text", "q", one("DE", "AT", "CH"), false, ""},
	}},
	{"orders", protect, 3000, []field{
		{"order_id", "bigint", "i", serial(1), true, ""},
		{"customer_id", "bigint", "i", of(900), false, "customers"},
		{"ordered_at", "timestamp with time zone", "q", moment, false, ""},
		{"status", "text", "s", one("paid", "sent", "returned"), false, ""},
		{"total", "numeric", "s", number(1, 500), false, ""},
		{"ship_address", "text", "i", street, false, ""},
		{"store_id", "integer", "i", number(1, 9), false, ""},
	}},
	{"order_items", leftOut, 6000, []field{
		{"order_id", "bigint", "i", of(3000), true, "orders"},
		{"line_no", "integer", "i", number(1, 9), true, ""},
		{"product_id", "integer", "s", number(1, 80), false, "products"},
		{"quantity", "integer", "s", number(1, 9), false, ""},
	}},
	{"payments", leftOut, 3000, []field{
		{"payment_id", "bigint", "i", serial(1), true, ""},
		{"order_id", "bigint", "i", of(3000), false, "orders"},
		{"paid_at", "timestamp with time zone", "q", moment, false, ""},
		{"method", "text", "s", one("card", "transfer", "cash"), false, ""},
		{"amount", "numeric", "s", number(1, 500), false, ""},
	}},
	{"products", readable, 80, []field{
		{"product_id", "integer", "-", serial(1), true, ""},
		{"title", "text", "-", label("Chair", "Table", "Lamp"), false, ""},
		{"price", "numeric", "-", money, false, ""},
	}},
}}

// omopCDM are tables of the OMOP common data model 5.4, with its names of columns.
var omopCDM = schema{"people-omop", []relation{
	{"person", protect, 600, []field{
		{"person_id", "integer", "i", serial(1), true, ""},
		{"gender_concept_id", "integer", "q", one("8507", "8532"), false, ""},
		{"year_of_birth", "integer", "q", number(1920, 2020), false, ""},
		{"month_of_birth", "integer", "i", number(1, 13), false, ""},
		{"day_of_birth", "integer", "i", number(1, 29), false, ""},
		{"birth_datetime", "timestamp without time zone", "i", moment, false, ""},
		{"race_concept_id", "integer", "q", one("8527", "8516"), false, ""},
		{"ethnicity_concept_id", "integer", "q", one("38003563", "38003564"), false, ""},
		{"location_id", "integer", "i", number(1, 300), false, ""},
		{"provider_id", "integer", "i", number(1, 40), false, ""},
		{"care_site_id", "integer", "i", number(1, 9), false, ""},
		{"person_source_value", "character varying", "i", digits("%s", 12), false, ""},
		{"gender_source_value", "character varying", "i", one("F", "M"), false, ""},
		{"gender_source_concept_id", "integer", "i", one("0"), false, ""},
	}},
	{"visit_occurrence", protect, 1800, []field{
		{"visit_occurrence_id", "integer", "i", serial(50000), true, ""},
		{"person_id", "integer", "i", of(600), false, ""},
		{"visit_concept_id", "integer", "s", one("9201", "9202", "9203"), false, ""},
		{"visit_start_date", "date", "q", day(2010, 2020), false, ""},
		{"visit_start_datetime", "timestamp without time zone", "i", moment, false, ""},
		{"visit_end_date", "date", "q", day(2010, 2020), false, ""},
		{"visit_type_concept_id", "integer", "s", one("32817"), false, ""},
		{"provider_id", "integer", "i", number(1, 40), false, ""},
		{"care_site_id", "integer", "i", number(1, 9), false, ""},
		{"visit_source_value", "character varying", "i", digits("V%s", 9), false, ""},
		{"preceding_visit_occurrence_id", "integer", "i", nothing(func(r *rand.Rand, _ int) string { return fmt.Sprint(50000 + r.IntN(1800)) }, 70), false, ""},
	}},
	{"condition_occurrence", protect, 1800, []field{
		{"condition_occurrence_id", "integer", "i", serial(1), true, ""},
		{"person_id", "integer", "i", of(600), false, ""},
		{"condition_concept_id", "integer", "s", one("201826", "316866", "255573"), false, ""},
		{"condition_start_date", "date", "q", day(2010, 2020), false, ""},
		{"condition_source_value", "character varying", "i", icd, false, ""},
		{"visit_occurrence_id", "integer", "i", func(r *rand.Rand, _ int) string { return fmt.Sprint(50000 + r.IntN(1800)) }, false, ""},
	}},
	{"drug_exposure", protect, 2000, []field{
		{"drug_exposure_id", "integer", "i", serial(1), true, ""},
		{"person_id", "integer", "i", of(600), false, ""},
		{"drug_concept_id", "integer", "s", number(1100000, 1100060), false, ""},
		{"drug_exposure_start_date", "date", "q", day(2010, 2020), false, ""},
		{"drug_exposure_end_date", "date", "q", day(2010, 2020), false, ""},
		{"quantity", "numeric", "s", number(1, 90), false, ""},
		{"days_supply", "integer", "s", number(1, 90), false, ""},
		{"provider_id", "integer", "i", number(1, 40), false, ""},
	}},
	{"measurement", protect, 4000, []field{
		{"measurement_id", "integer", "i", serial(1), true, ""},
		{"person_id", "integer", "i", of(600), false, ""},
		{"measurement_concept_id", "integer", "s", number(3000000, 3000200), false, ""},
		{"measurement_date", "date", "q", day(2010, 2020), false, ""},
		{"measurement_time", "character varying", "i", digits("10:%s", 2), false, ""},
		{"value_as_number", "numeric", "s", money, false, ""},
		{"value_as_concept_id", "integer", "s", one("0", "4181412"), false, ""},
		{"unit_concept_id", "integer", "s", one("8876", "8840"), false, ""},
		{"range_low", "numeric", "s", number(1, 9), false, ""},
		{"measurement_source_value", "character varying", "i", digits("%s-4", 4), false, ""},
	}},
	{"observation", protect, 1500, []field{
		{"observation_id", "integer", "i", serial(1), true, ""},
		{"person_id", "integer", "i", of(600), false, ""},
		{"observation_concept_id", "integer", "s", number(4000000, 4000050), false, ""},
		{"observation_date", "date", "q", day(2010, 2020), false, ""},
		{"value_as_string", "character varying", "s", one("yes", "no"), false, ""},
	}},
	{"death", protect, 60, []field{
		{"person_id", "integer", "i", serial(1), true, ""},
		{"death_date", "date", "q", day(2015, 2020), false, ""},
		{"cause_concept_id", "integer", "s", one("321042", "4329847"), false, ""},
	}},
	{"provider", leftOut, 40, []field{
		{"provider_id", "integer", "-", serial(1), true, ""},
		{"provider_name", "character varying", "-", full, false, ""},
		{"npi", "character varying", "-", luhn("1", 10), false, ""},
		{"year_of_birth", "integer", "-", number(1950, 1990), false, ""},
	}},
}}

// patientOf is the uuid of a patient of syntheaFiles.
func patientOf(i int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", i) }

func encounterOf(i int) string { return fmt.Sprintf("00000000-0000-4000-9000-%012d", i) }

func somePatient(r *rand.Rand, _ int) string   { return patientOf(r.IntN(600)) }
func someEncounter(r *rand.Rand, _ int) string { return encounterOf(r.IntN(1800)) }

// syntheaFiles are tables made of the files that Synthea writes, with the names of their headers,
// as text where a file does not say what it is. Some have no key.
var syntheaFiles = schema{"people-synthea", []relation{
	{"patients", protect, 600, []field{
		{"Id", "text", "i", func(_ *rand.Rand, i int) string { return patientOf(i) }, true, ""},
		{"BIRTHDATE", "date", "q", day(1920, 2020), false, ""},
		{"SSN", "text", "i", digits("999-%s-1234", 2), false, ""},
		{"FIRST", "text", "i", first, false, ""},
		{"LAST", "text", "i", last, false, ""},
		{"RACE", "text", "q", one("white", "black", "asian"), false, ""},
		{"GENDER", "text", "q", one("M", "F"), false, ""},
		{"ZIP", "text", "q", digits("02%s", 3), false, ""},
	}},
	{"encounters", protect, 1800, []field{
		{"Id", "text", "i", func(_ *rand.Rand, i int) string { return encounterOf(i) }, true, ""},
		{"START", "timestamp with time zone", "q", moment, false, ""},
		{"STOP", "timestamp with time zone", "q", moment, false, ""},
		{"PATIENT", "text", "i", somePatient, false, ""},
		{"ORGANIZATION", "text", "i", uuid, false, ""},
		{"PROVIDER", "text", "i", uuid, false, ""},
		{"PAYER", "text", "i", one("a1", "b2"), false, ""},
		{"ENCOUNTERCLASS", "text", "s", one("ambulatory", "emergency", "wellness"), false, ""},
		{"CODE", "bigint", "s", one("185345009", "162673000", "50849002"), false, ""},
		{"DESCRIPTION", "text", "s", one("Encounter for symptom", "General examination", "Emergency room admission"), false, ""},
		{"BASE_ENCOUNTER_COST", "numeric", "s", one("129.16", "77.49"), false, ""},
		{"REASONCODE", "bigint", "s", nothing(one("10509002", "195662009"), 50), false, ""},
	}},
	{"conditions", protect, 1500, []field{
		{"START", "date", "q", day(2000, 2020), false, ""},
		{"STOP", "date", "q", nothing(day(2000, 2020), 40), false, ""},
		{"PATIENT", "text", "i", somePatient, false, ""},
		{"ENCOUNTER", "text", "i", someEncounter, false, ""},
		{"CODE", "bigint", "s", one("44054006", "59621000", "162864005"), false, ""},
		{"DESCRIPTION", "text", "s", one("Diabetes", "Hypertension", "Obesity"), false, ""},
	}},
	{"observations", protect, 3000, []field{
		{"DATE", "timestamp with time zone", "q", moment, false, ""},
		{"PATIENT", "text", "i", somePatient, false, ""},
		{"ENCOUNTER", "text", "i", someEncounter, false, ""},
		{"CODE", "text", "s", one("8302-2", "29463-7", "8480-6"), false, ""},
		{"DESCRIPTION", "text", "s", one("Body Height", "Body Weight", "Systolic Blood Pressure"), false, ""},
		{"VALUE", "text", "s", number(40, 220), false, ""},
		{"UNITS", "text", "s", one("cm", "kg", "mm[Hg]"), false, ""},
	}},
}}
