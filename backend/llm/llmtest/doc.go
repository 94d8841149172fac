// Package llmtest is for tests of providers: a scripted HTTP server that responds with exact bytes and fails on
// demand, prepared contexts of any shape, readers for recorded streams, and the conformance suite that every adapter
// passes (SPEC 9). The program does not import it.
package llmtest
