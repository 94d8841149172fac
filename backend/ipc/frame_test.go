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

// encoded returns the bytes of a frame.
func encoded(t testing.TB, f frame) []byte {
	t.Helper()
	data, err := newFrame(f.Kind, f.ID, f.Name, f.Data, helloLimits.frame)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestFramesRoundTrip(t *testing.T) {
	for _, want := range []frame{
		{Kind: kindCall, ID: 7, Name: "x", Data: []byte(`{"a":[1,"b"]}`)},
		{Kind: kindEvent, Name: "größer", Data: []byte(`null`)},
		{Kind: kindWelcome, Data: []byte("3")},
	} {
		got, err := readFrame(bytes.NewReader(encoded(t, want)), helloLimits.frame)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v came back as %+v (%v)", want, got, err)
		}
	}
}

func TestRequestsRoundTrip(t *testing.T) {
	roundTrip := func(request Request) Request {
		data, err := newFrame(kindHello, 0, "", hello{protocol, "1.2", request}, helloLimits.frame)
		if err != nil {
			t.Fatal(err)
		}
		f, err := readFrame(bytes.NewReader(data), helloLimits.frame)
		if err != nil {
			t.Fatal(err)
		}
		got, err := checkHello(f, "1.2")
		if err != nil || !reflect.DeepEqual(got, request) {
			t.Errorf("%+v came back as %+v (%v)", request, got, err)
		}
		return got
	}
	if got := roundTrip(ToFront([]string{"/tmp/\xff a"}, true)).Paths(); len(got) != 1 || got[0] != "/tmp/\xff a" {
		t.Errorf("the files came back as %q", got)
	}
	if got := roundTrip(NewRequest([]string{"send", "\xff\x00größer"})).ArgStrings(); got[1] != "\xff\x00größer" {
		t.Errorf("the arguments came back as %q", got)
	}
}

func TestBrokenFramesAreErrors(t *testing.T) {
	long := binary.BigEndian.AppendUint32(nil, uint32(helloLimits.frame+1))
	for name, bad := range map[string]string{
		"incomplete length": "\x00\x00",
		"truncated":         "\x00\x00\x00\x09{}",
		"no content":        "\x00\x00\x00\x02",
		"too long":          string(long) + "{}",
		"invalid JSON":      "\x00\x00\x00\x02[[",
		"a JSON array":      "\x00\x00\x00\x02[]",
		"empty":             "\x00\x00\x00\x00",
	} {
		if f, err := readFrame(strings.NewReader(bad), helloLimits.frame); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: read %+v, %v", name, f, err)
		}
	}
	if _, err := readFrame(strings.NewReader(""), helloLimits.frame); !errors.Is(err, io.EOF) {
		t.Errorf("the end between frames: %v", err)
	}
	if _, err := newFrame(kindEvent, 0, eventOut, make([]byte, commandLimits.frame), commandLimits.frame); err == nil {
		t.Error("a frame over the limit was written")
	}
}

// FuzzReadFrame: any bytes give a frame or an error, and a frame encoded and read again stays the same.
func FuzzReadFrame(f *testing.F) {
	for _, seed := range []frame{
		{Kind: kindHello, Data: []byte(`{"protocol":2}`)},
		{Kind: kindCall, ID: 1, Name: methodRead, Data: []byte("7")},
	} {
		data := encoded(f, seed)
		f.Add(data)
		f.Add(data[:len(data)-1])
	}
	f.Add([]byte("\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := readFrame(bytes.NewReader(data), helloLimits.frame)
		if err != nil {
			return
		}
		first, err := newFrame(got.Kind, got.ID, got.Name, got.Data, helloLimits.frame)
		if err != nil {
			return // escaping made it larger than the limit
		}
		back, err := readFrame(bytes.NewReader(first), helloLimits.frame)
		if err != nil {
			t.Fatalf("%+v: %v", got, err)
		}
		if again := encoded(t, back); !bytes.Equal(first, again) {
			t.Errorf("%+v became %+v", got, back)
		}
	})
}
