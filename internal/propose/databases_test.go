package propose_test

import "github.com/kproxy/kproxy/internal/propose"

const (
	protect  = propose.Protect
	readable = propose.Readable
	leftOut  = propose.LeaveOut
)

// databases are made after those that are found in practice.
var databases = []schema{hospitalEnglish, hospitalGerman, adult, sales, staff, shop, clinicFrench, insuranceSpanish, unnamed}

var hospitalEnglish = schema{"hospital", []relation{
	{"patients", protect, 800, []field{
		{"patient_id", "bigint", "i", serial(1), true, ""},
		{"mrn", "text", "i", digits("MRN%s", 7), false, ""},
		{"first_name", "text", "i", first, false, ""},
		{"last_name", "text", "i", last, false, ""},
		{"ssn", "text", "i", digits("219-09-%s", 4), false, ""},
		{"birth_date", "date", "q", day(1930, 2020), false, ""},
		{"sex", "character", "q", one("F", "M"), false, ""},
		{"zip_code", "text", "q", digits("10%s", 3), false, ""},
		{"city", "text", "q", one("Springfield", "Shelbyville", "Ogdenville"), false, ""},
		{"marital_status", "text", "q", one("married", "single", "divorced", "widowed"), false, ""},
		{"phone_home", "text", "i", phone, false, ""},
		{"emergency_contact", "text", "i", full, false, ""},
		{"insurance_number", "text", "i", digits("K%s", 9), false, ""},
		{"blood_type", "text", "qs", one("A", "B", "AB", "0"), false, ""},
		{"created_at", "timestamp with time zone", "q", moment, false, ""},
	}},
	{"admissions", protect, 1600, []field{
		{"admission_id", "bigint", "i", serial(1), true, ""},
		{"patient_id", "bigint", "i", of(800), false, "patients"},
		{"admission_date", "date", "q", day(2020, 2026), false, ""},
		{"discharge_date", "date", "q", nothing(day(2020, 2026), 10), false, ""},
		{"ward_code", "text", "s", one("W00", "W01", "W02", "W03"), false, "wards"},
		{"diagnosis", "text", "s", icd, false, "icd10"},
		{"total_cost", "numeric", "s", money, false, ""},
		{"notes", "text", "i", prose, false, ""},
		{"attending_physician", "text", "i", full, false, ""},
	}},
	{"lab_results", protect, 2400, []field{
		{"id", "bigint", "i", serial(1), true, ""},
		{"patient_id", "bigint", "i", of(800), false, ""}, // no foreign key declared
		{"taken_at", "timestamp with time zone", "q", moment, false, ""},
		{"test_code", "text", "s", one("HB", "CRP", "NA", "K"), false, ""},
		{"result_value", "numeric", "s", number(1, 100), false, ""},
	}},
	{"icd10", readable, 64, []field{
		{"code", "text", "-", code("A"), true, ""},
		{"description", "text", "-", label("Acute bronchitis, unspecified and long enough to look like prose"), false, ""},
		{"chapter", "text", "-", one("Circulatory", "Respiratory"), false, ""},
	}},
	{"wards", readable, 15, []field{
		{"ward_code", "text", "-", code("W"), true, ""},
		{"building", "text", "-", one("North", "South"), false, ""},
		{"beds", "integer", "-", number(5, 40), false, ""},
	}},
	{"physicians", protect, 60, []field{
		{"physician_id", "integer", "i", serial(1), true, ""},
		{"name", "text", "i", full, false, ""},
		{"specialty", "text", "q", one("surgery", "pediatrics", "oncology"), false, ""},
		{"hired", "date", "q", day(1990, 2024), false, ""},
	}},
	{"audit_log", leftOut, 500, []field{
		{"id", "bigint", "i", serial(1), true, ""},
		{"actor", "text", "i", full, false, ""},
		{"client_ip", "inet", "i", address, false, ""},
		{"action", "text", "-", one("read", "write"), false, ""},
	}},
}}

