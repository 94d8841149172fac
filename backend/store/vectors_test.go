package store

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/search"
)

// embedder is the identity of an embedder whose vectors depend only on the text.
var embedder = chat.EmbedderID{Name: "local", Model: "test", Dimension: 16, Version: 1}

func other(model string) chat.EmbedderID {
	id := embedder
	id.Model = model
	return id
}

func vectorOf(body string, dimension int) []float32 {
	v := make([]float32, dimension)
	for i := range v {
		h := fnv.New32a()
		fmt.Fprint(h, i, body)
		v[i] = float32(h.Sum32()%2001)/1000 - 1
	}
	return v
}

// fill embeds what is missing in a namespace and makes it the serving one.
func (f *fixture) fill(id chat.EmbedderID, batch int) chat.Namespace {
	f.Helper()
	ns, err := f.OpenNamespace(f.ctx, id)
	f.ok(err)
	for {
		missing, err := f.Unembedded(f.ctx, ns.ID, batch)
		f.ok(err)
		if len(missing) == 0 {
			break
		}
		f.ok(f.PutVectors(f.ctx, ns.ID, vectorsFor(missing, id.Dimension)))
	}
	f.ok(f.ServeNamespace(f.ctx, ns.ID))
	ns, ok, err := f.Serving(f.ctx)
	f.ok(err)
	if !ok || ns.Embedder != id || ns.Done != ns.Total {
		f.Fatalf("serving %+v", ns)
	}
	return ns
}

func vectorsFor(units []chat.UnitText, dimension int) []chat.UnitVector {
	out := make([]chat.UnitVector, len(units))
	for i, u := range units {
		out[i] = chat.UnitVector{N: u.N, Vector: vectorOf(u.Text, dimension)}
	}
	return out
}

func (f *fixture) rows(ns int64, session chat.SessionID, after int64) []chat.VectorRow {
	f.Helper()
	var out []chat.VectorRow
	f.ok(f.VectorRows(f.ctx, ns, session, after, func(r chat.VectorRow) error {
		out = append(out, r)
		return nil
	}))
	return out
}

func (f *fixture) generation() int64 {
	f.Helper()
	n, err := f.VectorGeneration(f.ctx)
	f.ok(err)
	return n
}

func unitsOf(rows []chat.VectorRow) []int64 {
	out := make([]int64, len(rows))
	for i, r := range rows {
		out[i] = r.N
	}
	return out
}

func TestNamespaceOfAnEmptyHistoryServesAtOnce(t *testing.T) {
	f := newFixture(t)
	if _, ok, err := f.Serving(f.ctx); ok || err != nil {
		t.Fatal(ok, err)
	}
	ns, err := f.OpenNamespace(f.ctx, embedder)
	f.ok(err)
	if ns.State != chat.NamespaceServing || ns.Embedder != embedder || ns.CreatedAt.IsZero() {
		t.Fatalf("%+v", ns)
	}
	next, err := f.OpenNamespace(f.ctx, other("next"))
	f.ok(err)
	if next.State != chat.NamespaceBuilding {
		t.Fatalf("%+v", next)
	}
	f.ok(f.ServeNamespace(f.ctx, next.ID)) // nothing is missing
	for _, id := range []chat.EmbedderID{{}, {Name: "x"}, {Name: "x", Dimension: search.MaxDimension + 1}} {
		_, err := f.OpenNamespace(f.ctx, id)
		f.refused(err, chat.CodeInvalid)
	}
}

