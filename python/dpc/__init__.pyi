import inspect
from typing import Any, Dict, Iterator, List, Literal, NamedTuple, Optional, Tuple, Union
from typing import Sequence as AnySequence

import numpy as np
import numpy.typing as npt
from os import PathLike

__all__: List[str]

def compile(
    source: str,
    name: Union[str, "PathLike[str]"] = "main.dp",
    *,
    awkward: Optional[bool] = None,
    device: Optional[str] = None,
    platform: Optional[str] = None,
    memory: Optional[int] = None,
    params: Optional[str] = None,
    tune: Optional[str] = None,
    queue: Any = None,
) -> Module: ...
def load(
    path: Union[str, "PathLike[str]"],
    *,
    awkward: Optional[bool] = None,
    device: Optional[str] = None,
    platform: Optional[str] = None,
    memory: Optional[int] = None,
    params: Optional[str] = None,
    tune: Optional[str] = None,
    queue: Any = None,
) -> Module: ...

class Arrow:
    def __init__(self, values: Any) -> None: ...
    def __len__(self) -> int: ...
    def __arrow_c_array__(self, requested_schema: Any = None) -> Tuple[Any, Any]: ...

def arrow(values: Any) -> Arrow: ...

class Entry:
    __name__: str
    __signature__: inspect.Signature
    params: List[Tuple[str, str]]
    result: str
    def __call__(self, *args: Any, **named: Any) -> Any: ...
    def on_device(self, *args: Any, **named: Any) -> Any: ...
    def explain(self, *args: Any, **named: Any) -> Page: ...

class Module:
    diagnostics: List[Diagnostic]
    def __getattr__(self, name: str) -> Entry: ...
    def __getitem__(self, name: str) -> Entry: ...
    def __iter__(self) -> Iterator[Entry]: ...
    def __len__(self) -> int: ...
    def __enter__(self) -> Module: ...
    def __exit__(self, *raised: Any) -> None: ...
    def open(self, **options: Any) -> Module: ...
    def close(self) -> None: ...
    def explain(self) -> Page: ...
    def _repr_html_(self) -> str: ...

class Page(str):
    def save(self, path: Union[str, "PathLike[str]"]) -> None: ...
    def _repr_html_(self) -> str: ...

class Case(NamedTuple):
    name: str
    value: Any = None

class Sequence:
    def __getitem__(self, index: Union[int, slice]) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...
    def tolist(self) -> List[Any]: ...
    def __arrow_c_array__(self, requested_schema: Any = None) -> Tuple[Any, Any]: ...

class Ragged(Sequence):
    data: Union[npt.NDArray[Any], Sequence]
    offsets: npt.NDArray[np.int64]
    def __init__(self, data: Any, offsets: npt.ArrayLike) -> None: ...
    @classmethod
    def from_rows(cls, rows: AnySequence[npt.ArrayLike]) -> Ragged: ...
    @property
    def lengths(self) -> npt.NDArray[np.int64]: ...

class Columns(Sequence):
    columns: Union[Dict[str, Any], Tuple[Any, ...]]
    def __init__(self, *items: Any, **fields: Any) -> None: ...

class Cases(Sequence):
    names: List[str]
    tags: npt.NDArray[Any]
    payloads: List[Any]
    def __init__(self, names: AnySequence[str], tags: npt.NDArray[Any], payloads: AnySequence[Any]) -> None: ...

class Diagnostic:
    level: Literal["error", "warning", "note"]
    message: str
    file: Optional[str]
    line: Optional[int]
    column: Optional[int]
    code: Optional[str]
    source: Optional[str]
    width: int
    notes: List[Diagnostic]

class Error(Exception):
    diagnostics: List[Diagnostic]

class CompileError(Error, SyntaxError): ...

class CompileWarning(UserWarning): ...

class RunError(Error, RuntimeError):
    message: str
    file: Optional[str]
    line: Optional[int]
    column: Optional[int]

class OutOfMemory(RunError, MemoryError): ...
class DeviceError(Error, RuntimeError): ...

def load_ipython_extension(shell: Any) -> None: ...
