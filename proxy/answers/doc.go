// Package answers keeps answers to statements for as long as what they were read from stays as it
// was, within a bound in bytes. It knows nothing of PostgreSQL: what an answer is of ([Key]) and the
// state that it was read in are texts to it.
//
// Entry points: [New]; [Store.Get] and [Store.Put]; [Store.Run], by which one asker runs a
// statement for all that ask the same at that moment; [Store.Costly], which tells what is worth
// being kept.
package answers
