package store

import (
	"errors"

	"contextinfinity/backend/store/codec"
)

// rest packs a step's items against its turn's final answer and its raw events
// against the items, where that is worth it. Neither changes once it is there.
func (r *stepRow) rest(answer []byte) {
	items := r.restItems(answer)
	events := r.RawEvents
	if r.RawEvents = items.PackOn(events); r.RawEvents == nil {
		r.RawEvents = codec.Pack(events)
	}
}

// restItems packs the items, and returns them to rest the raw events on.
func (r *stepRow) restItems(answer []byte) codec.Base {
	items := codec.Base{Value: []byte(r.NormalizedItemsJSON)}
	if z := (codec.Base{Value: answer}).PackOn(items.Value); z != nil {
		r.NormalizedItemsJSON, r.ItemsZ, items.Depth = "", z, 1
	}
	return items
}

// items is the exact JSON of a step's items.
func (r stepRow) items() (string, error) {
	if r.ItemsZ == nil {
		return r.NormalizedItemsJSON, nil
	}
	if r.NormalizedItemsJSON != "" || r.Answer == nil {
		return "", errors.New("items that rest on an answer, and there is none or other items")
	}
	items, err := codec.UnpackOn([]byte(*r.Answer), r.ItemsZ)
	return string(items), err
}

// events is the exact JSON of a step's raw events, nil for none.
func (r stepRow) events() ([]byte, error) {
	if _, _, ok := codec.BaseOf(r.RawEvents); !ok {
		return codec.Unpack(r.RawEvents)
	}
	items, err := r.items()
	if err != nil {
		return nil, err
	}
	return codec.UnpackOn([]byte(items), r.RawEvents)
}

func orEmpty(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
