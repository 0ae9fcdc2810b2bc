from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Scdoc(MakefilePackage):
    """Makes manual pages from a plain text."""

    homepage = "https://git.sr.ht/~sircmpwn/scdoc"
    git = "https://git.sr.ht/~sircmpwn/scdoc"

    license("MIT")

    version("1.11.3", tag="1.11.3")

    depends_on("c", type="build")
    depends_on("gmake", type="build")

    def build(self, spec, prefix):
        make("PREFIX=" + prefix, "LDFLAGS=")

    def install(self, spec, prefix):
        make("install", "PREFIX=" + prefix, "LDFLAGS=")
