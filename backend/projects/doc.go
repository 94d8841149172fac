// Package projects keeps the files of projects: documents that a person gives one by one,
// and a watched folder, whose text files, PDFs and office documents are read again when they change.
//
// A watched folder is looked at once a minute while the program runs, and when asked. That
// finds changes on every system and file system alike, network drives included, needs no
// descriptor for each directory, and costs one status call for each file; notifications of
// the system would save that and miss what happens while the program is closed. A file is
// read when its size or time differs from what was noted, and indexed when its hash does.
//
// Files are data of others. Nothing outside the folder is opened (os.Root), links are not
// followed, hidden files and those that usually hold secrets are left out and said.
package projects