var hospitalGerman = schema{"krankenhaus", []relation{
	{"patienten", protect, 800, []field{
		{"patnr", "integer", "i", serial(100000), true, ""},
		{"nachname", "character varying", "i", last, false, ""},
		{"vorname", "character varying", "i", first, false, ""},
		{"geburtsdatum", "date", "q", day(1930, 2020), false, ""},
		{"geschlecht", "character", "q", one("w", "m", "d"), false, ""},
		{"strasse", "character varying", "i", street, false, ""},
		{"hausnr", "character varying", "i", number(1, 200), false, ""},
		{"plz", "character", "q", digits("1%s", 4), false, ""},
		{"ort", "character varying", "q", one("Berlin", "Potsdam", "Spandau"), false, ""},
		{"telefon", "character varying", "i", phone, false, ""},
		{"krankenversichertennr", "character varying", "i", digits("A%s", 9), false, ""},
		{"familienstand", "character varying", "q", one("ledig", "verheiratet", "geschieden", "verwitwet"), false, ""},
		{"konfession", "character varying", "q", one("ev", "rk", "keine"), false, ""},
		{"beruf", "character varying", "q", one("Lehrer", "Koch", "Rentner", "Arzt"), false, ""},
		{"hausarzt", "character varying", "i", full, false, ""},
	}},
	{"aufenthalte", protect, 1600, []field{
		{"fallnr", "integer", "i", serial(1), true, ""},
		{"patnr", "integer", "i", number(100000, 100800), false, "patienten"},
		{"aufnahmedatum", "date", "q", day(2020, 2026), false, ""},
		{"entlassungsdatum", "date", "q", day(2020, 2026), false, ""},
		{"hauptdiagnose", "character varying", "s", icd, false, ""},
		{"station", "character varying", "s", one("1A", "1B", "2A"), false, "stationen"},
		{"abteilung", "character varying", "qs", one("Chirurgie", "Innere"), false, ""},
		{"bemerkung", "text", "i", prose, false, ""},
		{"kosten", "numeric", "s", money, false, ""},
	}},
	{"stationen", readable, 12, []field{
		{"station", "character varying", "-", code("S"), true, ""},
		{"bezeichnung", "character varying", "-", label("Chirurgie", "Innere"), false, ""},
		{"betten", "integer", "-", number(5, 40), false, ""},
	}},
	{"mitarbeiter", protect, 120, []field{
		{"personalnr", "integer", "i", serial(5000), true, ""},
		{"name", "character varying", "i", full, false, ""},
		{"steuer_id", "character varying", "i", digits("%s", 11), false, ""},
		{"eintrittsdatum", "date", "q", day(1990, 2024), false, ""},
		{"gehalt", "numeric", "s", money, false, ""},
	}},
}}

var adult = schema{"adult", []relation{
	{"adult", protect, 1500, []field{
		{"age", "integer", "q", number(17, 90), false, ""},
		{"workclass", "text", "q", one("Private", "Self-emp-inc", "State-gov", "Local-gov", "Without-pay"), false, ""},
		{"fnlwgt", "integer", "i", number(12285, 1484705), false, ""},
		{"education", "text", "q", one("HS-grad", "Bachelors", "Masters", "Doctorate", "11th"), false, ""},
		{"education-num", "integer", "q", number(1, 17), false, ""},
		{"marital-status", "text", "q", one("Married-civ-spouse", "Never-married", "Divorced", "Widowed"), false, ""},
		{"occupation", "text", "q", one("Sales", "Tech-support", "Exec-managerial", "Craft-repair"), false, ""},
		{"relationship", "text", "q", one("Husband", "Wife", "Own-child", "Unmarried"), false, ""},
		{"race", "text", "q", one("White", "Black", "Other"), false, ""},
		{"sex", "text", "q", one("Male", "Female"), false, ""},
		{"capital-gain", "integer", "s", number(0, 5), false, ""},
		{"capital-loss", "integer", "s", number(0, 5), false, ""},
		{"hours-per-week", "integer", "q", number(1, 99), false, ""},
		{"native-country", "text", "q", one("United-States", "Mexico", "Germany", "Philippines", "India"), false, ""},
		{"income", "text", "s", one("<=50K", ">50K"), false, ""},
	}},
}}

