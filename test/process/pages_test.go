package process

import "encoding/binary"

// The functions below read SQLite's file format (sqlite.org/fileformat2.html), as far as it is needed to find every
// value. They use neither the store nor its driver, so neither can hide a value.

// Types of b-tree pages with payload in their cells.
const (
	interiorIndex = 0x02
	leafIndex     = 0x0a
	leafTable     = 0x0d
)

// eachPayload calls f with every record of every b-tree of a database file.
func eachPayload(db []byte, f func([]byte)) {
	size := int(binary.BigEndian.Uint16(db[16:]))
	if size == 1 {
		size = 1 << 16
	}
	usable := size - int(db[20])
	for n := 0; (n+1)*size <= len(db); n++ {
		page := db[n*size : (n+1)*size]
		head := 0
		if n == 0 {
			head = 100
		}
		kind := page[head]
		if kind != interiorIndex && kind != leafIndex && kind != leafTable {
			continue
		}
		start := head + 8
		if kind == interiorIndex {
			start = head + 12
		}
		cells := int(binary.BigEndian.Uint16(page[head+3:]))
		for i := 0; i < cells && start+2*i+2 <= size; i++ {
			at := int(binary.BigEndian.Uint16(page[start+2*i:]))
			if payload, ok := cellPayload(db, page, at, kind, size, usable); ok {
				f(payload)
			}
		}
	}
}

// cellPayload returns a cell's record, including overflow pages.
func cellPayload(db, page []byte, at int, kind byte, size, usable int) ([]byte, bool) {
	if kind == interiorIndex {
		at += 4 // the child page
	}
	if at >= size {
		return nil, false
	}
	length, n := varint(page[at:])
	at += n
	if kind == leafTable {
		_, n = varint(page[at:]) // the rowid
		at += n
	}
	if length <= 0 || length > len(db) {
		return nil, false
	}
	local := localLength(length, kind, usable)
	if at+local > size {
		return nil, false
	}
	payload := append([]byte(nil), page[at:at+local]...)
	if local == length {
		return payload, true
	}
	if at+local+4 > size {
		return nil, false
	}
	return overflow(db, payload, length, int(binary.BigEndian.Uint32(page[at+local:])), size, usable)
}

// localLength returns how much of a record is in its own page.
func localLength(length int, kind byte, usable int) int {
	maxLocal := usable - 35
	if kind != leafTable {
		maxLocal = (usable-12)*64/255 - 23
	}
	if length <= maxLocal {
		return length
	}
	minLocal := (usable-12)*32/255 - 23
	if k := minLocal + (length-minLocal)%(usable-4); k <= maxLocal {
		return k
	}
	return minLocal
}

func overflow(db, payload []byte, length, next, size, usable int) ([]byte, bool) {
	for next > 0 && len(payload) < length {
		if next*size > len(db) {
			return nil, false
		}
		page := db[(next-1)*size : next*size]
		rest := min(length-len(payload), usable-4)
		payload = append(payload, page[4:4+rest]...)
		next = int(binary.BigEndian.Uint32(page))
	}
	return payload, len(payload) == length
}

// eachBlob calls f with each blob of a record.
func eachBlob(record []byte, f func([]byte)) {
	head, n := varint(record)
	if head <= 0 || head > len(record) {
		return
	}
	at := head
	for n < head {
		serial, m := varint(record[n:])
		n += m
		length := valueLength(serial)
		if length < 0 || at+length > len(record) {
			return
		}
		if serial >= 12 && serial%2 == 0 {
			f(record[at : at+length])
		}
		at += length
	}
}

// valueLength returns the length in bytes of a value with a serial type.
func valueLength(serial int) int {
	switch {
	case serial >= 12:
		return (serial - 12) / 2
	case serial >= 0 && serial <= 9:
		return []int{0, 1, 2, 3, 4, 6, 8, 8, 0, 0}[serial]
	}
	return -1
}

// varint reads SQLite's big-endian variable-length integer.
func varint(b []byte) (value, length int) {
	for i := 0; i < 9 && i < len(b); i++ {
		if i == 8 {
			return value<<8 | int(b[i]), 9
		}
		value = value<<7 | int(b[i]&0x7f)
		if b[i] < 0x80 {
			return value, i + 1
		}
	}
	return 0, len(b)
}
