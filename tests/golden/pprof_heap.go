package main

import (
	"os"
	"runtime"
	"runtime/pprof"
)

type node struct {
	next *node
	data [100]byte
}

var kept []*node
var sink []byte

//go:noinline
func makeNodes(n int) {
	for i := 0; i < n; i++ {
		kept = append(kept, &node{})
	}
}

//go:noinline
func churn(n int) {
	for i := 0; i < n; i++ {
		sink = make([]byte, 1000)
	}
}

func main() {
	if len(os.Args) > 2 {
		runtime.MemProfileRate = 1
	}
	makeNodes(5000)
	churn(20000)
	sink = nil
	runtime.GC()
	runtime.GC()
	f, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	pprof.Lookup("heap").WriteTo(f, 0)
	f.Close()
}