var sales = schema{"crm", []relation{
	{"companies", leftOut, 200, []field{
		{"id", "integer", "i", serial(1), true, ""},
		{"name", "text", "i", label("Acme", "Globex", "Initech"), false, ""},
		{"phone", "text", "i", phone, false, ""},
		{"website", "text", "i", label("https://example.org/"), false, ""},
		{"industry", "text", "-", one("steel", "food"), false, ""},
	}},
	{"contacts", protect, 900, []field{
		{"id", "uuid", "i", uuid, true, ""},
		{"company_id", "integer", "qi", of(200), false, "companies"},
		{"salutation", "text", "q", one("Mr", "Ms", "Dr"), false, ""},
		{"firstName", "text", "i", first, false, ""},
		{"lastName", "text", "i", last, false, ""},
		{"emailAddress", "text", "i", email, false, ""},
		{"mobile", "text", "i", phone, false, ""},
		{"jobTitle", "text", "q", one("buyer", "engineer", "director"), false, ""},
		{"leadSource", "text", "q", one("web", "fair", "phone"), false, ""},
		{"newsletter", "boolean", "q", one("t", "f"), false, ""},
		{"linkedin", "text", "i", label("https://www.example.org/in/x"), false, ""},
		{"score", "integer", "s", number(0, 100), false, ""},
		{"owner_id", "integer", "qi", of(12), false, "users"},
	}},
	{"activities", protect, 2500, []field{
		{"id", "bigint", "i", serial(1), true, ""},
		{"contact_id", "uuid", "i", uuid, false, "contacts"},
		{"kind", "text", "q", one("call", "mail", "visit"), false, ""},
		{"happened_at", "timestamp with time zone", "q", moment, false, ""},
		{"body", "text", "i", prose, false, ""},
	}},
	{"users", protect, 12, []field{
		{"id", "integer", "i", serial(1), true, ""},
		{"username", "text", "i", email, false, ""},
		{"password_hash", "text", "i", uuid, false, ""},
		{"role", "text", "q", one("admin", "rep"), false, ""},
		{"last_login", "timestamp with time zone", "q", moment, false, ""},
	}},
	{"campaigns", readable, 30, []field{
		{"id", "integer", "-", serial(1), true, ""},
		{"title", "text", "-", label("Spring", "Autumn"), false, ""},
		{"budget", "numeric", "-", money, false, ""},
	}},
}}

var staff = schema{"hr", []relation{
	{"employees", protect, 700, []field{
		{"employee_id", "integer", "i", serial(1000), true, ""},
		{"full_name", "text", "i", full, false, ""},
		{"work_email", "text", "i", email, false, ""},
		{"national_insurance_no", "text", "i", digits("AB%sC", 6), false, ""},
		{"bank_account", "text", "i", iban, false, ""},
		{"date_of_birth", "date", "q", day(1955, 2005), false, ""},
		{"gender", "text", "q", one("f", "m", "x"), false, ""},
		{"nationality", "text", "q", one("DE", "FR", "PL", "IN", "US"), false, ""},
		{"hire_date", "date", "q", day(1995, 2025), false, ""},
		{"department_id", "integer", "q", of(12), false, "departments"},
		{"manager_id", "integer", "i", number(1000, 1050), false, "employees"},
		{"job_grade", "text", "qs", one("E1", "E2", "E3"), false, ""},
		{"office_floor", "integer", "q", number(1, 9), false, ""},
		{"badge", "text", "i", luhn("35", 15), false, ""},
	}},
	{"salaries", protect, 2000, []field{
		{"employee_id", "integer", "i", number(1000, 1700), true, "employees"},
		{"valid_from", "date", "q", day(2015, 2025), false, ""},
		{"base_salary", "numeric", "s", money, false, ""},
		{"bonus", "numeric", "s", money, false, ""},
	}},
	{"sick_leave", protect, 1500, []field{
		{"id", "integer", "i", serial(1), true, ""},
		{"employee_id", "integer", "i", number(1000, 1700), false, "employees"},
		{"started", "date", "q", day(2018, 2025), false, ""},
		{"days", "integer", "q", number(1, 30), false, ""},
		{"reason", "text", "qs", one("flu", "accident", "other"), false, ""},
	}},
	{"departments", leftOut, 12, []field{
		{"id", "integer", "i", serial(1), true, ""},
		{"name", "text", "-", label("Sales", "Support", "Research"), false, ""},
		{"manager_id", "integer", "i", number(1000, 1050), false, "employees"},
	}},
	{"job_grades", readable, 3, []field{
		{"code", "text", "-", code("E"), true, ""},
		{"label", "text", "-", label("junior", "senior"), false, ""},
	}},
}}

