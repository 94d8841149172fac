module contextinfinity/tools/encoder

go 1.26.0
