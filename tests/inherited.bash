# Loaded by all tests of bats: they depend on nothing that they inherit. CUDA_HOME, and the flags with which all is
# built, hold for them as well.
for inherited in $(compgen -e); do
    case $inherited in
    GPUPROF_BUILD | GPUPROF_SIM | GPUPROF_RUNTIMES | CUDA_HOME) ;;
    GPUPROF_* | GPUSIM_* | CUDA_* | GIT_* | LD_PRELOAD | PREFIX | BINDIR | LIBDIR | DESTDIR | NO_COLOR | COLUMNS | LINES | TZ | XDG_*) unset "$inherited" ;;
    esac
done
unset inherited
umask 022
