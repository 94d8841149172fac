package encoder

import "golang.org/x/sys/cpu"

var hasKernel = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// kernel is multiply with eight values at a time. Its rows of x are k apart, those of out stride.
//
//go:noescape
func kernel(out, x, panel *float32, k, stride int)