var shop = schema{"shop", []relation{
	{"customers", protect, 900, []field{
		{"customer_id", "bigint", "i", serial(1), true, ""},
		{"name", "text", "i", full, false, ""},
		{"email", "text", "i", email, false, ""},
		{"email_verified", "boolean", "q", one("t", "f"), false, ""},
		{"dob", "date", "q", nothing(day(1940, 2008), 30), false, ""},
		{"country_code", "character", "q", one("DE", "AT", "CH", "FR", "PL"), false, ""},
		{"language", "text", "q", one("de", "en", "fr"), false, ""},
		{"signup_ip", "text", "i", address, false, ""},
		{"loyalty_tier", "text", "q", one("bronze", "silver", "gold"), false, ""},
		{"credit_limit", "integer", "s", one("0", "500", "1000"), false, ""},
	}},
	{"addresses", protect, 1100, []field{
		{"address_id", "bigint", "i", serial(1), true, ""},
		{"customer_id", "bigint", "i", of(900), false, "customers"},
		{"address_line1", "text", "i", street, false, ""},
		{"postal_code", "text", "q", digits("%s", 5), false, ""},
		{"city", "text", "q", one("Berlin", "Wien", "Paris"), false, ""},
		{"latitude", "double precision", "i", digits("52.%s", 6), false, ""},
		{"longitude", "double precision", "i", digits("13.%s", 6), false, ""},
		{"address_type", "text", "q", one("billing", "shipping"), false, ""},
	}},
	{"orders", protect, 3000, []field{
		{"order_id", "bigint", "i", serial(1), true, ""},
		{"customer_id", "bigint", "i", of(900), false, "customers"},
		{"ordered_at", "timestamp with time zone", "q", moment, false, ""},
		{"status", "text", "q", one("paid", "sent", "returned"), false, ""},
		{"total", "numeric", "s", money, false, ""},
		{"card_number", "text", "i", luhn("4", 16), false, ""},
		{"coupon", "text", "qi", nothing(one("SPRING", "VIP"), 80), false, ""},
	}},
	{"order_items", leftOut, 6000, []field{
		{"order_id", "bigint", "i", of(3000), true, "orders"},
		{"line_no", "integer", "-", number(1, 9), true, ""},
		{"sku", "text", "-", code("P"), false, "products"},
		{"quantity", "integer", "-", number(1, 9), false, ""},
	}},
	{"products", readable, 300, []field{
		{"sku", "text", "-", code("P"), true, ""},
		{"name", "text", "-", label("Chair", "Table", "Lamp"), false, ""},
		{"description", "text", "-", label("A chair of wood that lasts for many years and looks it"), false, ""},
		{"price", "numeric", "-", money, false, ""},
		{"weight", "numeric", "-", money, false, ""},
	}},
	{"scores", leftOut, 900, []field{ // whose customers no key and no other column tells of
		{"vid", "integer", "-", serial(1), true, ""},
		{"customer_no", "integer", "-", of(400), false, ""},
		{"height", "integer", "-", number(150, 200), false, ""},
		{"chronic", "boolean", "-", one("t", "f"), false, ""},
	}},
	{"stores", leftOut, 20, []field{
		{"store_id", "integer", "-", serial(1), true, ""},
		{"street", "text", "-", street, false, ""},
		{"phone", "text", "-", phone, false, ""},
	}},
	{"reviews", protect, 800, []field{
		{"review_id", "bigint", "i", serial(1), true, ""},
		{"customer_id", "bigint", "i", of(900), false, "customers"},
		{"sku", "text", "q", one("P00", "P01", "P02"), false, "products"},
		{"rating", "integer", "s", number(1, 6), false, ""},
		{"text", "text", "i", prose, false, ""},
	}},
}}

