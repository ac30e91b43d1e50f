"""A OneBot v11 server by others, driven over standard input and output, one JSON object a line.

Writes {"port": N} when it listens. Takes {"event": {...}} to send an event to whoever is connected,
{"calls": true} to list the calls so far, {"message": ID} to show a message that it keeps. Ends with its input.
"""

import asyncio
import json
import sys

from ncatbot.utils.testing.mock_server import NapCatMockServer, get_standard_data


def say(thing):
    print(json.dumps(thing), flush=True)


async def main(port):
    server = NapCatMockServer(host="127.0.0.1", port=port, initial_data=get_standard_data())
    await server.start()
    say({"port": server._server.sockets[0].getsockname()[1]})
    lines = asyncio.StreamReader(limit=2**20)
    protocol = asyncio.StreamReaderProtocol(lines)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    while line := await lines.readline():
        wanted = json.loads(line)
        if "event" in wanted:
            await server.inject_event(wanted["event"])
            say({"sent": True})
        elif "calls" in wanted:
            say({"calls": server.get_call_history()})
        elif "message" in wanted:
            say({"message": server.database.get_message(str(wanted["message"]))})
    await server.stop()


asyncio.run(main(int(sys.argv[1])))
