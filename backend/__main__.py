"""The `reelrank` command."""

from backend.cli import main

if __name__ == "__main__":
    main()
