// Package journal is the stream journal: one append-only file for each provider
// call, from which everything that was shown can be rebuilt after a crash
// (SPEC 5; SRD 13).
//
// A journal is {data_dir}/streams/{step_id}.jsonl, one line an event:
//
//	{"ts":..., "provider":..., "event_type":..., "seq":..., "payload":..., "sum":...}
//
// seq counts from 1 without gaps, sum is the CRC-32C of the line before it. The payload is the provider's event byte for
// byte: as JSON where the line can carry it unchanged, else as payload_b64 (an
// event type that is not UTF-8 likewise is in event_type_b64). The last line
// of a finished journal is an end entry of provider "contextinfinity": done,
// error or stopped. A journal that has its end entry and is fsynced is sealed.
//
// Guarantees:
//
//   - When Append returns, its line has been handed to the operating system, so
//     the death of the process loses nothing. The one exception is a disk that
//     stalls: then at most FlushBytes of lines no older than FlushMs wait in
//     memory, and after that Append blocks until the disk moves again.
//   - Durable counts only bytes of lines that were wholly written before an
//     fsync began and that fsync succeeded. It never goes back, and is never
//     more than Displayed.
//   - After a failed write nothing more is written, after a failed fsync nothing
//     more is called durable: the kernel may have dropped the pages and would
//     report the next fsync as good. Every later Append and End says so.
//   - Reading never changes a file. A torn last line and everything from a
//     damaged line on is left out, counted and reported; what is before is
//     returned.
//
// What may be lost: on a loss of power, what had not been fsynced (at most
// FsyncMs of text with Buffered; nothing that was shown with WriteAhead).
package journal
