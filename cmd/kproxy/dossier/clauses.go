package dossier

// Clause says where an assessment is asked for what the dossier has.
type Clause struct {
	Document string `json:"document"`
	Clause   string `json:"clause"`
	Asks     string `json:"asks"`
	Answers  string `json:"answers"` // the part of the dossier
}

const (
	partPublished  = "What is published"
	partRisks      = "Risks"
	partAttack     = "Simulated attack"
	partLoss       = "Precision"
	partProofs     = "Proofs"
	partHistory    = "History"
	partLimits     = "Known limits"
	isoFramework   = "ISO/IEC 27559:2022"
	hipaa          = "45 CFR 164.514(b)(1)"
	emaPublication = "EMA/90915/2016 (Policy 0070), chapter 3"
	gbEvaluation   = "GB/T 42460-2023"
)

// clauses are about data. What assessments say of recipients, contracts and organizations is not in a dossier.
var clauses = []Clause{
	{isoFramework, "7.2.4, 7.2.5", "types of attributes, properties of the data", partPublished},
	{isoFramework, "7.3.2", "maximum or average risk", partRisks},
	{isoFramework, "7.3.3", "attack on a population or a sample", partRisks},
	{isoFramework, "7.3.4", "privacy models", partPublished},
	{isoFramework, "8.2.2", "identifiability as a figure", partRisks},
	{isoFramework, "8.2.3", "adversarial testing", partAttack},
	{isoFramework, "8.3.3, 8.3.4", "transformation, and evaluation after it", partLoss + "; " + partProofs},
	{isoFramework, "9.3.2", "monitoring after data are available", partProofs + "; " + partHistory},
	{isoFramework, "annex B", "unique and grouped individuals", partRisks},
	{hipaa, "(i)", "risk that an anticipated recipient identifies an individual, alone or with other information", partRisks + "; " + partAttack + "; " + partLimits},
	{hipaa, "(ii)", "methods and results of the analysis", "all parts"},
	{emaPublication, "process: identifiers", "direct and quasi-identifiers", partPublished},
	{emaPublication, "process: adversaries and attacks", "plausible attacks", partRisks + "; " + partAttack},
	{emaPublication, "process: data utility", "what is left of the data", partLoss},
	{emaPublication, "process: threshold, actual risk", "threshold (0.09 is usual), and risk against it", partRisks},
	{emaPublication, "process: methodology", "techniques", partPublished},
	{gbEvaluation, "4", "grade of the result", partRisks},
	{gbEvaluation, "6.2", "qualitative evaluation: direct identifiers and quasi-identifiers", partPublished},
	{gbEvaluation, "6.3, annex D", "quantitative evaluation: risk by k-anonymity", partRisks},
	{gbEvaluation, "6.6", "documents of the evaluation", "all parts"},
}

// limits hold for every release; those of single tables stand with these.
var limits = []string{
	"The journalist's risk is not measured, as the population is not known to kproxy: it is at most the prosecutor's, which takes for granted that the person is in the data.",
	"Risks count persons who agree in all quasi-identifiers that the policy names. Columns that the policy calls insensitive or sensitive count as unknown to an attacker; somebody who knows one, and to whom its values are rare, identifies more.",
	"Where the policy names no subject, a row counts as a person. Rows of one person in different classes can be put together by values that are rare.",
	"The simulated attack knows all quasi-identifiers of one person, exactly, and no other person's. It compares no versions with each other, and joins no other data.",
	"Which classes are made depends on sensitive values as far as constraints on them do (minimality attacks).",
	"Recipients, contracts, purposes and harm are not in this dossier.",
}
