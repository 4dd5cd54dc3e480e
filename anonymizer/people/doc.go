// Package people releases several tables about the same persons, so that they can
// be joined and at least k persons stand behind every joined row.
//
// Data holds a root table with one record for each person, and the tables whose
// rows belong to persons, directly or through rows of other tables. Knows says what
// an outsider may know of a person besides the root's quasi-identifying values:
//
//   - one row of any table in each window of time (Knows{Rows: 1}): Anonymize makes
//     classes of persons by their root records, and cuts the rows of a class and
//     window into cells of at least k persons;
//   - all rows (Knows{All: true}): Anonymize makes classes of persons whose
//     trees of rows are published with the same values, and aligns their rows to slots.
//
// In both, rows keep the pseudonym of a person (Release.Aliases), except for rows
// that fit no cell: those are pooled, and published without keys. Maintained and
// Guarded follow changes; comparing versions of Guarded reveals no more than one of
// them. Coarser and GuardedCoarser make releases for audiences. DESIGN.md and
// COARSER.md state the guarantees, the arguments, and what they do not cover.
//
// Sources: Nergiz, Clifton and Nergiz, "Multirelational k-Anonymity" (TKDE 21(8),
// 2009), for the unit, which is a person's whole tree of rows; Tamersoy, Loukides,
// Nergiz, Saygin and Malin (IEEE TITB 16(3), 2012), for aligning the sequences of
// different persons by dynamic programming; Terrovitis, Mamoulis and Kalnis,
// "Privacy-preserving anonymization of set-valued data" (PVLDB 1(1), 2008), for
// bounding what an outsider knows by a number of items.
package people