var clinicFrench = schema{"clinique", []relation{
	{"patients", protect, 700, []field{
		{"id_patient", "integer", "i", serial(1), true, ""},
		{"nom", "text", "i", last, false, ""},
		{"prénom", "text", "i", first, false, ""},
		{"date_naissance", "date", "q", day(1930, 2020), false, ""},
		{"sexe", "text", "q", one("F", "M"), false, ""},
		{"code_postal", "text", "q", digits("75%s", 3), false, ""},
		{"ville", "text", "q", one("Paris", "Lyon", "Nantes"), false, ""},
		{"téléphone", "text", "i", phone, false, ""},
		{"courriel", "text", "i", email, false, ""},
		{"num_secu", "text", "i", digits("1%s", 14), false, ""},
		{"profession", "text", "q", one("enseignant", "cuisinier", "retraité"), false, ""},
		{"maladie", "text", "s", one("asthme", "grippe", "diabète"), false, ""},
		{"observations", "text", "i", prose, false, ""},
	}},
}}

//nolint:misspell // words of other languages
var insuranceSpanish = schema{"seguros", []relation{
	{"clientes", protect, 700, []field{
		{"id", "integer", "i", serial(1), true, ""},
		{"nombre", "text", "i", first, false, ""},
		{"apellidos", "text", "i", last, false, ""},
		{"dni", "text", "i", digits("%sZ", 8), false, ""},
		{"fecha_nacimiento", "date", "q", day(1930, 2005), false, ""},
		{"sexo", "text", "q", one("H", "M"), false, ""},
		{"estado_civil", "text", "q", one("casado", "soltero", "viudo"), false, ""},
		{"dirección", "text", "i", street, false, ""},
		{"código_postal", "text", "q", digits("28%s", 3), false, ""},
		{"provincia", "text", "q", one("Madrid", "Sevilla"), false, ""},
		{"correo", "text", "i", email, false, ""},
		{"ingresos", "numeric", "s", money, false, ""},
		{"cuenta", "text", "i", iban, false, ""},
	}},
}}

// unnamed has columns whose names say nothing: values alone tell.
var unnamed = schema{"cryptic", []relation{
	{"t_0815", protect, 900, []field{
		{"c1", "integer", "i", serial(1), true, ""},
		{"c2", "text", "i", full, false, ""},
		{"c3", "text", "i", email, false, ""},
		{"c4", "text", "i", phone, false, ""},
		{"c5", "text", "i", iban, false, ""},
		{"c6", "text", "i", luhn("4", 16), false, ""},
		{"c7", "text", "i", uuid, false, ""},
		{"c8", "text", "i", prose, false, ""},
		{"c9", "date", "q", day(1930, 2020), false, ""},
		{"c10", "text", "q", one("f", "m"), false, ""},
		{"c11", "text", "qs", icd, false, ""},
		{"c12", "integer", "q", number(17, 90), false, ""},
		{"c13", "text", "q", digits("1%s", 4), false, ""},
		{"c14", "text", "i", first, false, ""},
		{"c15", "bigint", "i", digits("1%s", 10), false, ""},
		{"c16", "jsonb", "i", one("{}", `{"a": 1}`), false, ""},
	}},
}}
