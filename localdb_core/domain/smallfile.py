"""Reading a small file whose name a person wrote, whatever it turns out to be."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

# Never wait for the other end of a pipe; on Windows, no translation of line ends.
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def read_small_file(path: Path, *, limit: int, private: bool = False) -> bytes:
    """The bytes of a regular file of at most ``limit`` bytes.

    ``private`` also refuses a file that every user of the machine may read or change;
    a platform without such rights refuses none.

    Raises:
        OSError: it cannot be read, is a folder, a pipe or a device, or is too large;
            ``strerror`` says which.
    """
    descriptor = os.open(path, _FLAGS)
    try:
        _check(path, os.fstat(descriptor).st_mode, private=private)
        content = b""
        while len(content) <= limit and (more := os.read(descriptor, limit + 1)):
            content += more
    finally:
        os.close(descriptor)
    if len(content) > limit:
        raise OSError(errno.EFBIG, f"it is larger than {limit // 1024} KiB", str(path))
    return content


def _check(path: Path, mode: int, *, private: bool) -> None:
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, "it is a folder, not a file", str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is a pipe or a device, not a file", str(path))
    if private and os.name == "posix" and mode & (stat.S_IROTH | stat.S_IWOTH):
        raise OSError(errno.EACCES, f"everybody may read it; chmod 600 {path}", str(path))
