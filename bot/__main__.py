"""Runs `python -m bot …` as `doppel …`. Child processes start this way, because PATH may lack the script `doppel`."""

from bot.app.cli import main

if __name__ == "__main__":
    main()
