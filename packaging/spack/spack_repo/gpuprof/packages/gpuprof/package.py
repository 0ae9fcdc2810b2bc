import os

from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *

# The clone that this recipe is a part of.
CLONE = os.path.realpath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 6))


class Gpuprof(MakefilePackage):
    """A profiler for CUDA programs that need no change: metrics of every kernel launch from the
    hardware's counters and from instrumented code, in one run of the program."""

    git = "file://" + CLONE

    license("MIT")

    version("main", branch="main")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("scdoc", type="build")
    # nvcc and headers; CUPTI is found at run time.
    depends_on("cuda@12.6:", type=("build", "run"))
    # Archives of position-independent code, which the library links.
    depends_on("jansson~shared", type="build")
    depends_on("inih", type="build")
    depends_on("pcre2+pic", type="build")
    depends_on("libiberty+pic", type="build")
    depends_on("lz4 libs=static", type="build")
    depends_on("zstd libs=static", type="build")
    depends_on("uthash", type="build")
    # The command's, shared.
    depends_on("sqlite")

    conflicts("platform=darwin")
    conflicts("platform=windows")

    archives = ("jansson", "inih", "pcre2", "libiberty", "lz4", "zstd")
    # Spack has no Chart.js: without it there is no `gpuprof report --html`.
    options = ("SQLITE_LIBS=-lsqlite3", "CHART_JS=none")

    def setup_build_environment(self, env):
        env.set("CUDA_HOME", self.spec["cuda"].prefix)
        # These two have no .pc files.
        env.append_flags("CPPFLAGS", "-I" + self.spec["libiberty"].prefix.include)
        env.append_flags("CPPFLAGS", "-I" + self.spec["uthash"].prefix.include)
        for name in self.archives:
            for folder in ("lib", "lib64"):
                env.prepend_path("LIBRARY_PATH", os.path.join(self.spec[name].prefix, folder))

    def build(self, spec, prefix):
        make("all", "PREFIX=" + prefix, *self.options)

    def install(self, spec, prefix):
        make("install", "PREFIX=" + prefix, *self.options)
