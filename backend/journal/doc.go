// Package journal is the stream journal: one append-only file per provider call, from which everything that was shown
// can be restored after a crash (SPEC 5; SRD 13).
//
// A journal is {data_dir}/streams/{step_id}.jsonl, one line per event:
//
//	{"ts":..., "provider":..., "event_type":..., "seq":..., "payload":..., "sum":...}
//
// seq counts from 1 without gaps; sum is the CRC-32C of the part of the line before it. The payload is the provider's
// event byte for byte: as JSON if the line can contain it unchanged, otherwise as payload_b64 (and event_type_b64
// for an event type that is not UTF-8). The last line of a finished journal is an end entry of provider
// "contextinfinity": done, error or stopped. A journal is sealed when its end entry is fsynced.
//
// Guarantees:
//
//   - When Append returns, its line has been passed to the operating system, so
//     nothing is lost if the process dies. The only exception is a disk that
//     stalls: then at most FlushBytes of lines no older than FlushMs wait in
//     memory, and after that Append blocks until the disk responds again.
//   - Durable counts only bytes of lines that were completely written before the
//     start of an fsync that succeeded. It never decreases, and is never more
//     than Displayed.
//   - After a failed write, nothing else is written. After a failed fsync, nothing
//     else counts as durable, because the kernel may have dropped the pages, and
//     the next fsync would succeed without having written them. Every later Append
//     and End returns the error.
//   - Reading never changes a file. A torn last line, and everything from a
//     damaged line on, is left out, counted and reported; everything before is
//     returned.
//
// A power failure loses what was not fsynced: at most FsyncMs of text with Buffered, and nothing that was shown with
// WriteAhead.
package journal