func TestReindexKeepsServingTheOldNamespace(t *testing.T) {
	f := newFixture(t)
	a, one := f.session("one")
	_, two := f.session("two")
	f.full(one.ID, "first", "answer")
	f.full(two.ID, "second", "我爱数据库")
	f.full(one.ID, "third", "more")
	first := f.fill(embedder, 4)
	if first.Done != 6 || first.Total != 6 {
		t.Fatalf("%+v", first)
	}
	rows := f.rows(first.ID, "", 0)
	if len(rows) != 6 || !slices.IsSorted(unitsOf(rows)) || rows[0].Session != a.ID || rows[0].Branch != one.ID || rows[5].Seq != 2 {
		t.Fatalf("%+v", rows)
	}
	if mine := f.rows(first.ID, a.ID, rows[1].N); len(mine) != 2 || mine[0].N != rows[4].N {
		t.Fatalf("%+v", mine)
	}
	for _, r := range rows {
		if slices.Max(r.Codes) != math.MaxInt8 && slices.Min(r.Codes) != -math.MaxInt8 {
			t.Fatal("the bytes are not what was stored")
		}
	}

	building, err := f.OpenNamespace(f.ctx, other("b"))
	f.ok(err)
	f.refused(f.ServeNamespace(f.ctx, building.ID), chat.CodeConflict)
	gen := f.generation()
	missing, err := f.Unembedded(f.ctx, building.ID, 100)
	f.ok(err)
	if len(missing) != 6 || missing[0].Text != "[2026-01-02] user: first" {
		t.Fatalf("%+v", missing)
	}
	slices.Reverse(missing)
	f.ok(f.PutVectors(f.ctx, building.ID, vectorsFor(missing[:3], 16)))
	f.ok(f.PutVectors(f.ctx, building.ID, vectorsFor(missing[3:], 16)))
	if f.generation() != gen {
		t.Error("the one being built affects the serving one")
	}
	f.ok(f.ServeNamespace(f.ctx, building.ID))
	f.ok(f.ServeNamespace(f.ctx, building.ID)) // has no effect the second time
	if f.generation() != gen+1 {
		t.Errorf("generation %d after %d", f.generation(), gen)
	}
	list, err := f.Namespaces(f.ctx)
	f.ok(err)
	if len(list) != 2 || list[0].State != chat.NamespaceRetired || list[1].State != chat.NamespaceServing || list[1].Done != 6 {
		t.Fatalf("%+v", list)
	}
	f.ok(f.PutVectors(f.ctx, first.ID, vectorsFor(missing, 16))) // retired by now, so skipped
	f.verifyClean()
	f.dropAll(2)
	if f.generation() != gen+1 || len(f.rows(first.ID, "", 0)) != 0 || len(f.rows(building.ID, "", 0)) != 6 {
		t.Error("dropping the retired namespace changed the serving one")
	}
}

func (f *fixture) dropAll(limit int) {
	f.Helper()
	for range 100 {
		more, err := f.DeleteRetired(f.ctx, limit)
		f.ok(err)
		if !more {
			return
		}
	}
	f.Fatal("dropping never finishes")
}

func TestChangingTheEmbedderAgainRetiresTheUnfinishedNamespace(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.full(b.ID, "first", "answer")
	serving := f.fill(embedder, 10)
	unfinished, err := f.OpenNamespace(f.ctx, other("b"))
	f.ok(err)
	missing, err := f.Unembedded(f.ctx, unfinished.ID, 1)
	f.ok(err)
	f.ok(f.PutVectors(f.ctx, unfinished.ID, vectorsFor(missing, 16)))
	third, err := f.OpenNamespace(f.ctx, other("c"))
	f.ok(err)
	back, err := f.OpenNamespace(f.ctx, embedder)
	f.ok(err)
	if back != serving {
		t.Fatalf("%+v", back)
	}
	f.refused(f.ServeNamespace(f.ctx, unfinished.ID), chat.CodeConflict)
	f.refused(f.ServeNamespace(f.ctx, third.ID), chat.CodeConflict)
	f.refused(f.ServeNamespace(f.ctx, 99), chat.CodeNotFound)
	again, err := f.OpenNamespace(f.ctx, other("b")) // it keeps its vectors
	f.ok(err)
	if again.ID != unfinished.ID || again.State != chat.NamespaceBuilding || again.Done != 1 || again.Total != 2 {
		t.Fatalf("%+v", again)
	}
	f.verifyClean()
}

