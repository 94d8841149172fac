// Package projects manages the files of projects: documents that the user adds one by one, and a watched folder,
// whose text files, PDFs and office documents are read again when they change.
//
// A watched folder is scanned once a minute while the program runs, and on request. Scanning works on every system
// and file system, including network drives, needs no descriptor for each directory, and costs one status call per
// file. Notifications from the system would be cheaper, but would miss changes while the program is closed. A file is
// read if its size or time has changed, and indexed if its hash has.
//
// Files are untrusted. Nothing outside of the folder is opened (os.Root) and links are not followed. Hidden files and
// files that usually contain secrets are skipped, and the user sees which.
package projects
