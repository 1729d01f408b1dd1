"""Builds the programs of the overhead benchmark from Debian's sources.

Each is compiled twice, plain and for heap profiling, and linked four times: the plain objects;
and the others with a runtime that does nothing, with LLVM's and with ours.
"""

import concurrent.futures
import glob
import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
CC, CXX = "clang-22", "clang++-22"
FLAGS = ["-O2", "-g", "-w", "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer"]
COUNT = ["-fmemory-profile"]
PACKAGES = ["sqlite3", "lua5.4", "jq", "libzstd", "leveldb", "redis", "ninja-build", "libxml2",
            "duktape", "tcc"]
VARIANTS = ["plain", "counting", "llvm", "pgokit"]


class Program:
    def __init__(self, name, sources, flags=(), libraries=(), cxx=False):
        self.name, self.sources, self.cxx = name, sources, cxx
        self.flags, self.libraries = list(flags), list(libraries)


def run(argv, cwd):
    done = subprocess.run(argv, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", check=False)
    if done.returncode:
        raise SystemExit(f"bench: {' '.join(argv)}: exit status {done.returncode}\n"
                         f"{done.stdout[-1000:]}{done.stderr[-3000:]}")
    return done.stdout


def tree_of(data, package):
    return sorted(glob.glob(os.path.join(data, "sources", package + "-[0-9]*/")))[0]


def files(tree, *patterns, without=r"$^"):
    return [path for pattern in patterns
            for path in sorted(glob.glob(os.path.join(tree, pattern)))
            if not re.search(without, path)]


# ---- what each program is made of ----

def sqlite(data, made):
    amalgamation = os.path.join(made, "sqlite")
    if not os.path.exists(os.path.join(amalgamation, "shell.c")):
        shutil.rmtree(amalgamation, ignore_errors=True)
        shutil.copytree(tree_of(data, "sqlite3"), amalgamation)
        run(["sh", "configure", "--disable-tcl"], amalgamation)
        run(["make", "sqlite3.c", "shell.c"], amalgamation)
    return Program("sqlite3", [os.path.join(amalgamation, name)
                               for name in ("sqlite3.c", "shell.c")],
                   ["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"], ["-lm"])


def generate(made, name, text):
    """A header that the program's own build would make; the folder it is in."""
    path = os.path.join(made, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return os.path.dirname(path)


def lua(data, made):
    folder = generate(made, "lua-generated/lua5.4-deb-multiarch.h",
                      '#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"\n')
    return Program("lua", files(tree_of(data, "lua5.4"), "src/*.c", without=r"/luac\.c$"),
                   ["-DLUA_USE_POSIX", "-I" + folder], ["-lm"])


def jq(data, made):
    tree = tree_of(data, "jq")
    with open(os.path.join(tree, "src", "builtin.jq"), encoding="utf-8") as file:
        lines = [line.rstrip("\n").replace("\\", "\\\\").replace('"', '\\"') for line in file]
    generated = generate(made, "jq-generated/src/builtin.inc",
                         "".join(f'"{line}\\n"\n' for line in lines))
    generate(made, "jq-generated/src/version.h", '#define JQ_VERSION "1.6"\n')
    have = ["ISATTY", "MEMMEM", "MKTIME", "GMTIME_R", "GMTIME", "LOCALTIME_R", "LOCALTIME",
            "STRPTIME", "STRFTIME", "SETENV", "TIMEGM", "TM_TM_GMT_OFF", "GETTIMEOFDAY", "POW",
            "LOG", "EXP", "FLOOR", "SQRT", "FREXP", "MODF", "LDEXP", "ALLOCA_H"]
    return Program("jq", files(tree, "src/*.c", without=r"/(inject_errors)\.c$"),
                   ["-D_GNU_SOURCE", "-DIEEE_8087=1", "-I" + generated,
                    "-I" + os.path.dirname(generated), *[f"-DHAVE_{name}=1" for name in have]],
                   ["-lm", "-pthread"])


def zstd(data, _):
    tree = tree_of(data, "libzstd")
    return Program("zstd", files(tree, "lib/common/*.c", "lib/compress/*.c", "lib/decompress/*.c",
                                 "lib/dictBuilder/*.c", "programs/*.c"),
                   ["-DZSTD_DISABLE_ASM", "-DZSTD_LEGACY_SUPPORT=0", "-DXXH_NAMESPACE=ZSTD_",
                    *["-I" + os.path.join(tree, at)
                      for at in ("lib", "lib/common", "lib/dictBuilder")]])


def leveldb(data, made):
    tree = tree_of(data, "leveldb")
    generated = generate(made, "leveldb-generated/port/port_config.h",
                         "#define HAVE_FDATASYNC 1\n#define HAVE_O_CLOEXEC 1\n"
                         "#define HAVE_CRC32C 0\n#define HAVE_SNAPPY 0\n"
                         "#define HAVE_FULLFSYNC 0\n")
    return Program("leveldb", files(tree, "db/*.cc", "table/*.cc", "util/*.cc",
                                    "helpers/memenv/*.cc", "benchmarks/db_bench.cc",
                                    without=r"_test\.cc|leveldbutil|_windows|_bench\.cc$(?<!"
                                            r"db_bench\.cc)"),
                   ["-std=c++17", "-fno-rtti", "-DLEVELDB_PLATFORM_POSIX=1", "-DNDEBUG",
                    *["-I" + at for at in (tree, os.path.join(tree, "include"),
                                           os.path.dirname(generated),
                                           os.path.join(HERE, "stubs"))]],
                   ["-pthread"], cxx=True)


def redis_objects(tree, name):
    with open(os.path.join(tree, "src", "Makefile"), encoding="utf-8") as file:
        names = re.search(rf"^{name}=(.*)$", file.read(), re.M)[1].split()
    return [os.path.join(tree, "src", object_[:-2] + ".c") for object_ in names]


def redis(data, made, name="redis-server", objects="REDIS_SERVER_OBJ"):
    tree = tree_of(data, "redis")
    generated = generate(made, "redis-generated/release.h",
                         '#define REDIS_GIT_SHA1 "0"\n#define REDIS_GIT_DIRTY "0"\n'
                         '#define REDIS_BUILD_ID "bench"\n#define REDIS_BUILD_ID_RAW "bench"\n')
    deps = os.path.join(tree, "deps")
    sources = (redis_objects(tree, objects)
               + files(deps, "hiredis/*.c", without=r"/(test|ssl)\.c$")
               + files(deps, "hdr_histogram/hdr_histogram.c")
               + files(deps, "lua/src/*.c", without=r"/(lua|luac|print)\.c$"))
    return Program(name, sources,
                   ["-D_GNU_SOURCE", "-DREDIS_STATIC=", "-std=gnu11", "-DLUA_ANSI",
                    "-DENABLE_CJSON_GLOBAL", "-I" + generated,
                    '-DHDR_MALLOC_INCLUDE="hdr_redis_malloc.h"',
                    *["-I" + os.path.join(deps, at)
                      for at in ("hiredis", "linenoise", "lua/src", "hdr_histogram", "../src")]],
                   ["-lm", "-ldl", "-pthread", "-rdynamic"])


def redis_benchmark(data, made):
    return redis(data, made, "redis-benchmark", "REDIS_BENCHMARK_OBJ")


def duktape(data, _):
    tree = tree_of(data, "duktape")
    extras = ("print-alert", "console", "logging", "module-duktape")
    return Program(
        "duktape", files(tree, "src/duktape.c", "examples/cmdline/duk_cmdline.c",
                         *[f"extras/{name}/*.c" for name in extras], without=r"/test\.c$"),
        ["-std=c99", *["-I" + os.path.join(tree, at) for at in
                       ("src", "examples/cmdline", *[f"extras/{name}" for name in extras])],
         *[f"-DDUK_CMDLINE_{name}_SUPPORT" for name in
           ("PRINTALERT", "CONSOLE", "LOGGING", "MODULE")]], ["-lm"])


def ninja(data, _):
    return Program("ninja", files(tree_of(data, "ninja-build"), "src/*.cc",
                                  without=r"test\.cc$|win32|\.in\.cc$|/(browse|"
                                          r"hash_collision_bench)\.cc$"),
                   ["-std=c++11", "-fno-rtti", "-fno-exceptions", "-DNDEBUG", "-DUSE_PPOLL",
                    '-DNINJA_PYTHON="python3"'], ["-pthread"], cxx=True)


def filled(path, values):
    """A header's template, with each @NAME@ replaced by its value, 1 where none is given."""
    with open(path, encoding="utf-8") as file:
        return re.sub(r"@(\w+)@", lambda found: values.get(found[1], "1"), file.read())


def xmllint(data, made):
    tree = tree_of(data, "libxml2")
    absent = ("ICU", "LZMA", "ZLIB", "HTTP", "FTP", "MODULES", "MEM_DEBUG", "RUN_DEBUG",
              "TRIO", "THREAD_ALLOC")
    generated = generate(
        made, "xmllint-generated/libxml/xmlversion.h",
        filled(os.path.join(tree, "include", "libxml", "xmlversion.h.in"),
               {"VERSION": "2.9.14", "LIBXML_VERSION_NUMBER": "20914",
                "LIBXML_VERSION_EXTRA": "", "MODULE_EXTENSION": ".so",
                **{"WITH_" + name: "0" for name in absent}}))
    above = os.path.dirname(generated)
    have = ["ARPA_INET_H", "CTYPE_H", "DLFCN_H", "ERRNO_H", "FCNTL_H", "FLOAT_H", "GETTIMEOFDAY",
            "INTTYPES_H", "LIMITS_H", "MATH_H", "PTHREAD_H", "SIGNAL_H", "STDARG_H", "STDINT_H",
            "STDLIB_H", "STRING_H", "SYS_MMAN_H", "SYS_STAT_H", "SYS_TIME_H", "SYS_TYPES_H",
            "TIME_H", "UNISTD_H", "VA_COPY", "VSNPRINTF", "SNPRINTF", "LOCALTIME", "STAT"]
    generate(made, "xmllint-generated/config.h",
             "#define ICONV_CONST\n#define XML_SOCKLEN_T socklen_t\n")
    return Program("xmllint", files(tree, "*.c", without=r"/(test\w*|run\w+|trio\w*|xzlib|"
                                    r"nanohttp|nanoftp|xmlcatalog)\.c$"),
                   ["-I" + above, "-I" + os.path.join(tree, "include"), "-I" + tree,
                    *[f"-DHAVE_{name}=1" for name in have]], ["-lm", "-ldl", "-pthread"])


def tcc(data, made):
    tree = tree_of(data, "tcc")
    generated = generate(made, "tcc-generated/config.h",
                         f'#define TCC_VERSION "0.9.27"\n#define CONFIG_TCCDIR "{tree}"\n'
                         '#define CONFIG_TRIPLET "x86_64-linux-gnu"\n')
    return Program("tcc", [os.path.join(tree, "tcc.c")],
                   ["-DONE_SOURCE=1", "-DTCC_TARGET_X86_64", "-fno-strict-aliasing",
                    "-I" + generated, "-I" + tree], ["-lm", "-ldl"])


def malloc_pairs(*_):
    return Program("malloc_pairs", [os.path.join(HERE, "malloc_pairs.c")], [], ["-pthread"])


MAKERS = {"sqlite3": sqlite, "lua": lua, "jq": jq, "zstd": zstd, "leveldb": leveldb,
          "redis": redis, "ninja": ninja, "xmllint": xmllint, "duktape": duktape, "tcc": tcc,
          "malloc_pairs": malloc_pairs}


# ---- building ----

def compile_all(pool, program, folder, more, flags=None, compilers=(CC, CXX)):
    """Objects of the program; those that are there are kept."""
    os.makedirs(folder, exist_ok=True)
    objects, jobs = [], []
    for source in program.sources:
        name = re.sub(r"\W+", "_", os.path.relpath(source, os.path.dirname(folder)))
        object_ = os.path.join(folder, name.strip("_") + ".o")
        objects.append(object_)
        if not os.path.exists(object_):
            jobs.append(pool.submit(run, [compilers[program.cxx], *(flags or FLAGS), *more,
                                          *program.flags, "-c", source, "-o",
                                          object_ + ".new"], folder))
    for job in jobs:
        job.result()
    for object_ in objects:
        if os.path.exists(object_ + ".new"):
            os.rename(object_ + ".new", object_)
    return objects


def link(program, objects, out, more, compilers=(CC, CXX)):
    run([compilers[program.cxx], *objects, *more, *program.libraries, "-Wl,--build-id",
         "-o", out], os.path.dirname(out))


def prepare(bench, name):
    """The program, and an object with the runtime that does nothing."""
    made = os.path.join(bench.data, "heap-runtime")
    os.makedirs(made, exist_ok=True)
    program = MAKERS[name](bench.data, made)
    nothing = os.path.join(made, "counting_alone.o")
    run([CC, "-O2", "-c", os.path.join(HERE, "counting_alone.c"), "-o", nothing], made)
    return program, made, nothing


def build_counting(bench, name, flags):
    """Paths of the program compiled with the flags of each variant, by variant; all run with the
    runtime that does nothing. Nothing is kept, as the plugin may be another one."""
    program, made, nothing = prepare(bench, name)
    folder, paths = os.path.join(made, name), {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for variant, more in flags.items():
            objects = os.path.join(folder, variant + "-counting")
            shutil.rmtree(objects, ignore_errors=True)
            paths[variant] = os.path.join(folder, "counting-" + variant)
            # Without debug information, which valgrind need not know the newest form of.
            link(program, compile_all(pool, program, objects, more), paths[variant],
                 ["-Wl,--strip-debug"] + ([] if variant == "plain" else [nothing]))
    return paths


def build(bench, name):
    """Paths of the program by variant."""
    program, made, nothing = prepare(bench, name)
    folder = os.path.join(made, name)
    ours = run([bench.pgokit, "config", "--ldflags", "--libs", "heap", "--cc", CC], made).split()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        plain = compile_all(pool, program, os.path.join(folder, "plain-objects"), [])
        counted = compile_all(pool, program, os.path.join(folder, "counted-objects"), COUNT)
    paths = {variant: os.path.join(folder, variant) for variant in VARIANTS}
    link(program, plain, paths["plain"], [])
    link(program, counted, paths["counting"], [nothing])
    link(program, counted, paths["llvm"], COUNT)
    link(program, counted, paths["pgokit"], ours)
    return paths


def build_redis_benchmark(bench):
    made = os.path.join(bench.data, "heap-runtime")
    program = redis_benchmark(bench.data, made)
    out = os.path.join(made, "redis", "redis-benchmark")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = compile_all(pool, program, os.path.join(made, "redis", "benchmark-objects"), [])
    link(program, objects, out, [])
    return out
