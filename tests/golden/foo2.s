# The worked example with which pseudo probes came to LLVM: foo is inlined into foo2 at probe 6.
        .section .pseudo_probe_desc,"",@progbits
        .quad   6699318081062747564
        .quad   562954248388607
        .byte   3
        .ascii  "foo"
        .quad   837061429793323041
        .quad   1126003093360596
        .byte   4
        .ascii  "foo2"

        .text
        .globl  foo2
        .type   foo2,@function
foo2:
        pushq   %rax
        testl   %edi, %edi
        .pseudoprobe 837061429793323041 1 0 0 foo2
        je      1f
        .pseudoprobe 837061429793323041 3 0 0 foo2
        .pseudoprobe 837061429793323041 4 0 0 foo2
        .pseudoprobe 6699318081062747564 1 0 0 @ 837061429793323041:6 foo2
        .pseudoprobe 6699318081062747564 4 0 0 @ 837061429793323041:6 foo2
        popq    %rax
        retq
1:
        .pseudoprobe 837061429793323041 2 0 0 foo2
        movl    $1, %edi
        .pseudoprobe 837061429793323041 5 1 0 foo2
        callq   *%rsi
        .pseudoprobe 837061429793323041 4 0 0 foo2
        popq    %rax
        retq
        .size   foo2, .-foo2
