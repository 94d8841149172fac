package embedding

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

// memoryStore stores units and vectors like the database does.
type memoryStore struct {
	mu         sync.Mutex
	units      []chat.UnitText
	namespaces []chat.Namespace
	vectors    map[int64]map[int64][]float32 // by namespace and n
	beforePut  func()                        // runs unlocked before vectors are stored
	saved      int                           // number of saves
}

func newStore(units int) *memoryStore {
	s := &memoryStore{vectors: map[int64]map[int64][]float32{}}
	for i := range units {
		s.add(fmt.Sprintf("unit %d", i))
	}
	return s
}

// add adds a unit without vectors, as a turn does.
func (s *memoryStore) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.units = append(s.units, chat.UnitText{N: int64(len(s.units) + 1), Text: text})
}

// units returns units with these texts, which are all their own.
func units(texts ...string) []chat.UnitText {
	return lists.Map(texts, func(text string) chat.UnitText { return chat.UnitText{Text: text} })
}

func (s *memoryStore) Namespaces(context.Context) ([]chat.Namespace, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]chat.Namespace, len(s.namespaces))
	for i, ns := range s.namespaces {
		ns.Done, ns.Total = len(s.vectors[ns.ID]), len(s.units)
		out[i] = ns
	}
	return out, nil
}

func (s *memoryStore) OpenNamespace(_ context.Context, id chat.EmbedderID) (chat.Namespace, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	serving := false
	for i := range s.namespaces {
		ns := &s.namespaces[i]
		if ns.Embedder == id {
			if ns.State == chat.NamespaceRetired {
				ns.State = chat.NamespaceBuilding
			}
			return *ns, nil
		}
		serving = serving || ns.State == chat.NamespaceServing
	}
	ns := chat.Namespace{ID: int64(len(s.namespaces) + 1), Embedder: id, State: chat.NamespaceBuilding}
	if !serving && len(s.units) == 0 {
		ns.State = chat.NamespaceServing
	}
	s.namespaces = append(s.namespaces, ns)
	s.vectors[ns.ID] = map[int64][]float32{}
	return ns, nil
}

func (s *memoryStore) Unembedded(_ context.Context, ns int64, limit int) ([]chat.UnitText, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []chat.UnitText
	for _, u := range s.units {
		if _, ok := s.vectors[ns][u.N]; !ok && len(out) < limit {
			out = append(out, u)
		}
	}
	return out, nil
}

func (s *memoryStore) VectorsByHash(_ context.Context, ns int64, hashes [][32]byte) (map[[32]byte][]float32, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[[32]byte][]float32{}
	for _, u := range s.units {
		for _, h := range hashes {
			if v := s.vectors[ns][u.N]; sha256.Sum256([]byte(u.Text)) == h && v != nil {
				out[h] = v
			}
		}
	}
	return out, nil
}

func (s *memoryStore) PutVectors(_ context.Context, ns int64, vectors []chat.UnitVector) error {
	if s.beforePut != nil {
		s.beforePut()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range vectors {
		s.vectors[ns][v.N] = v.Vector
	}
	return nil
}

func (s *memoryStore) ServeNamespace(_ context.Context, id int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.vectors[id]) < len(s.units) {
		return chat.Errorf(chat.CodeConflict, "namespace.serve", "units are missing")
	}
	for i := range s.namespaces {
		s.namespaces[i].State = chat.NamespaceRetired
		if s.namespaces[i].ID == id {
			s.namespaces[i].State = chat.NamespaceServing
		}
	}
	return nil
}

func (s *memoryStore) SaveVectors(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saved++
	return nil
}

func (s *memoryStore) DeleteRetired(_ context.Context, limit int) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := 0
	for _, ns := range s.namespaces {
		if ns.State != chat.NamespaceRetired {
			continue
		}
		for n := range s.vectors[ns.ID] {
			if limit == 0 {
				left++
				continue
			}
			delete(s.vectors[ns.ID], n)
			limit--
		}
	}
	return left > 0, nil
}

// states lists the namespaces as "model:state:done".
func (s *memoryStore) states() []string {
	all, _ := s.Namespaces(context.Background())
	return lists.Map(all, func(ns chat.Namespace) string { return fmt.Sprintf("%s:%s:%d", ns.Embedder.Model, ns.State, ns.Done) })
}
