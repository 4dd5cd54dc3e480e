// Package console has a browser go through the web console of the real program: logins,
// every page in light, dark and on a phone, the keyboard, a trial, an action, all of it
// with the rules of accessibility of axe-core and with a search for raw values.
//
// It needs Chromium (Debian: apt-get install chromium) and Node.js with npm, which fetches
// what testdata/browser/package-lock.json pins. Pictures are left in bin/screens.
package console
