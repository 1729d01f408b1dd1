// A program whose runtime sets up all signals: goroutines that compute, a signal that is waited for,
// and a fault that is recovered from. With an argument it also profiles itself into this file.
package main

// int sum(int a, int b) { return a + b; }
import "C"

import (
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"sync"
	"syscall"
)

//go:noinline
func steps(n uint64) (count uint64) {
	for ; n != 1; count++ {
		if n%2 == 0 {
			n /= 2
		} else {
			n = 3*n + 1
		}
	}
	return
}

func fault() (said string) {
	defer func() { said = fmt.Sprint(recover()) }()
	var nowhere *int
	*nowhere = 1
	return
}

func main() {
	if len(os.Args) > 1 {
		file, err := os.Create(os.Args[1])
		if err != nil || pprof.StartCPUProfile(file) != nil {
			os.Exit(1)
		}
		defer pprof.StopCPUProfile()
	}
	came := make(chan os.Signal, 1)
	signal.Notify(came, syscall.SIGUSR1)
	var all sync.WaitGroup
	var sums [4]uint64
	for i := range sums {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			for n := uint64(1); n < 200000; n++ {
				sums[i] += steps(n + uint64(i))
			}
		}(i)
	}
	all.Wait()
	syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	fmt.Println(<-came, sums, fault(), C.sum(1, 2))
}
