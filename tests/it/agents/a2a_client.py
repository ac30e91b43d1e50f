"""Calls an agent with the public SDK of A2A, and prints what came as one JSON object a line."""
import asyncio
import json
import sys

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers import new_text_message
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
)
from google.protobuf.json_format import MessageToDict

url, token, what, *words = sys.argv[1:]


def say(value):
    print(json.dumps(value), flush=True)


def request(text, context, at_once=False):
    message = new_text_message(text, context_id=context, role=Role.ROLE_USER)
    sent = SendMessageRequest(message=message)
    sent.configuration.return_immediately = at_once
    return sent


async def main():
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        if what == "card":
            say(MessageToDict(card))
            return
        streaming = what in ("stream", "subscribe")
        config = ClientConfig(httpx_client=http, streaming=streaming, polling=what == "begin")
        client = ClientFactory(config).create(card)
        if what in ("send", "stream", "begin"):
            async for event in client.send_message(request(words[0], words[1], what == "begin")):
                say(MessageToDict(event))
        elif what == "get":
            say(MessageToDict(await client.get_task(GetTaskRequest(id=words[0]))))
        elif what == "cancel":
            say(MessageToDict(await client.cancel_task(CancelTaskRequest(id=words[0]))))
        elif what == "subscribe":
            async for event in client.subscribe(SubscribeToTaskRequest(id=words[0])):
                say(MessageToDict(event))


try:
    asyncio.run(main())
except Exception as error:  # whatever the SDK makes of it is what is tested
    say({"error": type(error).__name__, "message": str(error)})
