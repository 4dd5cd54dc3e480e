package propose_test

import (
	"fmt"
	"math/rand/v2"
)

// published are tables of databases that are published and well known, by the names of
// their columns: nothing in them was made with these proposals in mind.
var published = []schema{synthea, mimic, omop, northwind, attrition}

// synthea are the patients and encounters of Synthea, synthetic health records.
var synthea = schema{"synthea", []relation{
	{"patients", protect, 600, []field{
		{"id", "uuid", "i", uuid, true, ""},
		{"birthdate", "date", "q", day(1920, 2020), false, ""},
		{"deathdate", "date", "q", nothing(day(1990, 2020), 80), false, ""},
		{"ssn", "text", "i", digits("999-%s-1234", 2), false, ""},
		{"drivers", "text", "i", nothing(digits("S999%s", 5), 20), false, ""},
		{"passport", "text", "i", nothing(digits("X%sX", 8), 30), false, ""},
		{"prefix", "text", "q", one("Mr.", "Mrs.", "Ms."), false, ""},
		{"first", "text", "i", first, false, ""},
		{"last", "text", "i", last, false, ""},
		{"suffix", "text", "q", nothing(one("PhD", "MD", "JD"), 95), false, ""},
		{"maiden", "text", "i", nothing(last, 70), false, ""},
		{"marital", "text", "q", one("M", "S", "D", "W"), false, ""},
		{"race", "text", "q", one("white", "black", "asian"), false, ""},
		{"ethnicity", "text", "q", one("hispanic", "nonhispanic"), false, ""},
		{"gender", "text", "q", one("M", "F"), false, ""},
		{"birthplace", "text", "q", one("Boston Massachusetts US", "Lowell Massachusetts US"), false, ""},
		{"address", "text", "i", street, false, ""},
		{"city", "text", "q", one("Boston", "Lowell", "Quincy"), false, ""},
		{"state", "text", "q", one("Massachusetts"), false, ""},
		{"county", "text", "q", one("Suffolk County", "Norfolk County"), false, ""},
		{"zip", "text", "q", digits("02%s", 3), false, ""},
		{"lat", "numeric", "i", digits("42.%s", 6), false, ""},
		{"lon", "numeric", "i", digits("-71.%s", 6), false, ""},
		{"healthcare_expenses", "numeric", "sq", money, false, ""},
		{"healthcare_coverage", "numeric", "sq", money, false, ""},
	}},
	{"encounters", protect, 1800, []field{
		{"id", "uuid", "i", uuid, true, ""},
		{"start", "timestamp with time zone", "q", moment, false, ""},
		{"stop", "timestamp with time zone", "q", moment, false, ""},
		{"patient", "uuid", "i", uuid, false, "patients"},
		{"organization", "uuid", "i", uuid, false, ""},
		{"encounterclass", "text", "qs", one("ambulatory", "emergency", "wellness"), false, ""},
		{"code", "bigint", "qs", one("185345009", "162673000", "50849002"), false, ""},
		{"description", "text", "is", one("Encounter for symptom", "General examination", "Emergency room admission"), false, ""},
		{"base_encounter_cost", "numeric", "s", money, false, ""},
		{"reasoncode", "bigint", "qs", nothing(one("10509002", "195662009"), 50), false, ""},
	}},
}}

// mimic are tables of MIMIC-III, a critical care database.
var mimic = schema{"mimic", []relation{
	{"patients", protect, 600, []field{
		{"row_id", "integer", "i", serial(1), true, ""},
		{"subject_id", "integer", "i", serial(100), false, ""},
		{"gender", "character varying", "q", one("M", "F"), false, ""},
		{"dob", "timestamp without time zone", "q", moment, false, ""},
		{"dod", "timestamp without time zone", "q", nothing(moment, 60), false, ""},
		{"expire_flag", "integer", "qs", one("0", "1"), false, ""},
	}},
	{"admissions", protect, 900, []field{
		{"row_id", "integer", "i", serial(1), true, ""},
		{"subject_id", "integer", "i", number(100, 700), false, "patients"},
		{"hadm_id", "integer", "i", serial(100000), false, ""},
		{"admittime", "timestamp without time zone", "q", moment, false, ""},
		{"dischtime", "timestamp without time zone", "q", moment, false, ""},
		{"admission_type", "character varying", "qs", one("EMERGENCY", "ELECTIVE", "URGENT"), false, ""},
		{"insurance", "character varying", "qs", one("Medicare", "Private", "Medicaid"), false, ""},
		{"language", "character varying", "q", one("ENGL", "SPAN", "RUSS"), false, ""},
		{"religion", "character varying", "q", one("CATHOLIC", "JEWISH", "NOT SPECIFIED"), false, ""},
		{"marital_status", "character varying", "q", one("MARRIED", "SINGLE", "WIDOWED"), false, ""},
		{"ethnicity", "character varying", "q", one("WHITE", "BLACK", "ASIAN"), false, ""},
		{"diagnosis", "character varying", "s", one("SEPSIS", "PNEUMONIA", "STROKE"), false, ""},
		{"hospital_expire_flag", "smallint", "qs", one("0", "1"), false, ""},
	}},
	{"noteevents", leftOut, 400, []field{ // nothing but dates and texts: protected or not
		{"row_id", "integer", "i", serial(1), true, ""},
		{"storetime", "timestamp without time zone", "q", moment, false, ""},
		{"text", "text", "i", prose, false, ""},
	}},
}}

