// Package llmtest is for tests of providers: a scripted HTTP server that answers
// with exact bytes and fails on demand, prepared contexts of any shape, readers
// for recorded streams, and the one conformance suite that every adapter passes
// (SPEC 9). No part of the program imports it.
package llmtest
