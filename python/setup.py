"""Puts libdpc into the package: that of DPC_LIBRARY, or one that is built of the source tree around this folder."""
import os
import re
import shutil
import subprocess

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(HERE)
# dpc's formats of files are numpy's business here: without them the library needs nothing but OpenCL.
OPTIONS = ["-DDPC_PNG=OFF", "-DDPC_JPEG=OFF", "-DDPC_ZLIB=OFF", "-DDPC_HDF5=OFF"]


def version():
    with open(os.path.join(TREE, "CMakeLists.txt")) as f:
        return re.search(r"project\(dpc VERSION ([0-9.]+)", f.read()).group(1)


def built_library(folder):
    """Where CMake has put it."""
    os.makedirs(folder, exist_ok=True)
    subprocess.run(["cmake", "-S", TREE, "-B", folder, *OPTIONS], check=True)
    jobs = str(os.cpu_count() or 1)
    subprocess.run(["cmake", "--build", folder, "--target", "dpc_library", "-j", jobs], check=True)
    return os.path.join(folder, "libdpc.so")


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        library = os.environ.get("DPC_LIBRARY") or built_library(os.path.abspath(os.path.join("build", "libdpc")))
        copy = os.path.join(self.build_lib, "dpc", "libdpc.so")
        shutil.copyfile(library, copy)
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-unneeded", copy], check=True)


class PlatformWheel(bdist_wheel):
    """For this platform, and every Python 3."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


setup(version=version(), distclass=WithLibrary, cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
