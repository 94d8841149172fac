// Package wire is what adapters of models and embedders share: reading server-sent events,
// sending a request and classifying its failure, keeping keys out of every text,
// putting a prepared context into the order every wire demands, and collecting
// an answer while it streams (SPEC 9, 13; SRD 11).
//
// Guarantees: an event's data leaves here byte for byte as it came (except that
// the endpoint's own key is blanked should a server echo it); every piece of
// text is valid UTF-8; no error holds a key, a request body or a request header;
// a request is never redirected, so a key never reaches another host.
package wire
