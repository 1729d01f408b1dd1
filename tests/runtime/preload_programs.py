#!/usr/bin/env python3
"""Common programs under `pgokit record heap`: nothing of them changes, and there is a profile.

usage: preload_programs.py PGOKIT           those that every machine for tests has
       preload_programs.py PGOKIT --all     all that are installed here
       preload_programs.py PGOKIT NAME...   these

Programs run as they are configured: no switch here hides their modules or their files of settings.
With UNDER=allocator, UNDER=branches or UNDER=sampled in the environment they run under `pgokit
run`, `pgokit record branches` or `pgokit record heap --sample` instead.

Prints TAP, with the exit status and the number of profiles of each.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from harness import PATIENCE, Cases, require, tool

# Program, command line, and at the end "< FILE", its input. Names of results begin with "out".
# Behind "@" stands what is recorded where a script or a link has another name, or "-" if that is
# nothing, as the program has an allocator of its own.
ALWAYS = r"""
/usr/bin/python3 -c "import json, re; print(len(json.dumps([*range(9999)])), re.split('b', 'abba'))"
/usr/bin/perl -e 'my %h; $h{$_ % 97} .= $_ for 1..20000; print scalar(%h), length $h{5}, "\n"'
bash -c 'declare -A m; for i in {1..2000}; do m[$((i % 50))]+=x$i; done; echo ${#m[7]}; exit 3'
dash -c 'i=0; while [ $i -lt 500 ]; do i=$((i + 1)); done; echo $i; echo no >&2; exit 4'
awk '{n[$1 % 9] += NF} END {for (k = 0; k < 9; k++) print k, n[k]}' text
sed -e '/7/d; s/word/W/g; $!N; P; D' text
grep -n -E '(12|34)+ word.*5$' text
sort -k2,2r -k1,1n text
sort -R --random-source=text -o out text
uniq -c -w 3 text
cut -d ' ' -f 2,3 text
tr a-z A-Z < text
wc text data in.c
head -n 100 text
tail -n 100 text
cat text data
comm -12 text sorted
join text text
paste text sorted
tac text
nl text
od -A x -t x1z data
split -n 4 text out
fold -w 30 text
expr 12345678901234567890 '*' 98765432109876543210
factor 1234567890123456789 600851475143
seq 1 7 30000
md5sum text data
sha256sum text data
base64 data
cp -v text out
ls -1 --quoting-style=c
dd if=data of=out bs=1000 count=7 status=none
date -u -d @1700000000 +%c
printf '%s %d\n' a 1 b 2
env -i A=1 B=2 env
stat -c '%n %s %F' text data
find . -name '*.c' -o -name 't*' -size +1
xargs -n 50 echo < text
diff -u text sorted
cmp text sorted
tar --mtime=@1 --owner=0 --group=0 --numeric-owner --sort=name -cf out text data in.c
gzip -9nc text
xz -k -T2 -c text
make -f Makefile all
gcc -O2 -S -frandom-seed=1 -o out.s in.c
as -o out.o in.s
ld -r -o out.o in.o
objdump -d in.o
readelf -a in.o
nm in.o
strings -n 5 data
git -c init.defaultBranch=main init -q out
sqlite3 :memory: < in.sql
"""

WHERE_PRESENT = r"""
openssl dgst -sha512 text data
ssh-keygen -l -f key.pub
jq -c '[.[] | select(.n % 3 == 0) | {n, s: (.s | length)}] | length' in.json
file text data in.c in.o
mawk 'BEGIN {for (i = 0; i < 9999; i++) s = s i; print length(s)}'
gawk 'BEGIN {for (i = 0; i < 9999; i++) a[i] = i ""; print asort(a), a[77]}'
bzip2 -9c text
zstd -q -19 -T2 -c text
lz4 -q -9 -c text
brotli -c text
zip -q -X out.zip text
unzip -p in.zip
7zr a -bd -mmt=2 -ms=on -mtm=off -mtc=off out.7z text@
cpio -o --quiet -H newc --reproducible < names
patch -o out text in.patch
ed -s text < commands
bc -l < sums
dc -e '2 4000 ^ p'
m4 in.m4
flex -o out.c in.l
bison -o out.c in.y
tcc -o out in.c
clang-14 -O2 -c -o out.o in.c
clang-19 -O2 -S -o out.s in.c
clang-22 -O2 -S -emit-llvm -o out.ll in.c
lld-22@lld -flavor gnu -r -o out.o in.o
mold@- --version
chromium@- --headless --no-sandbox --user-data-dir=PWD/home --dump-dom file://PWD/in.html
llvm-profdata-22 --version
llvm-objdump-22@llvm-objdump -d in.o
cpp in.c
strip -o out in.o
ar rcD out.a in.o
addr2line -e in.o -f 0
gdb -q -batch -ex 'disassemble main' in.o
strace -o trace echo hello
cmake -E sha256sum text
ninja --version
meson@python3 --version
valgrind@ --version
psql@psql --version
curl -sS -o out file://PWD/text
wget --version
ssh -V
gpg --homedir PWD/home --batch --print-md SHA512 text
nginx -V
redis-server --version
redis-cli --version
postgres --version
vim -es -c '%s/word/W/g' -c 'w! out' -c 'qa!' text
nano --version
less -E text
man@ --version
groff -Tascii -man page.1
tmux -V
screen@ --version
rsync -a text out
node -e 'const m = new Map(); for (let i = 0; i < 1e5; i++) m.set("k" + i % 9, i); console.log(m)'
java -version
lua5.4 -e 't = {} for i = 1, 1e5 do t[i] = tostring(i) end print(#table.concat(t))'
ruby -e 'h = Hash.new(0); 50000.times { |i| h["k#{i % 97}"] += i }; puts h.size, h["k5"]'
php -r '$a = []; for ($i = 0; $i < 50000; $i++) $a["k" . $i % 97][] = $i; echo count($a), "\n";'
tclsh in.tcl
guile --no-auto-compile -c '(display (apply + (map (lambda (x) (* x x)) (iota 5000))))'
expect -c 'spawn -noecho echo hi; expect hi; puts done'
zsh -c 'typeset -A m; for i in {1..2000}; do m[$((i % 50))]+=x$i; done; echo ${#m[7]}'
fish -c 'for i in (seq 200); set -a l x$i; end; count $l'
ksh93 -c 'typeset -A m; for ((i = 0; i < 2000; i++)); do m[$((i % 50))]+=x$i; done; echo ${#m[7]}'
gnuplot -e 'set term dumb; plot sin(x)'
dot -Tsvg in.dot
gs -q -dBATCH -dNOPAUSE -sDEVICE=pbmraw -sOutputFile=out.pbm in.ps
qpdf --version
convert-im6.q16 -seed 1 -size 60x60 gradient:red-blue -blur 0x2 -strip txt:-
identify-im6.q16 in.pbm
ffmpeg -nostdin -v error -f lavfi -i testsrc=d=1:s=64x64 -threads 2 -f framemd5 -
sox -n -r 8000 out.wav synth 1 sine 440
xmllint --format in.xml
xsltproc in.xsl in.xml
dig -v
ip -V
ss -V
ps --version
top -v
systemctl --version
journalctl --version
tic -o out in.ti
infocmp xterm
go version
units -q '3 ft' m
indent -o out.c in.c
hunspell -v
column -t text
ts@perl -h
mksh -c 'typeset -i i=0; while ((i < 3000)); do s="$s$i"; ((i += 1)); done; print ${#s}'
emacs --batch --eval '(princ (length (mapcar (function 1+) (number-sequence 1 50000))))'
octave-cli --eval 'disp(sum(sort(mod((1:5000) .^ 2, 97)))); disp(inv(magic(4) + eye(4)))'
Rscript@R -e 'x <- sapply(1:3000, function(i) sum(1:i)); print(summary(x))'
maxima@- --very-quiet --batch-string='factor(x^20-1);'
ocaml@ocamlrun in.ml
sbcl --noinform --non-interactive --eval '(print (length (format nil "~R" 1234567)))'
luajit -e 't = {} for i = 1, 1e5 do t[i] = tostring(i) end print(#table.concat(t))'
rustc -O --crate-type lib -o out.rlib in.rs
pandoc -f markdown -t html in.md
gfortran -O1 -S -o out.s in.f90
swipl -g 'numlist(1, 20000, L), sum_list(L, S), print(S), nl' -t halt
nasm -f elf64 -o out.o in.asm
tex --version
pdflatex@- -interaction=batchmode -output-directory=home in.tex
inkscape --export-type=png --export-filename=out.png in.svg
/usr/sbin/apache2 -v
/usr/sbin/nginx -V
busybox@- sh -c 'i=0; while [ $i -lt 500 ]; do i=$((i + 1)); done; echo $i'
g++ -O2 -S -frandom-seed=1 -o out.s in.cpp
clang++-14@clang -O2 -S -o out.s in.cpp
dpkg -l bash
apt-cache depends bash
ldd@- /usr/bin/python3
pdftotext -v
rsvg-convert@rsvg-convert --version
memcached --version
svn --version
doxygen --version
haproxy -v
mariadb --version
w3m -dump in.html
hg@- --version
/usr/bin/python3 in.py
"""


def fill(folder):
    """What the commands read."""
    words = [f"{i} word{i * 7919 % 1009} {i * i % 97}\n" for i in range(3000)]
    files = {
        "text": "".join(words), "sorted": "".join(sorted(words)), "names": "text\nin.c\n",
        "in.c": '#include <stdio.h>\nint main(void)\n{\n    puts("hello");\n    return 0;\n}\n',
        "Makefile": "V = $(foreach i,1 2 3,$(i)x)\nall: one\n\t@echo $(V)\none:\n\t@echo one\n",
        "in.sql": "create table t(a integer primary key, b text);\n"
                  "with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)"
                  " insert into t select i, 'text ' || (i * 7919 % 10007) from n;\n"
                  "select count(*), sum(a), min(b), max(b) from t where b like 'text 1%';\n",
        "in.json": "[" + ",".join(f'{{"n": {i}, "s": "{"x" * (i % 50)}"}}'
                                  for i in range(2000)) + "]",
        "in.xml": "<a>" + "".join(f"<b n='{i}'>t{i}</b>" for i in range(500)) + "</a>",
        "in.html": "<p id='x'></p><script>x.textContent = [1, 2, 3].map(v => v * v)</script>",
        "in.xsl": "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>"
                  "<xsl:template match='b'>[<xsl:value-of select='@n'/>]</xsl:template>"
                  "</xsl:stylesheet>",
        "in.patch": "--- text\n+++ text\n@@ -1,2 +1,2 @@\n-0 word0 0\n+changed\n 1 word856 1\n",
        "commands": "1,10p\n2d\ng/99/p\nQ\n", "sums": "scale=200\n4*a(1)\n2^500\n",
        "in.m4": "define(`f', `ifelse($1, 0, `.', `$1 f(decr($1))')')f(50)\n",
        "in.l": "%option noyywrap\n%%\n[a-z]+ return 1;\n.|\\n ;\n%%\n",
        "in.y": "%{\nint yylex(void); void yyerror(const char *s);\n%}\n%token N\n%left '+'\n%%\n"
                "e: e '+' e | N;\n%%\n",
        "in.tcl": "for {set i 0} {$i < 5000} {incr i} {dict lappend d [expr {$i % 50}] $i}\n"
                  "puts [llength [dict get $d 7]]\n",
        "in.dot": "digraph { " + "; ".join(f"n{i} -> n{i * 7 % 40}" for i in range(40)) + " }",
        "in.ps": "%!PS\n/Times-Roman findfont 30 scalefont setfont 50 50 moveto (hello) show\n"
                 "showpage\n",
        "in.pbm": "P1\n4 2\n1 0 1 0\n0 1 0 1\n",
        "in.ml": "let rec f n = if n < 2 then n else f (n - 1) + f (n - 2)\n"
                 "let () = print_int (f 20); print_newline ()\n",
        "in.rs": "pub fn f(n: u64) -> Vec<u64> { (0..n).map(|i| i * i % 97).collect() }\n",
        "in.cpp": "#include <map>\n#include <string>\nstd::map<std::string, int> m;\n"
                  "int f(const std::string &s) { return m[s + 'x']++; }\n",
        "in.svg": "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='40'>"
                  "<circle cx='20' cy='20' r='15' fill='red'/><text x='2' y='20'>a</text></svg>",
        "in.tex": "\\documentclass{article}\\begin{document}Some $x^2$.\\end{document}\n",
        "in.md": "# A title\n\n" + "Some *words* and `code`.\n\n" * 200,
        "in.f90": "subroutine f(a, n)\n  integer :: n\n  real :: a(n)\n  a = a * 2\nend\n",
        "in.asm": "section .text\n%rep 500\n  add rax, rbx\n%endrep\n  ret\n",
        # A part of its own test suite, where that is there; without times.
        "in.py": "import os, unittest\n"
                 "names = 'json dict list re set str struct zlib heapq bytes collections'\n"
                 "tests = unittest.defaultTestLoader.loadTestsFromNames(\n"
                 "    ['test.test_' + name for name in names.split()])\n"
                 "with open(os.devnull, 'w') as nowhere:\n"
                 "    done = unittest.TextTestRunner(nowhere).run(tests)\n"
                 "print(done.testsRun, done.failures, done.errors, len(done.skipped))\n",
        "in.ti": "made-up|a terminal,\n\tam, cols#80, bel=^G, cr=\\r,\n",
        "page.1": ".TH X 1\n.SH NAME\nx \\- does x\n.SH DESCRIPTION\n" + "Some words. " * 200,
        "key.pub": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDKiRVjxm4ap9ZOrRvbNM3JjcDXj4gYO"
                   "VbgNqVGUxRzj a\n",
    }
    for name, content in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(content)
    with open(os.path.join(folder, "data"), "wb") as file:
        file.write(bytes(i * i * 31 % 251 for i in range(40000)))
    os.mkdir(os.path.join(folder, "home"), 0o700)
    for argv in (["gcc", "-O1", "-S", "in.c"], ["gcc", "-c", "in.c"], ["zip", "-qX", "in.zip",
                                                                       "text"]):
        if shutil.which(argv[0]):
            subprocess.run(argv, cwd=folder, check=True)
    for name in os.listdir(folder):
        os.utime(os.path.join(folder, name), (1700000000, 1700000000))


def results(folder):
    found = {}
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            shown = os.path.relpath(path, folder)
            if shown.startswith("out") and os.path.isfile(path):
                with open(path, "rb") as file:
                    found[shown] = file.read()
    return found


# Number of the process and time, in warnings of glib.
GLIB_TIME = re.compile(rb":\d+(\): (?:[\w-]+-)?(?:WARNING|CRITICAL) \*\*: )[\d:.]+")


def once(before, argv, stdin):
    """Runs it in a new folder of one name, so that it prints the same paths."""
    with tempfile.TemporaryDirectory(prefix="pgokit-preload-") as base:
        folder = os.path.join(base, "work")
        os.mkdir(folder)
        fill(folder)
        argv = [part.replace("PWD", folder) for part in argv]
        env = dict(os.environ, TZ="UTC", LC_ALL="C", HOME=os.path.join(folder, "home"),
                   GIT_CONFIG_GLOBAL="/dev/null", TERM="dumb")
        with open(os.path.join(folder, stdin) if stdin else os.devnull, "rb") as file:
            done = subprocess.run([*before, *argv], cwd=folder, env=env, stdin=file,
                                  capture_output=True, timeout=PATIENCE, check=False)
        cut = folder.encode()
        errors = GLIB_TIME.sub(rb":N\1T", done.stderr.replace(cut, b"."))
        return (done.returncode, done.stdout.replace(cut, b"."), errors, results(folder))


def difference(before, after):
    """Short enough to be read."""
    if isinstance(before, dict):
        names = [name for name in before.keys() | after.keys()
                 if before.get(name) != after.get(name)]
        return f"{sorted(names)} differ"
    if not isinstance(before, bytes):
        return f"{before} became {after}"
    at = len(os.path.commonprefix([before, after]))
    return f"at byte {at} {before[at:at + 300]} became {after[at:at + 300]}"


def name_of(line):
    first = line.split()[0]
    return first.partition("@")[0]


def parts_of(line):
    """Path, arguments, input, and the name of what is recorded."""
    command, _, stdin = line.rpartition(" < ") if " < " in line[-12:] else (line, "", "")
    argv = shlex.split(command)
    argv[0], _, runs_as = argv[0].partition("@")
    path = tool(argv[0])
    return path, argv[1:], stdin, runs_as or os.path.basename(os.path.realpath(path))


# The one line about a program whose libraries would get another malloc.
DEEPBIND = re.compile(rb"^pgokit[^:\n]*: libraries are opened without RTLD_DEEPBIND[^\n]*\n", re.M)


def compare(plain, other):
    """Notes; fails if they are not the same."""
    without = DEEPBIND.sub(b"", other[2])
    notes = ["it opens libraries with RTLD_DEEPBIND, and that was said"] * (without != other[2])
    other = (*other[:2], without, other[3])
    kinds = zip(("exit status", "output", "errors", "files"), plain, other)
    differences = [f"{what}: {difference(before, after)}" for what, before, after in kinds
                   if before != after]
    require(not differences, "\n".join(differences))
    return notes


# What pgokit itself says is no part of what the program says.
OWN_LINE = re.compile(rb"^(pgokit|wrote |windows |[^\n]*\.pgkbr)[^\n]*\n", re.M)


def check_other(folder, pgokit, under, line):
    """The same under `pgokit run`, `pgokit record branches` and `pgokit record heap --sample`."""
    path, arguments, stdin, _ = parts_of(line)
    plain = once([], [path, *arguments], stdin)
    before = {"allocator": ["run", "--"],
              "branches": ["record", "branches", "-q", "-o", f"{folder}/out", "--"],
              "sampled": ["record", "heap", "--sample=2k", "--budget", "20%", "-q", "-o",
                          f"{folder}/%e.%p.sampled", "--"]}[under]
    status, output, errors, files = once([pgokit, *before], [path, *arguments], stdin)
    if under == "sampled":  # a program of Go, for example, has no profile
        errors = re.sub(rb"^(pgokit: |pgokit heap sampler: nothing is sampled, because malloc)"
                        rb"[^\n]*\n", b"", errors, flags=re.M)
    if under == "branches":
        errors = OWN_LINE.sub(b"", errors)
    for name in os.listdir(folder):
        if name.endswith(".sampled"):
            shown = subprocess.run([pgokit, "show", name], cwd=folder, capture_output=True,
                                   text=True, check=False, timeout=PATIENCE)
            require(shown.returncode == 0, f"show {name}: {shown.returncode} {shown.stderr}")
    return [f"status {status}", *compare(plain, (status, output, errors, files))]


def check(folder, pgokit, line):
    """Notes about the profiles; fails if anything is another than without us."""
    path, arguments, stdin, wanted = parts_of(line)
    plain = once([], [path, *arguments], stdin)
    profiles = os.path.join(folder, "profiles")
    os.mkdir(profiles)
    recorded = once([pgokit, "record", "heap", "-q", "-o", f"{profiles}/%e.%p.profraw", "--"],
                    [path, *arguments], stdin)
    if wanted == "-":
        require(b"malloc belongs to" in recorded[2], f"nothing was said: {recorded[2]}")
        require(plain[:2] == recorded[:2], f"status or output: {plain[:2]} became {recorded[:2]}")
        return [f"status {plain[0]}; it has an allocator of its own, and that was said"]
    notes = compare(plain, recorded)
    # One that is only being made (NAME.part) is left by a program that was killed as it began, as
    # expect does with those that it started.
    names = [name for name in os.listdir(profiles) if not name.endswith(".part")]
    require(any(name.startswith(wanted + ".") for name in names),
            f"no profile of {wanted}: {names}")
    for name in names:
        shown = subprocess.run([pgokit, "show", name], cwd=profiles, capture_output=True, text=True,
                               check=False, timeout=PATIENCE)
        require(shown.returncode == 0, f"show {name}: {shown.returncode} {shown.stderr}")
    return [f"status {plain[0]}, {len(names)} profiles", *notes]


def rows(text):
    return [line for line in text.split("\n") if line.strip()]


def main():
    pgokit, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    under = os.environ.get("UNDER", "heap")
    cases = Cases()
    for line in rows(ALWAYS) + (rows(WHERE_PRESENT) if wanted else []):
        name = name_of(line)
        if wanted and (not shutil.which(name) or wanted != ["--all"] and name not in wanted):
            continue
        if under == "heap":
            cases.run(name, check, pgokit, line)
        else:
            cases.run(name, check_other, pgokit, under, line)
    cases.finish()


if __name__ == "__main__":
    main()
