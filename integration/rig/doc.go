// Package rig is what the tests of the folders beside it have in common: the program that
// they test ([Build]), the demonstration on which tools work ([StartDemonstration]), the
// modules of Node.js that npm installs for them ([Project]), the packages of Python that pip installs ([Packages]),
// ports for all of them ([FreePort]), and what becomes of a test
// whose tool is not there ([Need]).
package rig
