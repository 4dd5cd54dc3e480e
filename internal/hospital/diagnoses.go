package hospital

// Chapters of ICD-10, shortened.
const (
	infections    = "Infections"
	neoplasms     = "Neoplasms"
	blood         = "Blood"
	metabolic     = "Endocrine and metabolic"
	mental        = "Mental and behavioral"
	nervous       = "Nervous system"
	eye           = "Eye"
	circulatory   = "Circulatory system"
	respiratory   = "Respiratory system"
	digestive     = "Digestive system"
	skin          = "Skin"
	bones         = "Musculoskeletal system"
	genitourinary = "Genitourinary system"
	pregnancy     = "Pregnancy and childbirth"
	perinatal     = "Perinatal period"
	injuries      = "Injury and poisoning"
)

// diagnoses are rows of ICD-10 (World Health Organization, version 2019) with
// made-up frequencies and costs. The columns are those of the type.
var diagnoses = []diagnosis{
	{"A09", "Infectious gastroenteritis and colitis", infections, wardGastroenterology, 34, [4]float64{3, 0.8, 0.7, 1.2}, 0, oldest, "", winter, 1900, 0.45},
	{"A41", "Sepsis", infections, wardInternal, 16, [4]float64{0.5, 0.3, 0.9, 2.6}, 0, oldest, "", steady, 9800, 0.75},
	{"B20", "Human immunodeficiency virus disease", infections, wardInternal, 3, [4]float64{0.02, 1.6, 1.4, 0.3}, 0, oldest, "", steady, 7600, 0.6},
	{"B34", "Viral infection of unspecified site", infections, wardInternal, 18, [4]float64{4, 1, 0.5, 0.6}, 0, oldest, "", winter, 1500, 0.4},
	{"C18", "Malignant neoplasm of colon", neoplasms, wardOncology, 14, [4]float64{0, 0.1, 1, 2.2}, 18, oldest, "", steady, 14800, 0.5},
	{"C34", "Malignant neoplasm of bronchus and lung", neoplasms, wardOncology, 15, [4]float64{0, 0.05, 1.3, 2}, 25, oldest, "", steady, 13900, 0.55},
	{"C50", "Malignant neoplasm of breast", neoplasms, wardOncology, 30, [4]float64{0, 0.2, 1.3, 1.4}, 22, oldest, female, steady, 11200, 0.45},
	{"C61", "Malignant neoplasm of prostate", neoplasms, wardUrology, 26, [4]float64{0, 0, 0.7, 2}, 42, oldest, male, steady, 9700, 0.4},
	{"C67", "Malignant neoplasm of bladder", neoplasms, wardUrology, 11, [4]float64{0, 0.05, 0.7, 2}, 30, oldest, "", steady, 7900, 0.5},
	{"C91", "Lymphoid leukemia", neoplasms, wardOncology, 3, [4]float64{2.4, 0.5, 0.6, 1.4}, 1, oldest, "", steady, 32500, 0.7},
	{"D50", "Iron deficiency anemia", blood, wardInternal, 12, [4]float64{0.4, 0.8, 0.8, 1.7}, 0, oldest, "", steady, 2300, 0.4},
	{"D64", "Other anemias", blood, wardInternal, 9, [4]float64{0.4, 0.4, 0.8, 2}, 0, oldest, "", steady, 2500, 0.45},
	{"E10", "Type 1 diabetes mellitus", metabolic, wardInternal, 8, [4]float64{2.6, 1.5, 0.6, 0.4}, 1, oldest, "", steady, 3200, 0.45},
	{"E11", "Type 2 diabetes mellitus", metabolic, wardInternal, 60, [4]float64{0.02, 0.2, 1.3, 1.8}, 12, oldest, "", steady, 3600, 0.5},
	{"E66", "Obesity", metabolic, wardSurgery, 7, [4]float64{0.2, 1.6, 1.6, 0.2}, 8, oldest, "", steady, 6900, 0.35},
	{"E86", "Volume depletion", metabolic, wardInternal, 19, [4]float64{1, 0.3, 0.5, 2.2}, 0, oldest, "", summer, 1900, 0.4},
	{"F10", "Disorders due to use of alcohol", mental, wardPsychiatry, 50, [4]float64{0, 1.3, 1.7, 0.4}, 14, oldest, "", steady, 2100, 0.6},
	{"F20", "Schizophrenia", mental, wardPsychiatry, 13, [4]float64{0, 1.8, 1.1, 0.3}, 16, oldest, "", steady, 10600, 0.6},
	{"F32", "Depressive episode", mental, wardPsychiatry, 24, [4]float64{0.4, 1.4, 1.2, 0.6}, 11, oldest, "", winter, 8700, 0.55},
	{"F43", "Reaction to severe stress", mental, wardPsychiatry, 9, [4]float64{0.6, 1.7, 1, 0.4}, 6, oldest, "", steady, 4300, 0.5},
	{"G20", "Parkinson disease", nervous, wardNeurology, 9, [4]float64{0, 0, 0.5, 2.3}, 38, oldest, "", steady, 6100, 0.45},
	{"G35", "Multiple sclerosis", nervous, wardNeurology, 5, [4]float64{0.02, 1.7, 1.3, 0.2}, 14, oldest, "", steady, 5900, 0.5},
	{"G40", "Epilepsy", nervous, wardNeurology, 17, [4]float64{2.2, 1, 0.9, 1}, 0, oldest, "", steady, 3300, 0.5},
	{"G45", "Transient cerebral ischemic attacks", nervous, wardNeurology, 17, [4]float64{0, 0.1, 0.9, 2.2}, 25, oldest, "", steady, 3100, 0.35},
	{"G47", "Sleep disorders", nervous, wardNeurology, 16, [4]float64{0.4, 0.6, 1.8, 0.7}, 2, oldest, "", steady, 1600, 0.3},
	{"H25", "Senile cataract", eye, wardSurgery, 16, [4]float64{0, 0, 0.5, 2.4}, 45, oldest, "", steady, 1900, 0.25},
	{"I10", "Essential hypertension", circulatory, wardCardiology, 110, [4]float64{0.01, 0.3, 1.1, 1.8}, 12, oldest, "", winter, 2200, 0.4},
	{"I20", "Angina pectoris", circulatory, wardCardiology, 33, [4]float64{0, 0.1, 1.2, 1.9}, 28, oldest, "", winter, 4300, 0.4},
	{"I21", "Acute myocardial infarction", circulatory, wardCardiology, 36, [4]float64{0, 0.1, 1.3, 1.9}, 25, oldest, "", winter, 8900, 0.55},
	{"I25", "Chronic ischemic heart disease", circulatory, wardCardiology, 28, [4]float64{0, 0.05, 1.1, 2.1}, 30, oldest, "", steady, 5400, 0.5},
	{"I48", "Atrial fibrillation and flutter", circulatory, wardCardiology, 70, [4]float64{0, 0.15, 0.9, 2.2}, 18, oldest, "", steady, 4200, 0.5},
	{"I50", "Heart failure", circulatory, wardCardiology, 105, [4]float64{0.03, 0.08, 0.6, 2.6}, 0, oldest, "", winter, 5800, 0.55},
	{"I63", "Cerebral infarction", circulatory, wardNeurology, 50, [4]float64{0.02, 0.12, 0.9, 2.3}, 1, oldest, "", steady, 8200, 0.6},
	{"I70", "Atherosclerosis", circulatory, wardSurgery, 22, [4]float64{0, 0.03, 0.9, 2.2}, 32, oldest, "", steady, 7100, 0.5},
	{"J06", "Acute upper respiratory infections", respiratory, wardPulmonology, 12, [4]float64{6, 0.7, 0.4, 0.4}, 0, oldest, "", winter, 1300, 0.35},
	{"J18", "Pneumonia", respiratory, wardPulmonology, 70, [4]float64{1.6, 0.3, 0.7, 2.1}, 0, oldest, "", winter, 4600, 0.55},
	{"J20", "Acute bronchitis", respiratory, wardPulmonology, 14, [4]float64{5, 0.4, 0.5, 0.9}, 0, oldest, "", winter, 1900, 0.4},
	{"J35", "Chronic diseases of tonsils and adenoids", respiratory, wardSurgery, 14, [4]float64{5, 1.4, 0.1, 0.02}, 2, oldest, "", steady, 1800, 0.25},
	{"J44", "Chronic obstructive pulmonary disease", respiratory, wardPulmonology, 38, [4]float64{0, 0.03, 1.2, 2}, 30, oldest, "", winter, 4100, 0.5},
	{"J45", "Asthma", respiratory, wardPulmonology, 8, [4]float64{3, 1.1, 0.7, 0.5}, 1, oldest, "", steady, 2100, 0.4},
	{"K35", "Acute appendicitis", digestive, wardSurgery, 16, [4]float64{2.4, 1.7, 0.6, 0.3}, 2, oldest, "", steady, 3900, 0.35},
	{"K40", "Inguinal hernia", digestive, wardSurgery, 24, [4]float64{0.7, 0.6, 1.1, 1.4}, 0, oldest, "", steady, 2600, 0.25},
	{"K57", "Diverticular disease of intestine", digestive, wardGastroenterology, 20, [4]float64{0, 0.3, 1.4, 1.6}, 22, oldest, "", steady, 4300, 0.5},
	{"K70", "Alcoholic liver disease", digestive, wardGastroenterology, 8, [4]float64{0, 0.3, 2, 0.8}, 22, oldest, "", steady, 6100, 0.6},
	{"K80", "Cholelithiasis", digestive, wardSurgery, 36, [4]float64{0.05, 1, 1.2, 1.3}, 8, oldest, "", steady, 4100, 0.4},
	{"L03", "Cellulitis", skin, wardInternal, 15, [4]float64{0.5, 0.6, 1, 1.6}, 0, oldest, "", summer, 3100, 0.45},
	{"M16", "Osteoarthritis of hip", bones, wardOrthopedics, 32, [4]float64{0, 0.02, 1, 2.1}, 35, oldest, "", steady, 8400, 0.25},
	{"M17", "Osteoarthritis of knee", bones, wardOrthopedics, 31, [4]float64{0, 0.03, 1.2, 1.9}, 35, oldest, "", steady, 8700, 0.25},
	{"M51", "Intervertebral disc disorders", bones, wardOrthopedics, 27, [4]float64{0.02, 1, 1.8, 0.7}, 15, oldest, "", steady, 4900, 0.5},
	{"M54", "Dorsalgia", bones, wardOrthopedics, 26, [4]float64{0.05, 0.8, 1.4, 1.2}, 10, oldest, "", steady, 2400, 0.4},
	{"N18", "Chronic kidney disease", genitourinary, wardInternal, 16, [4]float64{0.1, 0.3, 0.8, 2.1}, 0, oldest, "", steady, 6700, 0.65},
	{"N20", "Calculus of kidney and ureter", genitourinary, wardUrology, 20, [4]float64{0.05, 1.3, 1.5, 0.7}, 5, oldest, "", summer, 2500, 0.4},
	{"N39", "Urinary tract infection", genitourinary, wardUrology, 26, [4]float64{1.2, 0.6, 0.6, 1.9}, 0, oldest, "", steady, 2900, 0.45},
	{"N40", "Hyperplasia of prostate", genitourinary, wardUrology, 28, [4]float64{0, 0, 0.8, 2}, 45, oldest, male, steady, 3300, 0.3},
	{"N80", "Endometriosis", genitourinary, wardGynecology, 16, [4]float64{0, 2, 0.9, 0}, 16, 54, female, steady, 3900, 0.35},
	{"O34", "Maternal care for pelvic organ abnormality", pregnancy, wardObstetrics, 70, [4]float64{0, 1, 0.25, 0}, 18, 46, female, steady, 3600, 0.3},
	{"O80", "Single spontaneous delivery", pregnancy, wardObstetrics, 240, [4]float64{0, 1, 0.15, 0}, 17, 46, female, steady, 2700, 0.2},
	{"O82", "Single delivery by cesarean section", pregnancy, wardObstetrics, 90, [4]float64{0, 1, 0.25, 0}, 18, 48, female, steady, 4800, 0.25},
	{"P07", "Disorders related to short gestation", perinatal, wardNeonatal, 300, [4]float64{1, 0, 0, 0}, 0, 0, "", steady, 16800, 0.9},
	{"S06", "Intracranial injury", injuries, wardEmergency, 40, [4]float64{2.6, 1.1, 0.6, 1.2}, 0, oldest, "", summer, 2200, 0.7},
	{"S52", "Fracture of forearm", injuries, wardOrthopedics, 20, [4]float64{3, 0.9, 0.9, 1.1}, 1, oldest, "", summer, 3400, 0.35},
	{"S72", "Fracture of femur", injuries, wardOrthopedics, 36, [4]float64{0.2, 0.15, 0.4, 2.5}, 1, oldest, "", winter, 9600, 0.4},
	{"S82", "Fracture of lower leg", injuries, wardOrthopedics, 22, [4]float64{1, 1.2, 1.2, 0.8}, 1, oldest, "", winter, 5600, 0.4},
	{"T78", "Adverse effects, such as anaphylaxis", injuries, wardEmergency, 6, [4]float64{1.8, 1.3, 0.9, 0.5}, 0, oldest, "", summer, 1400, 0.35},
}
