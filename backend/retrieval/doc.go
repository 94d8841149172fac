// Package retrieval finds what was said (SPEC 8): it chooses the terms of a
// query and searches the text index. Nothing here knows which store it has.
package retrieval
