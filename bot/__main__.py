"""`python -m bot …` is `doppel …`; child processes are started this way, since PATH may not hold the script."""

from bot.app.cli import main

if __name__ == "__main__":
    main()
