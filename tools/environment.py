"""Make the virtual environment of a checkout, and install packages into it; the Makefile runs this.

    python3 tools/environment.py create .venv
    .venv/bin/python tools/environment.py install --editable .

If a command fails, it says in one sentence what is wrong and what to do. This file runs before anything is installed,
on any Python that a developer has. So it needs only the standard library, and even Python 3.6 can read it.
"""

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)
GAVE_UP = re.compile(r"Retrying \(Retry\(total=0\b.*?(?:\[Errno -?\d+\] ([^'\")]+)|$)")
"""The last warning of pip before it does without an address, and the system's reason if it tells one."""


def create(folder: Path) -> None:
    """Make a virtual environment with pip, or repair one whose creation was interrupted."""
    here = "{}.{}".format(*sys.version_info)
    if sys.version_info < OLDEST:
        needed = "{}.{}".format(*OLDEST)
        sys.exit(
            f"ReelRank needs Python {needed} or newer, and this is {here}: install a newer one, "
            f"or name one that you have, such as `make demo PYTHON=python{needed}`."
        )
    if importlib.util.find_spec("ensurepip") is None:
        sys.exit(
            f"This Python cannot make virtual environments: on Debian or Ubuntu run "
            f"`sudo apt install python{here}-venv`, then the same make command again."
        )
    sys.stderr.write(f"Installing Python packages into {folder}, which needs the internet this once.\n")
    make = [sys.executable, "-m", "venv", str(folder)]
    subprocess.run(make, check=True)
    works = [str(folder / "bin" / "python"), "-m", "pip", "--version"]
    if subprocess.run(works, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
        for half in folder.glob("lib/python*/site-packages/*ip*"):
            if re.match("(pip|~ip)(-|$)", half.name):  # killed while it replaced itself
                shutil.rmtree(str(half))
        subprocess.run(make, check=True)
    # uv takes a fifth of pip's time. If it cannot be installed, pip does everything.
    uv = [*works[:3], "install", "--quiet", "--no-compile", "--only-binary", ":all:", "--retries", "0", "uv"]
    subprocess.run(uv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def installed_by_uv(arguments: "list[str]") -> bool:
    """Install packages with uv, and return whether that worked.

    Errors are not shown, because pip tries the same next.
    """
    uv = Path(sys.executable).with_name("uv")
    if not uv.exists():
        return False
    listed = subprocess.run([sys.executable, "-m", "pip", "config", "list"], stdout=subprocess.PIPE, check=True)
    command = [str(uv), "pip", "install", "--quiet", "--python", sys.executable, *uv_options(listed.stdout.decode())]
    variables = {**os.environ, "UV_NO_CONFIG": "1", "UV_NO_PROGRESS": "1", "UV_HTTP_RETRIES": "1"}
    done = subprocess.run([*command, *arguments], stderr=subprocess.PIPE, env=variables)
    return done.returncode == 0


def uv_options(pip_settings: str) -> "list[str]":
    r"""Translate pip's settings into options of uv, so that both use the same package indexes.

    `pip_settings` is the output of `pip config list`: lines NAME='VALUES', of which later ones win.

    >>> uv_options("global.extra-index-url='https://a https://b'\n:env:.no-index='1'\nglobal.timeout='9'\n")
    ['--index-strategy', 'unsafe-best-match', '--index', 'https://a', '--index', 'https://b', '--no-index']
    """
    values = {}
    for name, value in re.findall(r"^(?:global|install|:env:)\.([\w-]+)=(.*)$", pip_settings, re.MULTILINE):
        values[name] = str(ast.literal_eval(value)).split()
    names = {
        **{"index-url": "--default-index", "extra-index-url": "--index", "find-links": "--find-links"},
        **{"constraint": "--constraint", "trusted-host": "--allow-insecure-host"},
    }
    options = ["--index-strategy", "unsafe-best-match"]  # pip, too, takes the best of all indexes
    for name, option in names.items():
        for value in values.get(name, []):
            options += [option, value]
    no_index = values.get("no-index", ["false"])[0].lower() in ("1", "true", "yes", "on")
    return options + ["--no-index"] * no_index


def install(arguments: "list[str]") -> None:
    """Install packages into the environment of this Python. Without a network, say so in one sentence.

    `arguments` are those of `pip install`.
    """
    if installed_by_uv(arguments):
        return
    # Compiling all 22,000 files would take half of pip's time, and most are never imported.
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", *arguments]
    pip = subprocess.Popen(command, stderr=subprocess.PIPE, universal_newlines=True, errors="replace")
    retried, reason, errors = False, None, []
    for line in pip.stderr or ():
        if "Retrying (Retry(" not in line:
            sys.stderr.write(line) if line.startswith("WARNING") else errors.append(line)
            continue
        if not retried:
            sys.stderr.write("The package index does not answer; pip tries again.\n")
        retried = True
        gave_up = GAVE_UP.search(line)
        if gave_up:
            reason = gave_up.group(1) or "no answer"
    failed = pip.wait() != 0
    if reason is None or not failed:
        sys.stderr.write("".join(errors))
    if not failed:
        return
    if reason is None:
        sys.exit("pip failed: mend what it says, then run the same make command again; it goes on from here.")
    program = Path(sys.executable).with_name("reelrank")
    meanwhile = f" Until then `{program} demo` serves with the packages that are there." if program.exists() else ""
    sys.exit(
        f"pip cannot reach its package index ({reason}): Python packages are missing or out of date, and installing "
        f"them needs the internet. Connect, then run the same make command again; it goes on from here.{meanwhile}"
    )


if __name__ == "__main__":
    try:
        if sys.argv[1] == "create":
            create(Path(sys.argv[2]))
        else:
            install(sys.argv[2:])
    except subprocess.CalledProcessError as error:
        sys.exit(f"`{' '.join(error.cmd)}` failed; the same make command goes on from here.")
    except KeyboardInterrupt:
        sys.exit("Interrupted; the same make command goes on from here.")
