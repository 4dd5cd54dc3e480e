// Package docs follows the documentation to the letter: it runs the commands of README.md
// and of every page under docs/, compares what they print with what the page shows, has
// every piece of configuration parsed, and looks for every link, flag and make target.
//
// A fenced block is treated by its language:
//
//	sh       run by bash -e; must succeed
//	console  lines after "$ " are run, the lines beneath are what they print
//	psql     lines after "name=> " go through kproxy as the analyst, as in console
//	sql      run by psql as the database's superuser
//	yaml     a configuration or a piece of one: parsed
//	json     parsed
//
// and others are not run, so that none of them may look like a command. In what is printed,
// "..." as a line stands for any lines and "…" for any text within one; white space, blank
// lines and the lengths of rules do not count. The comment
//
//	<!-- not run: REASON -->
//
// before a block has it left out; the test lists these. Commands of a page run in order, in
// a folder of the page's own, beside a PostgreSQL of its own with the demonstration's
// hospital. The page's first line can choose what else is there:
//
//	<!-- environment: none -->            neither database nor kproxy
//	<!-- environment: bare -->            the database, but no configuration
//	<!-- environment: N patients -->      as many patients; 2,000 without it
//	<!-- environment: N patients, bare -->
//
// The ports 5432, 6432, 6480 and 9187 stand for free ones, in commands, in what they print
// and in the configurations that they write.
package docs
