"""`python -m lycosa_server.crawler`: the crawl process, as the supervisor starts it."""

from __future__ import annotations

import asyncio
import signal
import sys

from lycosa.core.errors import InputError, LockedError, LycosaError
from lycosa_server.crawler.process import CrawlProcess
from lycosa_server.logs import capture_library_logs, log
from lycosa_server.people.database import Database
from lycosa_server.people.migrating import migrate
from lycosa_server.settings import Settings
from lycosa_server.supervisor import notice_socket, stop_with_supervisor


async def crawl(settings: Settings) -> None:
    settings.data.mkdir(parents=True, exist_ok=True)
    database = Database(settings.database_address)
    try:
        migrate(database)
        process = CrawlProcess(settings, database)
        if (notices := notice_socket()) is not None:
            asyncio.get_running_loop().add_reader(notices, lambda: process.wake(notices.recv(1)))
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, process.stop)
        await process.run()
    finally:
        database.close()


def main() -> None:
    stop_with_supervisor()
    capture_library_logs()
    try:
        asyncio.run(crawl(Settings.from_environment()))
    except (InputError, LockedError) as error:
        log("start failed", "error", process="crawler", why=str(error))
        sys.exit(2)
    except LycosaError as error:  # the database is unavailable; the supervisor restarts this process
        log("start failed", "error", process="crawler", why=str(error))
        sys.exit(1)


if __name__ == "__main__":
    main()
