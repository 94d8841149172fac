package faults_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"contextinfinity/backend/internal/faults"
)

// source is the program's code without tests.
type source struct {
	t     *testing.T
	files map[string][]*ast.File // by directory
}

func readSource(t *testing.T, root string) source {
	t.Helper()
	s := source{t, map[string][]*ast.File{}}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && path != root):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		s.files[filepath.Dir(path)] = append(s.files[filepath.Dir(path)], f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// points returns the names in calls of faults.Point.
func (s source) points() []string {
	var names []string
	for _, files := range s.files {
		for _, f := range files {
			eachCall(f, func(c *ast.CallExpr, _ *ast.FuncDecl) {
				if receiver, name := selector(c); receiver != "faults" || name != "Point" {
					return
				}
				value, ok := literal(c.Args[0])
				if !ok {
					s.t.Errorf("a point's name is not a literal: %v", c.Args[0])
				}
				names = append(names, value)
			})
		}
	}
	return names
}

// operations returns the names that the Write methods in the store, and core.Change, are called with: a literal, a
// constant of the function or its package, or a parameter, whose values come from the callers.
func (s source) operations(dir, callee string, arg int) []string {
	var ops []string
	for _, f := range s.files[dir] {
		eachCall(f, func(c *ast.CallExpr, in *ast.FuncDecl) {
			if receiver, name := selector(c); name != callee || len(c.Args) <= arg || imported(f, receiver) && receiver != "core" {
				return
			}
			if value, ok := literal(c.Args[arg]); ok {
				ops = append(ops, value)
			} else if id, ok := c.Args[arg].(*ast.Ident); ok {
				ops = append(ops, s.valuesOf(dir, id.Name, in)...)
			}
		})
	}
	return ops
}

// valuesOf returns the values that an identifier of a function can have.
func (s source) valuesOf(dir, name string, in *ast.FuncDecl) []string {
	if value := valueOf(in, name); value != "" {
		return []string{value}
	}
	for _, f := range s.files[dir] {
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				if value := valueOf(g, name); value != "" {
					return []string{value}
				}
			}
		}
	}
	i := 0
	for _, field := range in.Type.Params.List {
		for _, param := range field.Names {
			if param.Name == name {
				return s.operations(dir, in.Name.Name, i)
			}
			i++
		}
	}
	s.t.Errorf("%s calls Write with %s, whose value is unknown", in.Name.Name, name)
	return nil
}

// valueOf returns the literal that the constant or variable of this name has in the node, empty if it has none.
func valueOf(in ast.Node, name string) (value string) {
	ast.Inspect(in, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && spec.Names[0].Name == name && len(spec.Values) == 1 {
			value, _ = literal(spec.Values[0])
		}
		return true
	})
	return value
}

func eachCall(f *ast.File, visit func(*ast.CallExpr, *ast.FuncDecl)) {
	for _, d := range f.Decls {
		in, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(in, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok {
				visit(c, in)
			}
			return true
		})
	}
}

// selector returns the parts of a call x.name if x is an identifier, or only the name.
func selector(c *ast.CallExpr) (receiver, name string) {
	if f, ok := c.Fun.(*ast.Ident); ok {
		return "", f.Name
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	if x, ok := sel.X.(*ast.Ident); ok {
		return x.Name, sel.Sel.Name
	}
	return "", ""
}

// imported reports whether a name is that of an imported package, so that the call is not a method call.
func imported(f *ast.File, name string) bool {
	return slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool {
		p, err := strconv.Unquote(i.Path.Value)
		return err == nil && path.Base(p) == name
	})
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(lit.Value)
	return value, err == nil
}

// A harness iterates over Points: it would never try a point that is missing in the list, and could never hit one that
// is missing in the code.
func TestPointsMatchTheCode(t *testing.T) {
	const root = "../../.."
	s := readSource(t, root)
	code := s.points()
	for dir := range s.files {
		if !strings.HasPrefix(dir, filepath.Join(root, "backend", "store")) {
			continue
		}
		for _, op := range append(s.operations(dir, "Write", 1), s.operations(dir, "Change", 2)...) {
			for _, moment := range []string{faults.Begun, faults.Committing, faults.Committed} {
				code = append(code, "tx."+op+"."+moment)
			}
		}
	}
	slices.Sort(code)
	code = slices.Compact(code)
	for _, name := range code {
		if !slices.Contains(faults.Points, name) {
			t.Errorf("%s is in the code and not in Points", name)
		}
	}
	for i, name := range faults.Points {
		if !slices.Contains(code, name) {
			t.Errorf("%s is in Points and not in the code", name)
		}
		if slices.Contains(faults.Points[:i], name) {
			t.Errorf("%s is in Points twice", name)
		}
	}
	if len(code) < 50 {
		t.Errorf("only %d points were found in the code", len(code))
	}
}
