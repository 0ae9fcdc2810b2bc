/* Libraries that the linker has bound past our exports: those loaded with RTLD_DEEPBIND; all, where
 * the driver has loaded us, and not the linker (hook/injection.c). They are found after they were
 * loaded, and their tables are changed so that they call us: dlsym, and functions of the driver.
 * Owns the note of which objects have been seen. */
#ifndef GPUPROF_HOOK_IMPORTS_H
#define GPUPROF_HOOK_IMPORTS_H

/* Sees to the libraries that were loaded since the last time. Cheap where there are none. No
 * memory, and no lock but the linker's; from any thread, also under the linker's lock. */
void gp_imports_mend(void);

/* Sees to the libraries as gp_imports_mend does, and to addresses of the driver's functions that
 * any library keeps in its data. */
void gp_imports_mend_all(void);

#endif
