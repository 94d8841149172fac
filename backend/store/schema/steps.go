package schema

import (
	"errors"

	"contextinfinity/backend/store/codec"
)

// Pack packs a step's items against its turn's final answer and its raw events against the items, if that saves
// enough. None of them changes once stored.
func (r *StepRow) Pack(answer []byte) {
	items := r.PackItems(answer)
	events := r.RawEvents
	if r.RawEvents = items.PackOn(events); r.RawEvents == nil {
		r.RawEvents = codec.Pack(events)
	}
}

// PackItems packs the items, and returns them as a base for the raw events. Long ones are packed alone, and so are
// their events.
func (r *StepRow) PackItems(answer []byte) codec.Base {
	if codec.IsLong(len(r.NormalizedItemsJSON)) {
		r.NormalizedItemsJSON, r.ItemsZ = "", codec.Pack([]byte(r.NormalizedItemsJSON))
		return codec.Base{}
	}
	items := codec.Base{Value: []byte(r.NormalizedItemsJSON)}
	if z := (codec.Base{Value: answer}).PackOn(items.Value); z != nil {
		r.NormalizedItemsJSON, r.ItemsZ, items.Depth = "", z, 1
	}
	return items
}

// Items returns the exact JSON of a step's items.
func (r StepRow) Items() (string, error) {
	if r.ItemsZ == nil {
		return r.NormalizedItemsJSON, nil
	}
	if _, _, based := codec.BaseOf(r.ItemsZ); !based && r.NormalizedItemsJSON == "" {
		return codec.UnpackText(r.ItemsZ)
	}
	if r.NormalizedItemsJSON != "" || r.Answer == nil {
		return "", errors.New("the items are a delta of an answer that is missing or has changed")
	}
	items, err := codec.UnpackOn([]byte(*r.Answer), r.ItemsZ)
	return string(items), err
}

// Events returns the exact JSON of a step's raw events, nil for none.
func (r StepRow) Events() ([]byte, error) {
	if _, _, ok := codec.BaseOf(r.RawEvents); !ok {
		return codec.Unpack(r.RawEvents)
	}
	items, err := r.Items()
	if err != nil {
		return nil, err
	}
	return codec.UnpackOn([]byte(items), r.RawEvents)
}

func OrEmpty(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
