"""Scripts of this folder as modules: their names have no ending."""

import os
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

HERE = os.path.dirname(os.path.abspath(__file__))


def sibling(name):
    loader = SourceFileLoader(name, os.path.join(HERE, name))
    module = module_from_spec(spec_from_loader(name, loader))
    loader.exec_module(module)
    return module