func TestGenerationChangesWhenRowsAreRewritten(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	ns, err := f.OpenNamespace(f.ctx, embedder)
	f.ok(err)
	f.full(b.ID, "first", "answer")
	f.full(b.ID, "second", "another")
	missing, err := f.Unembedded(f.ctx, ns.ID, 10)
	f.ok(err)
	all := vectorsFor(missing, 16)
	expect := func(step int64, name string, do func()) {
		t.Helper()
		before := f.generation()
		do()
		if moved := f.generation() - before; (moved > 0) != (step > 0) {
			t.Errorf("%s: the generation moved by %d", name, moved)
		}
	}
	expect(0, "growth", func() { f.ok(f.PutVectors(f.ctx, ns.ID, all[:1])) })
	expect(0, "growth past a gap", func() { f.ok(f.PutVectors(f.ctx, ns.ID, all[2:3])) })
	expect(1, "a gap filled", func() { f.ok(f.PutVectors(f.ctx, ns.ID, all[1:2])) })
	expect(0, "the same again", func() { f.ok(f.PutVectors(f.ctx, ns.ID, all[:3])) })
	expect(1, "another vector", func() {
		f.ok(f.PutVectors(f.ctx, ns.ID, []chat.UnitVector{{N: all[0].N, Vector: vectorOf("other", 16)}}))
	})
	expect(1, "a deletion", func() { f.ok(f.core.DB.Writer.Exec(`DELETE FROM unit_embeddings WHERE unit_n = ?`, all[2].N).Error) })
	expect(0, "a unit that is gone", func() { f.ok(f.PutVectors(f.ctx, ns.ID, []chat.UnitVector{{N: 999, Vector: all[0].Vector}})) })
	for _, bad := range [][]float32{{}, make([]float32, 16), make([]float32, 15), {0: float32(math.NaN()), 15: 1}} {
		f.refused(f.PutVectors(f.ctx, ns.ID, []chat.UnitVector{all[2], {N: all[3].N, Vector: bad}}), chat.CodeInvalid)
	}
	if got, err := f.Namespaces(f.ctx); err != nil || got[0].Done != 2 {
		t.Errorf("%+v %v", got, err)
	}
	f.verifyClean()
}

// proportional reports whether codes are v except for its length.
func proportional(v []float32, codes []int8) bool {
	sum, square := 0.0, 0.0
	for i, c := range codes {
		sum += float64(c) * float64(v[i])
		square += float64(c) * float64(c)
	}
	return len(v) == len(codes) && math.Abs(sum/math.Sqrt(square*dot(v, v))-1) < 1e-6
}

