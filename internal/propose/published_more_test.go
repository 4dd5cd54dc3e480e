package propose_test

// furtherPublished are more tables of others, in the form that applications keep them.
var furtherPublished = []schema{openmrs, rentals}

// openmrs are tables of OpenMRS, a medical record system.
var openmrs = schema{"openmrs", []relation{
	{"person", protect, 500, []field{
		{"person_id", "integer", "i", serial(1), true, ""},
		{"gender", "character varying", "q", one("M", "F"), false, ""},
		{"birthdate", "date", "q", day(1930, 2020), false, ""},
		{"birthdate_estimated", "boolean", "q", one("t", "f"), false, ""},
		{"dead", "boolean", "q", one("t", "f"), false, ""},
		{"cause_of_death", "integer", "qs", nothing(one("1", "2", "3"), 90), false, "concept"},
		{"creator", "integer", "i", one("1", "2", "3"), false, "users"},
		{"voided", "boolean", "q", one("f"), false, ""},
		{"uuid", "character", "i", uuid, false, ""},
	}},
	{"person_name", protect, 520, []field{
		{"person_name_id", "integer", "i", serial(1), true, ""},
		{"preferred", "boolean", "q", one("t", "f"), false, ""},
		{"person_id", "integer", "i", of(500), false, "person"},
		{"given_name", "character varying", "i", first, false, ""},
		{"middle_name", "character varying", "i", nothing(first, 60), false, ""},
		{"family_name", "character varying", "i", last, false, ""},
		{"degree", "character varying", "q", nothing(one("MD", "PhD"), 90), false, ""},
	}},
	{"obs", protect, 3000, []field{
		{"obs_id", "integer", "i", serial(1), true, ""},
		{"person_id", "integer", "i", of(500), false, "person"},
		{"concept_id", "integer", "qs", one("5085", "5086", "5089"), false, "concept"},
		{"obs_datetime", "timestamp without time zone", "q", moment, false, ""},
		{"value_numeric", "double precision", "qs", number(40, 180), false, ""},
		{"value_text", "text", "i", nothing(prose, 70), false, ""},
		{"comments", "character varying", "i", nothing(prose, 90), false, ""},
		{"accession_number", "character varying", "i", nothing(digits("ACC%s", 6), 50), false, ""},
	}},
	{"users", protect, 40, []field{
		{"user_id", "integer", "i", serial(1), true, ""},
		{"system_id", "character varying", "i", serial(100), false, ""},
		{"username", "character varying", "i", first, false, ""},
		{"password", "character varying", "i", uuid, false, ""},
		{"secret_question", "character varying", "i", nothing(prose, 50), false, ""},
		{"date_created", "timestamp without time zone", "q", moment, false, ""},
		{"person_id", "integer", "i", serial(1), false, "person"},
	}},
	{"concept", readable, 800, []field{
		{"concept_id", "integer", "-", serial(1), true, ""},
		{"short_name", "character varying", "-", label("Weight", "Height", "Pulse"), false, ""},
		{"is_set", "boolean", "-", one("f"), false, ""},
	}},
}}

// rentals are tables of the Sakila sample of a shop that rents films.
var rentals = schema{"sakila", []relation{
	{"customer", protect, 599, []field{
		{"customer_id", "integer", "i", serial(1), true, ""},
		{"store_id", "smallint", "q", one("1", "2"), false, "store"},
		{"first_name", "text", "i", first, false, ""},
		{"last_name", "text", "i", last, false, ""},
		{"email", "text", "i", email, false, ""},
		{"address_id", "integer", "i", serial(5), false, "address"},
		{"activebool", "boolean", "q", one("t"), false, ""},
		{"create_date", "date", "q", day(2006, 2007), false, ""},
	}},
	{"address", leftOut, 603, []field{
		{"address_id", "integer", "i", serial(1), true, ""},
		{"address", "text", "i", street, false, ""},
		{"district", "text", "q", one("Alberta", "Texas", "Bihar"), false, ""},
		{"postal_code", "text", "q", digits("%s", 5), false, ""},
		{"phone", "text", "i", digits("4%s", 11), false, ""},
	}},
	{"rental", protect, 3000, []field{
		{"rental_id", "integer", "i", serial(1), true, ""},
		{"rental_date", "timestamp with time zone", "q", moment, false, ""},
		{"inventory_id", "integer", "qi", of(1500), false, ""},
		{"customer_id", "smallint", "i", of(599), false, "customer"},
		{"return_date", "timestamp with time zone", "q", nothing(moment, 5), false, ""},
		{"staff_id", "smallint", "i", one("1", "2"), false, "staff"},
	}},
	{"staff", protect, 30, []field{
		{"staff_id", "integer", "i", serial(1), true, ""},
		{"first_name", "text", "i", first, false, ""},
		{"last_name", "text", "i", last, false, ""},
		{"picture", "bytea", "i", one(`\x00`), false, ""},
		{"store_id", "smallint", "q", one("1", "2"), false, "store"},
	}},
	{"film", readable, 400, []field{
		{"film_id", "integer", "-", serial(1), true, ""},
		{"title", "text", "-", label("ACADEMY DINOSAUR", "ACE GOLDFINGER"), false, ""},
		{"release_year", "integer", "-", one("2006"), false, ""},
		{"rating", "text", "-", one("PG", "R"), false, ""},
	}},
}}
