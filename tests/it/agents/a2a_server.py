"""An agent that speaks A2A, made with the public SDK, whose tasks behave as their words say."""
import asyncio
import os
import sys

import uvicorn
from a2a.helpers import new_task_from_user_message, new_text_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.responses import JSONResponse

port, notes = int(sys.argv[1]), sys.argv[2]
streaming = "plain" not in sys.argv[3:]
token = os.environ.get("TOKEN")


def note(text):
    with open(notes, "a", encoding="utf-8") as file:
        file.write(text + "\n")


class Executor(AgentExecutor):
    async def execute(self, context, event_queue):
        words = context.get_user_input()
        note(f"task {context.context_id} {words}")
        if words == "message":
            await event_queue.enqueue_event(new_text_message("no task at all"))
            return
        task = context.current_task or new_task_from_user_message(context.message)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        if words == "hang":
            note("hangs")
            await asyncio.sleep(600)
        if words == "fail":
            await updater.failed(new_text_message("the oven is cold"))
            return
        if words == "ask":
            await updater.requires_input(new_text_message("which colour?"))
            return
        await updater.add_artifact([Part(text="one ")], artifact_id="a")
        await asyncio.sleep(0.1)
        await updater.add_artifact([Part(text=f"two: {words}")], artifact_id="a", append=True, last_chunk=True)
        await updater.complete()

    async def cancel(self, context, event_queue):
        note("cancelled")
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


card = AgentCard(
    name="cook",
    description="Cooks.",
    version="1",
    capabilities=AgentCapabilities(streaming=streaming),
    supported_interfaces=[
        AgentInterface(url=f"http://127.0.0.1:{port}/", protocol_binding="JSONRPC", protocol_version="1.0")
    ],
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    skills=[AgentSkill(id="soup", name="Soup", description="Boils soup.", tags=["food"])],
)
handler = DefaultRequestHandler(Executor(), InMemoryTaskStore(), card)


class Guard(BaseHTTPMiddleware):
    async def dispatch(self, request, call_next):
        if token and request.headers.get("authorization") != f"Bearer {token}":
            return JSONResponse({"detail": "no"}, status_code=401)
        return await call_next(request)


app = Starlette(middleware=[Middleware(Guard)], routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")])


uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
