"""Run the `reelrank` command, when Python is started with `python -m backend`."""

from backend.cli import main

if __name__ == "__main__":
    main()
