package hospital

// drugsOf are what is prescribed for the diagnoses of a chapter, the most frequent first.
var drugsOf = map[string][]string{
	infections:    {"ceftriaxone", "amoxicillin", "paracetamol"},
	neoplasms:     {"ondansetron", "morphine", "dexamethasone"},
	blood:         {"iron", "folic acid"},
	metabolic:     {"metformin", "atorvastatin"},
	mental:        {"sertraline", "lorazepam", "olanzapine"},
	nervous:       {"levetiracetam", "pregabalin"},
	eye:           {"timolol"},
	circulatory:   {"ramipril", "bisoprolol", "aspirin", "atorvastatin"},
	respiratory:   {"salbutamol", "prednisolone", "amoxicillin"},
	digestive:     {"pantoprazole", "metamizole"},
	skin:          {"cefazolin", "hydrocortisone"},
	bones:         {"ibuprofen", "pantoprazole"},
	genitourinary: {"ciprofloxacin", "tamsulosin"},
	pregnancy:     {"oxytocin", "iron"},
	perinatal:     {"vitamin K"},
	injuries:      {"metamizole", "enoxaparin", "cefazolin"},
}

// drugsFor are those of single diagnoses, in place of their chapter's.
var drugsFor = map[string][]string{
	"E10": {"insulin"},
	"E11": {"metformin", "insulin", "atorvastatin"},
	"I21": {"aspirin", "bisoprolol", "atorvastatin", "ramipril"},
	"I48": {"apixaban", "bisoprolol"},
	"I50": {"furosemide", "bisoprolol", "ramipril", "spironolactone"},
	"G20": {"levodopa"},
}

// test is a laboratory test: the share of days on which it is made, and its median, for those with
// one of the diagnoses and for others. Spread is the standard deviation of the value's logarithm.
type test struct {
	name         string
	codes        []string
	usual, often float64
	value, ill   float64
	spread       float64
}

var tests = []test{
	{"hemoglobin", []string{"D50", "D64", "C91", "C18"}, 0.35, 0.7, 13.5, 9.5, 0.1},
	{"creatinine", []string{"N18", "I50"}, 0.3, 0.7, 0.9, 1.9, 0.25},
	{"potassium", []string{"I50", "N18", "E86"}, 0.25, 0.7, 4.2, 4.8, 0.09},
	{"HbA1c", []string{"E10", "E11"}, 0.02, 0.3, 5.5, 7.6, 0.12},
	{"CRP", []string{"A41", "J18", "A09"}, 0.25, 0.8, 6, 90, 0.8},
}
