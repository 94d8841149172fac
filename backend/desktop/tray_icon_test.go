package desktop

import (
	"bytes"
	"encoding/binary"
	"image/png"
	"os"
	"testing"
)

// Each status has its own version of the program's icon: 64 pixels wide, not blank, and different only in the badge.
func TestEachStatusHasItsOwnIcon(t *testing.T) {
	picture, err := os.ReadFile("../../build/appicon.png")
	if err != nil {
		t.Fatal(err)
	}
	images := drawIcons(picture)
	seen := map[string]trayState{}
	plain, err := png.Decode(bytes.NewReader(images[idle]))
	if err != nil {
		t.Fatal(err)
	}
	for m := idle; m <= attention; m++ {
		if other, twice := seen[string(images[m])]; twice {
			t.Errorf("tray states %d and %d look the same", m, other)
		}
		seen[string(images[m])] = m
		img, err := png.Decode(bytes.NewReader(images[m]))
		if err != nil || img.Bounds().Dx() != iconSize || img.Bounds().Dy() != iconSize {
			t.Fatalf("tray state %d: %v, %v", m, img.Bounds(), err)
		}
		opaque := 0
		for y := range iconSize {
			for x := range iconSize {
				_, _, _, alpha := img.At(x, y).RGBA()
				if alpha > 0 {
					opaque++
				}
				corner := x > iconSize/2 && y > iconSize/2
				if !corner && img.At(x, y) != plain.At(x, y) {
					t.Fatalf("tray state %d changes the picture at %d, %d", m, x, y)
				}
			}
		}
		if opaque < iconSize*iconSize/2 {
			t.Errorf("tray state %d is almost blank", m)
		}
	}
	if got := drawIcons([]byte("no picture")); len(got) != 0 {
		t.Errorf("%d icons from an invalid image", len(got))
	}
}

// The header of an icon file contains the position and length of its picture.
func TestAnIconFileContainsItsPicture(t *testing.T) {
	file := asICO([]byte("a picture"))
	size, at := binary.LittleEndian.Uint32(file[14:]), binary.LittleEndian.Uint32(file[18:])
	if string(file[at:at+size]) != "a picture" || file[2] != 1 || file[4] != 1 || int(file[6]) != iconSize {
		t.Errorf("% x", file)
	}
}

func TestTheTrayShowsTheStatus(t *testing.T) {
	for _, c := range []struct {
		w    fakeWork
		want status
	}{
		{fakeWork{}, status{idle, "Idle", false, &trayEnglish}},
		{fakeWork{running: 2}, status{working, "Working: 2 running", false, &trayEnglish}},
		{fakeWork{running: 1, queued: 3}, status{working, "Working: 1 running, 3 waiting", false, &trayEnglish}},
		{fakeWork{queued: 3}, status{working, "Working: 3 waiting", false, &trayEnglish}},
		{fakeWork{paused: true, queued: 3}, status{paused, "Background work is paused, 3 waiting", true, &trayEnglish}},
		{fakeWork{paused: true, attention: "A copy failed"}, status{attention, "A copy failed", true, &trayEnglish}},
	} {
		if got := statusOf(&c.w, &trayEnglish); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.w, got, c.want)
		}
	}
}

type fakeWork struct {
	paused          bool
	running, queued int
	answering       int
	attention       string
}

func (f *fakeWork) Paused() bool                { return f.paused }
func (f *fakeWork) Pause(paused bool)           { f.paused = paused }
func (f *fakeWork) Reconcile()                  {}
func (f *fakeWork) Answering() int              { return f.answering }
func (f *fakeWork) Busy() (running, queued int) { return f.running, f.queued }
func (f *fakeWork) Attention() string           { return f.attention }
func (f *fakeWork) Changed(func())              {}

func TestNotificationsAreShort(t *testing.T) {
	for in, want := range map[string]string{
		"a\nb\t c\x00": "a b c", "": "", "<b>&": "<b>&",
	} {
		if got := noticeText(in); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
	long := string(bytes.Repeat([]byte("ü"), 2*maxNoticeLength))
	if got := []rune(noticeText(long)); len(got) != maxNoticeLength || got[maxNoticeLength-1] != '…' {
		t.Errorf("%d characters", len(got))
	}
}
