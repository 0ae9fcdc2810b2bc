"""gpuprof profiles the kernels of a CUDA program. `gpuprof help` and `python -m gpuprof help` say how."""
