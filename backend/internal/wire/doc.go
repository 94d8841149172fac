// Package wire is shared by the adapters of models and embedders: reading server-sent events, sending a request and
// classifying its failure, removing keys from every text, putting a prepared context into the order that every
// provider requires, and collecting an answer while it streams (SPEC 9, 13; SRD 11).
//
// Guarantees: an event's data is passed on byte for byte (except that the endpoint's own key is redacted if a server
// echoes it); every text is valid UTF-8; no error contains a key, a request body or a request header; redirects are
// not followed, so a key never reaches another host.
package wire
