package pagetypes

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// module is this module's path: types of its packages are resolved.
const module = "contextinfinity/"

// source is a parsed package.
type source struct {
	root, dir string
	set       *token.FileSet
	files     []*ast.File
	types     map[string]declared
	methods   map[string][]*ast.FuncDecl // by type, in the order of the source
	consts    []constant
	others    map[string]*source // by directory, all packages read so far
}

// declared is a type with the file that declares it, whose imports apply to it.
type declared struct {
	name string
	doc  string
	spec *ast.TypeSpec
	file *ast.File
}

// constant is a string constant; its type is empty if the declaration has none.
type constant struct{ name, typ, value, doc string }

// read parses a package without tests, its files in the order of their names.
func read(root, dir string, others map[string]*source) (*source, error) {
	s := &source{root: root, dir: dir, set: token.NewFileSet(), types: map[string]declared{}, methods: map[string][]*ast.FuncDecl{}, others: others}
	others[dir] = s
	names, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(s.set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		s.files = append(s.files, file)
		for _, d := range file.Decls {
			s.declaration(file, d)
		}
	}
	return s, nil
}

func (s *source) name(file *ast.File) string {
	return filepath.Base(s.set.Position(file.Pos()).Filename)
}

func (s *source) declaration(file *ast.File, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && d.Name.IsExported() {
			receiver := baseName(d.Recv.List[0].Type)
			s.methods[receiver] = append(s.methods[receiver], d)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				doc := spec.Doc
				doc = cmp.Or(doc, d.Doc)
				s.types[spec.Name.Name] = declared{spec.Name.Name, doc.Text(), spec, file}
			case *ast.ValueSpec:
				s.constant(d, spec)
			}
		}
	}
}

func (s *source) constant(d *ast.GenDecl, spec *ast.ValueSpec) {
	if d.Tok != token.CONST || len(spec.Names) != 1 || len(spec.Values) != 1 {
		return
	}
	literal, ok := spec.Values[0].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return
	}
	value, err := strconv.Unquote(literal.Value)
	if err != nil {
		return
	}
	s.consts = append(s.consts, constant{spec.Names[0].Name, baseName(spec.Type), value, spec.Doc.Text() + spec.Comment.Text()})
}

// baseName returns the name of a type or of the type it points to; empty for other types.
func baseName(t ast.Expr) string {
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if name, ok := t.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// values returns the constants of a string type.
func (s *source) values(typ string) (values []constant) {
	for _, c := range s.consts {
		if c.typ == typ {
			values = append(values, c)
		}
	}
	return values
}

// imported returns the package that a file imports under a name, and the named type of that package.
func (s *source) imported(file *ast.File, name, typ string) (*source, declared, error) {
	for _, spec := range file.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		localName := path.Base(importPath)
		if spec.Name != nil {
			localName = spec.Name.Name
		}
		dir, ours := strings.CutPrefix(importPath, module)
		if err != nil || localName != name || !ours {
			continue
		}
		other := s.others[dir]
		if other == nil {
			if other, err = read(s.root, dir, s.others); err != nil {
				return nil, declared{}, err
			}
		}
		if d, ok := other.types[typ]; ok {
			return other, d, nil
		}
	}
	return nil, declared{}, fmt.Errorf("%s: the page has no type for %s.%s", s.name(file), name, typ)
}

// original returns what a type is an alias of, in its package: type X = pkg.Y.
func (s *source) original(d declared) (*source, declared, error) {
	target, ok := d.spec.Type.(*ast.SelectorExpr)
	if !ok || !d.spec.Assign.IsValid() {
		return s, d, nil
	}
	other, aliased, err := s.imported(d.file, baseName(target.X), target.Sel.Name)
	if err != nil {
		return s, d, err
	}
	return other.original(aliased)
}

// field is a JSON field of a shape, with the package and the file in which its type is written.
type field struct {
	name, doc string
	optional  bool
	typ       ast.Expr
	in        *source
	file      *ast.File
}

// fields returns the JSON fields of a struct, with those of embedded structs that it does not replace. It fails for an
// exported field without a JSON name.
func (s *source) fields(d declared) (fields []field, err error) {
	shape, ok := d.spec.Type.(*ast.StructType)
	if !ok {
		return nil, fmt.Errorf("%s is not a struct", d.name)
	}
	var embedded []field
	for _, f := range shape.Fields.List {
		if len(f.Names) == 0 && f.Tag == nil {
			more, err := s.embedded(d, f.Type)
			if err != nil {
				return nil, err
			}
			embedded = append(embedded, more...)
			continue
		}
		if len(f.Names) > 0 && !f.Names[0].IsExported() {
			continue
		}
		if f.Tag == nil || len(f.Names) != 1 {
			return nil, fmt.Errorf("%s: each field needs its own JSON name", d.name)
		}
		tag, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			return nil, err
		}
		name, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		if name == "-" {
			continue
		}
		if name == "" {
			return nil, fmt.Errorf("%s.%s has no JSON name", d.name, f.Names[0])
		}
		doc := joinComments(f.Doc.Text(), f.Comment.Text())
		fields = append(fields, field{name, doc, strings.HasPrefix(options, "omit"), f.Type, s, d.file})
	}
	embedded = slices.DeleteFunc(embedded, func(e field) bool {
		return slices.ContainsFunc(fields, func(f field) bool { return f.name == e.name })
	})
	return append(embedded, fields...), nil
}

// embedded returns the fields of an embedded struct.
func (s *source) embedded(d declared, t ast.Expr) ([]field, error) {
	switch t := t.(type) {
	case *ast.Ident:
		if own, ok := s.types[t.Name]; ok {
			return s.fields(own)
		}
	case *ast.SelectorExpr:
		other, target, err := s.imported(d.file, baseName(t.X), t.Sel.Name)
		if err != nil {
			return nil, err
		}
		return other.fields(target)
	}
	return nil, fmt.Errorf("%s: this kind of embedded field is not supported", d.name)
}

// isShape reports whether a type is an exported struct with JSON names.
func (d declared) isShape() bool {
	shape, ok := d.spec.Type.(*ast.StructType)
	return ok && d.spec.Name.IsExported() && slices.ContainsFunc(shape.Fields.List, func(f *ast.Field) bool { return f.Tag != nil && strings.Contains(f.Tag.Value, `json:"`) })
}

// boundServices returns the names of the services that a window binds: the constructors called by a function, without
// "New".
func boundServices(s *source, function string) (names []string) {
	for _, file := range s.files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name != function || f.Recv != nil {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					if constructor, ok := call.Fun.(*ast.Ident); ok && strings.HasPrefix(constructor.Name, "New") {
						names = append(names, strings.TrimPrefix(constructor.Name, "New"))
					}
				}
				return true
			})
		}
	}
	return names
}
