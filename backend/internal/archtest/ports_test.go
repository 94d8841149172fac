package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
)

// maxMethods is the maximum number of methods of an interface, including those of embedded ones: an interface contains
// what its consumer needs, and is not a copy of its implementation. It is the size of the largest interface at present.
const maxMethods = 17

// port is an interface that is declared in a file.
type port struct {
	file    string
	line    int
	methods int
	embeds  []string // keys of Report.ports
}

// addPorts records the interfaces that a file declares, by directory and name.
func (r *Report) addPorts(s source) {
	for _, decl := range s.tree.Decls {
		types, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range types.Specs {
			named, ok := spec.(*ast.TypeSpec)
			if !ok {
				continue
			}
			if in, ok := named.Type.(*ast.InterfaceType); ok {
				r.ports[s.dir+"."+named.Name.Name] = portOf(s, named, in)
			}
		}
	}
}

func portOf(s source, named *ast.TypeSpec, in *ast.InterfaceType) port {
	p := port{file: s.file, line: s.set.Position(named.Pos()).Line}
	for _, field := range in.Methods.List {
		switch embedded := field.Type.(type) {
		case *ast.FuncType:
			p.methods += len(field.Names)
		case *ast.Ident:
			p.embeds = append(p.embeds, s.dir+"."+embedded.Name)
		case *ast.SelectorExpr:
			if pkg, ok := embedded.X.(*ast.Ident); ok {
				p.embeds = append(p.embeds, importedAs(s, pkg.Name)+"."+embedded.Sel.Name)
			}
		}
	}
	return p
}

// importedAs returns the directory of this module that a file imports under a name; empty if it belongs to another module.
func importedAs(s source, name string) string {
	for _, spec := range s.tree.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if spec.Name != nil && spec.Name.Name == name || spec.Name == nil && path.Base(target) == name {
			return strings.TrimPrefix(target, module+"/")
		}
	}
	return ""
}

// checkPorts reports interfaces with too many methods.
func (r *Report) checkPorts() {
	for name, p := range r.ports {
		if n := r.methodsOf(name, nil); n > maxMethods && !inside(path.Dir(p.file), []string{storeDir}) {
			r.Findings = append(r.Findings, Finding{
				Rule: "size of an interface", File: p.file, Line: p.line, What: fmt.Sprintf("has %d methods; the maximum is %d", n, maxMethods),
				Reason: "an interface contains what its consumer uses, and is not a copy of its implementation",
			})
		}
	}
}

// methodsOf counts the methods of an interface, including those of embedded ones. seen are the interfaces that embed it:
// invalid code may contain a cycle.
func (r *Report) methodsOf(name string, seen []string) int {
	p := r.ports[name]
	n := p.methods
	for _, e := range p.embeds {
		if !slices.Contains(seen, e) {
			n += r.methodsOf(e, append(seen, name))
		}
	}
	return n
}
