"""A file system that takes names for one as others do: `folding.py DIRECTORY MOUNT case|unicode`.

It shows DIRECTORY at MOUNT until it is unmounted. `case` ignores case and keeps it, as APFS, exFAT and SMB do; `unicode` takes
the Unicode forms of a name for one, as APFS does. `Ready` on stdout says that it is mounted.
"""

import errno
import os
import sys
import unicodedata

try:
    import fusepy
except ImportError:
    import fuse as fusepy  # As pip installs it.

FOLDS = {
    "case": str.casefold,
    "unicode": lambda name: unicodedata.normalize("NFD", name),
}


class Folding(fusepy.Operations):
    def __init__(self, root, fold):
        self.root = root
        self.fold = fold

    def init(self, path):
        print("Ready", flush=True)

    def real(self, path):
        """Where `path` is: each component under the name that is there already, if the file system takes that for it."""
        at = self.root
        for name in path.strip("/").split("/"):
            there = os.path.join(at, name)
            if name and not os.path.lexists(there) and os.path.isdir(at):
                alike = [other for other in os.listdir(at) if self.fold(other) == self.fold(name)]
                there = os.path.join(at, *alike[:1] or [name])
            at = there
        return at

    def getattr(self, path, fh=None):
        stat = os.lstat(self.real(path))
        keys = ("st_atime", "st_ctime", "st_gid", "st_mode", "st_mtime", "st_nlink", "st_size", "st_uid", "st_ino")
        return {key: getattr(stat, key) for key in keys}

    def access(self, path, mode):
        if not os.access(self.real(path), mode):
            raise fusepy.FuseOSError(errno.EACCES)

    def readdir(self, path, fh):
        return [".", "..", *os.listdir(self.real(path))]

    def create(self, path, mode, fi=None):
        return os.open(self.real(path), os.O_RDWR | os.O_CREAT, mode)

    def open(self, path, flags):
        return os.open(self.real(path), flags & ~os.O_NOFOLLOW)

    def read(self, path, size, offset, fh):
        return os.pread(fh, size, offset)

    def write(self, path, data, offset, fh):
        return os.pwrite(fh, data, offset)

    def truncate(self, path, length, fh=None):
        os.truncate(self.real(path), length)

    def release(self, path, fh):
        os.close(fh)

    def fsync(self, path, datasync, fh):
        os.fsync(fh)

    def mkdir(self, path, mode):
        os.mkdir(self.real(path), mode)

    def rmdir(self, path):
        os.rmdir(self.real(path))

    def unlink(self, path):
        os.unlink(self.real(path))

    def chmod(self, path, mode):
        os.chmod(self.real(path), mode)

    def rename(self, old, new):
        os.rename(self.real(old), self.real(new))

    def statfs(self, path):
        stat = os.statvfs(self.real(path))
        keys = ("f_bavail", "f_bfree", "f_blocks", "f_bsize", "f_frsize", "f_namemax")
        return {key: getattr(stat, key) for key in keys}


directory, mount, kind = sys.argv[1:]
fusepy.FUSE(Folding(directory, FOLDS[kind]), mount, foreground=True, nothreads=True, use_ino=True)