func TestVectorsByUnitAndByText(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	for i := range 20 {
		f.full(b.ID, fmt.Sprint("question ", i), fmt.Sprint("answer ", i))
	}
	ns := f.fill(embedder, 7)
	rows := f.rows(ns.ID, "", 0)
	requested := append(unitsOf(rows), 4000)
	got, err := f.VectorsOf(f.ctx, ns.ID, requested)
	f.ok(err)
	if len(got) != 40 || !proportional(got[rows[7].N], rows[7].Codes) {
		t.Fatalf("%d vectors", len(got))
	}
	known, missing := hash32("[2026-01-02] user: question 3"), hash32("nothing")
	cached, err := f.VectorsByHash(f.ctx, ns.ID, [][32]byte{known, missing})
	f.ok(err)
	if len(cached) != 1 || len(cached[known]) != 16 {
		t.Fatalf("%v", cached)
	}
	sample, err := f.SampleVectors(f.ctx, ns.ID, 8)
	f.ok(err)
	again, err := f.SampleVectors(f.ctx, ns.ID, 8)
	f.ok(err)
	if len(sample) != 8 || !slices.EqualFunc(sample, again, slices.Equal) || slices.Equal(sample[0], sample[7]) {
		t.Fatalf("%d vectors, again %d", len(sample), len(again))
	}
	for want, n := range map[int]int{40: 1000, 0: 0} {
		if all, err := f.SampleVectors(f.ctx, ns.ID, n); err != nil || len(all) != want {
			t.Errorf("%d of %d vectors, %v", len(all), want, err)
		}
	}
	stop := errors.New("enough")
	if err := f.VectorRows(f.ctx, ns.ID, "", 0, func(chat.VectorRow) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	for _, id := range []int64{0, 77} { // a namespace that does not exist has no vectors
		v, err := f.VectorsOf(f.ctx, id, requested)
		f.ok(err)
		h, err := f.VectorsByHash(f.ctx, id, [][32]byte{known})
		f.ok(err)
		sample, err := f.SampleVectors(f.ctx, id, 3)
		f.ok(err)
		if len(v)+len(h)+len(sample)+len(f.rows(id, "", 0)) != 0 {
			t.Error("vectors without a namespace")
		}
	}
}

// TestLostVectorsAreRebuilt: vectors and namespaces are derived data. If they are deleted by hand, bypassing the
// foreign keys, they are computed again, and leftover vectors of another embedder are not mistaken for them.
func TestLostVectorsAreRebuilt(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	for i := range 5 {
		f.full(b.ID, fmt.Sprint("question ", i), fmt.Sprint("answer ", i))
	}
	before := f.rows(f.fill(embedder, 3).ID, "", 0)
	same := func() {
		t.Helper()
		ns := f.fill(embedder, 3)
		if got := f.rows(ns.ID, "", 0); !slices.EqualFunc(got, before, func(a, b chat.VectorRow) bool {
			return a.N == b.N && a.Session == b.Session && slices.Equal(a.Codes, b.Codes)
		}) {
			t.Fatalf("%d vectors, before %d", len(got), len(before))
		}
		f.verifyClean()
	}
	f.ok(f.core.DB.Writer.Exec(`DELETE FROM unit_embeddings`).Error)
	same()
	f.ok(f.core.DB.Writer.Exec(`DELETE FROM unit_embeddings WHERE unit_n % 2 = 0`).Error)
	same()
	f.ok(f.core.DB.Writer.Exec(`PRAGMA foreign_keys = OFF`).Error)
	f.ok(f.core.DB.Writer.Exec(`DELETE FROM namespaces`).Error)
	f.ok(f.core.DB.Writer.Exec(`UPDATE unit_embeddings SET vector = zeroblob(length(vector))`).Error)
	f.ok(f.core.DB.Writer.Exec(`PRAGMA foreign_keys = ON`).Error)
	same()
	f.ok(f.core.DB.Writer.Exec(`PRAGMA foreign_keys = OFF`).Error)
	f.ok(f.core.DB.Writer.Exec(`UPDATE unit_embeddings SET namespace_id = 44`).Error)
	f.ok(f.core.DB.Writer.Exec(`PRAGMA foreign_keys = ON`).Error)
	f.dropAll(4)
	f.ok(f.core.DB.Writer.Exec(`UPDATE namespaces SET state = 'retired', vectors = 0`).Error)
	same()
}

func TestADamagedVectorIsSkipped(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.full(b.ID, "first", "answer")
	ns := f.fill(embedder, 3)
	rows := f.rows(ns.ID, "", 0)
	f.ok(f.core.DB.Writer.Exec(`UPDATE unit_embeddings SET vector = x'0102' WHERE unit_n = ?`, rows[0].N).Error)
	got := f.rows(ns.ID, "", 0)
	if len(got) != 2 || got[0].Codes != nil || got[1].Codes == nil {
		t.Fatalf("%+v", got)
	}
	if v, err := f.VectorsOf(f.ctx, ns.ID, unitsOf(rows)); err != nil || len(v) != 1 {
		t.Errorf("%v %v", v, err)
	}
}

func hash32(s string) [32]byte { return [32]byte(codec.Hash([]byte(s))) }

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
