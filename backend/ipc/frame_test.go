package ipc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

func TestFramesRoundTrip(t *testing.T) {
	request := NewRequest([]string{"send", "\xff\x00größer"})
	front := ToFront([]string{"/tmp/\xff a"}, true)
	if got := front.Paths(); len(got) != 1 || got[0] != "/tmp/\xff a" || len(front.ArgStrings()) != 0 {
		t.Errorf("the files came back as %q", got)
	}
	for _, want := range []frame{
		{Kind: kindHello, Hello: &hello{protocol, "1.2", request}},
		{Kind: kindHello, Hello: &hello{protocol, "1.2", front}},
		{Kind: kindRefused, Refusal: &refusal{"conflict", "a.b", "no", "try"}},
		{Kind: kindOut, Data: []byte("\xff\xfe\n")},
		{Kind: kindExit, Number: 3},
		{Kind: kindEnd},
	} {
		data, err := appendFrame(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readFrame(bytes.NewReader(data))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v came back as %+v (%v)", want, got, err)
		}
	}
	if got := request.ArgStrings(); got[1] != "\xff\x00größer" {
		t.Errorf("the arguments came back as %q", got)
	}
}

func TestBrokenFramesAreErrors(t *testing.T) {
	long := binary.BigEndian.AppendUint32(nil, maxFrame+1)
	for name, bad := range map[string]string{
		"incomplete length": "\x00\x00", "truncated": "\x00\x00\x00\x09{}", "no content": "\x00\x00\x00\x02",
		"too long": string(long) + "{}", "invalid JSON": "\x00\x00\x00\x02[[", "a JSON array": "\x00\x00\x00\x02[]", "empty": "\x00\x00\x00\x00",
	} {
		if f, err := readFrame(strings.NewReader(bad)); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: read %+v, %v", name, f, err)
		}
	}
	if _, err := readFrame(strings.NewReader("")); !errors.Is(err, io.EOF) {
		t.Errorf("the end between frames: %v", err)
	}
	if _, err := appendFrame(nil, frame{Kind: kindIn, Data: make([]byte, maxFrame)}); err == nil {
		t.Error("a frame over the limit was written")
	}
}

// FuzzReadFrame: any bytes give a frame or an error, and a frame encoded and read again stays the same.
func FuzzReadFrame(f *testing.F) {
	for _, seed := range []frame{
		{Kind: kindHello, Hello: &hello{protocol, "1", NewRequest([]string{"pin"})}}, {Kind: kindWant, Number: 7}, {Kind: kindIn, Data: []byte("x")},
	} {
		data, err := appendFrame(nil, seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)-1])
	}
	f.Add([]byte("\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := readFrame(bytes.NewReader(data))
		if err != nil {
			return
		}
		encoded, err := appendFrame(nil, got)
		if err != nil {
			return // escaping made it larger than the limit
		}
		if back, err := readFrame(bytes.NewReader(encoded)); err != nil || !sameFrame(back, got) {
			t.Errorf("%+v became %+v (%v)", got, back, err)
		}
	})
}

// sameFrame compares encoded frames, in which nil and empty are the same.
func sameFrame(a, b frame) bool {
	x, errX := appendFrame(nil, a)
	y, errY := appendFrame(nil, b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
