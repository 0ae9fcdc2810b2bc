from spack_repo.builtin.build_systems.meson import MesonPackage

from spack.package import *


class Inih(MesonPackage):
    """A small parser of .ini files in C, as an archive."""

    homepage = "https://github.com/benhoyt/inih"
    git = "https://github.com/benhoyt/inih.git"

    license("BSD-3-Clause")

    version("58", tag="r58")

    depends_on("c", type="build")

    def meson_args(self):
        return ["-Ddefault_library=static", "-Db_staticpic=true", "-Dwith_INIReader=false"]
