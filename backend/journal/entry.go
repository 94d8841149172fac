package journal

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"strconv"
	"time"
	"unicode/utf8"

	"contextinfinity/backend/chat"
)

// ownProvider marks the entries added by this program: only the end entry so far. The event type alone is not enough,
// because providers also have event types named "error".
const ownProvider = "contextinfinity"

// lineBegin begins every line.
const lineBegin = `{"ts":"`

// maxEmbeddedDepth keeps a line within the nesting that encoding/json accepts (10 000): the payload is one level
// deeper in its line.
const maxEmbeddedDepth = 9000

// EndKind is how a journal ended (SPEC 5). The empty kind is an interrupted journal without an end entry.
type EndKind string

const (
	EndDone    EndKind = "done"    // the provider ended the stream itself
	EndError   EndKind = "error"   // error, timeout, dropped connection
	EndStopped EndKind = "stopped" // by the user
)

func (k EndKind) valid() bool { return k == EndDone || k == EndError || k == EndStopped }

// entry is one parsed line. Payload stays raw, so its bytes are the event's.
type entry struct {
	TS           string          `json:"ts"`
	Provider     string          `json:"provider"`
	EventType    string          `json:"event_type"`
	EventTypeB64 []byte          `json:"event_type_b64"`
	Seq          int64           `json:"seq"`
	Payload      json.RawMessage `json:"payload"`
	PayloadB64   *[]byte         `json:"payload_b64"`
	Sum          *string         `json:"sum"`
}

// endPayload is the payload of an end entry.
type endPayload struct {
	Reason string `json:"reason"`
}

// appendEntry appends the line of one event, including its newline. It is written by hand because it runs once per
// delta: encoding/json would cost more than the write itself.
func appendEntry(dst []byte, ts time.Time, provider, eventType string, seq int64, payload []byte) []byte {
	begin := len(dst)
	dst = append(dst, lineBegin...)
	dst = ts.UTC().AppendFormat(dst, chat.TimeLayout)
	dst = append(dst, `","provider":`...)
	dst = appendString(dst, provider)
	dst = append(dst, `,"event_type":`...)
	dst = appendString(dst, eventType)
	if !utf8.ValidString(eventType) {
		dst = append(dst, `,"event_type_b64":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, []byte(eventType))
		dst = append(dst, '"')
	}
	dst = append(dst, `,"seq":`...)
	dst = strconv.AppendInt(dst, seq, 10)
	if embeddable(payload) {
		dst = append(dst, `,"payload":`...)
		dst = append(dst, payload...)
	} else {
		dst = append(dst, `,"payload_b64":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, payload)
		dst = append(dst, '"')
	}
	dst = appendSum(dst, dst[begin:])
	return append(dst, '}', '\n')
}

// A line ends with the CRC-32C of what precedes it, so that a flipped bit on disk is detected: ,"sum":"0123abcd"}
const (
	sumKey    = `,"sum":"`
	sumLength = len(sumKey) + 8 + len(`"`)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendSum(dst, data []byte) []byte {
	var sum [4]byte
	binary.BigEndian.PutUint32(sum[:], crc32.Checksum(data, castagnoli))
	dst = append(dst, sumKey...)
	dst = hex.AppendEncode(dst, sum[:])
	return append(dst, '"')
}

// intact reports whether a line is exactly as appendEntry wrote it. The first version of the format had no sums: such a
// line must match that version's output for its entry.
func (e entry) intact(line []byte) bool {
	if e.Sum == nil {
		reencoded := e.reencode()
		return bytes.Equal(line, append(reencoded[:len(reencoded)-sumLength-len("}\n")], '}'))
	}
	at := len(line) - sumLength - len("}")
	return at > 0 && bytes.Equal(line[at:], append(appendSum(nil, line[:at]), '}'))
}

// reencode returns the entry's line in the current format.
func (e entry) reencode() []byte {
	ts, _ := chat.ParseTime(e.TS) // it was parsed before
	ev := e.event()
	return appendEntry(nil, ts, e.Provider, ev.Type, e.Seq, ev.Data)
}

// appendString appends s as a JSON string. Names of providers and events rarely need escaping.
func appendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			quoted, _ := chat.MarshalJSON(s) // a string always encodes
			return append(dst, quoted...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// embeddable reports whether payload can be part of the line as JSON and be read back byte for byte.
func embeddable(payload []byte) bool {
	if len(payload) == 0 || payload[0] <= ' ' || payload[len(payload)-1] <= ' ' {
		return false
	}
	if bytes.ContainsAny(payload, "\n\r") || !utf8.Valid(payload) {
		return false
	}
	if bytes.Count(payload, []byte{'{'})+bytes.Count(payload, []byte{'['}) > maxEmbeddedDepth {
		return false
	}
	return json.Valid(payload)
}

// parseEntry parses one line without its newline. ok is false for anything that appendEntry cannot have written
// completely.
func parseEntry(line []byte) (e entry, ok bool) {
	if json.Unmarshal(line, &e) != nil || e.Provider == "" || e.Seq < 1 {
		return entry{}, false
	}
	if (e.Payload == nil) == (e.PayloadB64 == nil) {
		return entry{}, false
	}
	if _, err := chat.ParseTime(e.TS); err != nil {
		return entry{}, false
	}
	return e, e.intact(line)
}

// event is the provider's event in the entry.
func (e entry) event() chat.RawEvent {
	ev := chat.RawEvent{Type: e.EventType, Data: e.Payload}
	if e.EventTypeB64 != nil {
		ev.Type = string(e.EventTypeB64)
	}
	if e.PayloadB64 != nil {
		ev.Data = *e.PayloadB64
	}
	return ev
}

// end returns how the entry ends its journal, if it is a valid end entry.
func (e entry) end() (kind EndKind, reason string, ok bool) {
	var p endPayload
	kind = EndKind(e.EventType)
	if !kind.valid() || json.Unmarshal(e.Payload, &p) != nil {
		return "", "", false
	}
	return kind, p.Reason, true
}