// omop are tables of the OMOP common data model.
var omop = schema{"omop", []relation{
	{"person", protect, 600, []field{
		{"person_id", "integer", "i", serial(1), true, ""},
		{"gender_concept_id", "integer", "q", one("8507", "8532"), false, "concept"},
		{"year_of_birth", "integer", "q", number(1920, 2020), false, ""},
		{"month_of_birth", "integer", "q", number(1, 13), false, ""},
		{"day_of_birth", "integer", "q", number(1, 29), false, ""},
		{"birth_datetime", "timestamp without time zone", "q", moment, false, ""},
		{"race_concept_id", "integer", "q", one("8527", "8516"), false, "concept"},
		{"ethnicity_concept_id", "integer", "q", one("38003563", "38003564"), false, "concept"},
		{"location_id", "integer", "qi", number(1, 300), false, ""},
		{"person_source_value", "character varying", "i", digits("%s", 12), false, ""},
		{"gender_source_value", "character varying", "q", one("F", "M"), false, ""},
	}},
	{"condition_occurrence", protect, 1800, []field{
		{"condition_occurrence_id", "integer", "i", serial(1), true, ""},
		{"person_id", "integer", "i", number(1, 600), false, "person"},
		{"condition_concept_id", "integer", "s", one("201826", "316866", "255573"), false, "concept"},
		{"condition_start_date", "date", "q", day(2010, 2020), false, ""},
		{"condition_source_value", "character varying", "s", icd, false, ""},
	}},
	{"concept", readable, 900, []field{
		{"concept_id", "integer", "-", serial(8000), true, ""},
		{"concept_name", "character varying", "-", label("Fracture", "Asthma", "Fever"), false, ""},
		{"domain_id", "character varying", "-", one("Condition", "Gender"), false, ""},
	}},
}}

// northwind are tables of Microsoft's sample of a trader.
var northwind = schema{"northwind", []relation{
	{"Employees", protect, 120, []field{
		{"EmployeeID", "integer", "i", serial(1), true, ""},
		{"LastName", "text", "i", last, false, ""},
		{"FirstName", "text", "i", first, false, ""},
		{"Title", "text", "q", one("Sales Representative", "Sales Manager"), false, ""},
		{"TitleOfCourtesy", "text", "q", one("Mr.", "Ms.", "Dr."), false, ""},
		{"BirthDate", "date", "q", day(1940, 1980), false, ""},
		{"HireDate", "date", "q", day(1992, 1995), false, ""},
		{"Address", "text", "i", street, false, ""},
		{"City", "text", "q", one("London", "Seattle", "Tacoma"), false, ""},
		{"PostalCode", "text", "q", digits("98%s", 3), false, ""},
		{"Country", "text", "q", one("USA", "UK"), false, ""},
		{"HomePhone", "text", "i", phone, false, ""},
		{"Extension", "text", "i", digits("%s", 4), false, ""},
		{"Notes", "text", "i", prose, false, ""},
		{"ReportsTo", "integer", "i", number(1, 10), false, "Employees"},
	}},
	{"Orders", protect, 1500, []field{
		{"OrderID", "integer", "i", serial(10248), true, ""},
		{"CustomerID", "text", "i", func(r *rand.Rand, _ int) string { return fmt.Sprintf("C%04d", r.IntN(300)) }, false, ""},
		{"EmployeeID", "integer", "i", number(1, 120), false, "Employees"},
		{"OrderDate", "date", "q", day(1996, 1998), false, ""},
		{"Freight", "numeric", "qs", money, false, ""},
		{"ShipName", "text", "i", full, false, ""},
		{"ShipAddress", "text", "i", street, false, ""},
		{"ShipCity", "text", "q", one("Reims", "Lyon", "Rio"), false, ""},
		{"ShipCountry", "text", "q", one("France", "Brazil"), false, ""},
	}},
	{"Shippers", leftOut, 3, []field{
		{"ShipperID", "integer", "-", serial(1), true, ""},
		{"CompanyName", "text", "-", label("Speedy"), false, ""},
		{"Phone", "text", "-", phone, false, ""},
	}},
}}

// attrition are columns of IBM's data set of employees who left.
var attrition = schema{"attrition", []relation{
	{"hr_employee_attrition", protect, 700, []field{
		{"Age", "integer", "q", number(18, 60), false, ""},
		{"Attrition", "text", "qs", one("Yes", "No"), false, ""},
		{"BusinessTravel", "text", "q", one("Travel_Rarely", "Travel_Frequently"), false, ""},
		{"DailyRate", "integer", "sq", number(100, 1500), false, ""},
		{"Department", "text", "q", one("Sales", "Research"), false, ""},
		{"DistanceFromHome", "integer", "q", number(1, 30), false, ""},
		{"EducationField", "text", "q", one("Medical", "Marketing"), false, ""},
		{"EmployeeNumber", "integer", "i", serial(1), false, ""},
		{"Gender", "text", "q", one("Male", "Female"), false, ""},
		{"JobRole", "text", "q", one("Manager", "Nurse"), false, ""},
		{"JobSatisfaction", "integer", "qs", number(1, 5), false, ""},
		{"MaritalStatus", "text", "q", one("Married", "Single"), false, ""},
		{"MonthlyIncome", "integer", "s", number(1000, 20000), false, ""},
		{"OverTime", "text", "q", one("Yes", "No"), false, ""},
		{"PerformanceRating", "integer", "s", number(3, 5), false, ""},
		{"YearsAtCompany", "integer", "q", number(0, 40), false, ""},
	}},
}}
