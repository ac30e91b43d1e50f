"""A server of tools that behaves as its argument says, for tests of what real ones do now and then."""
import json
import os
import sys
import time

kind = sys.argv[1]
if kind == "broken":
    print("Traceback: secret-of-the-server-0123456789", file=sys.stderr)
    print("ModuleNotFoundError: No module named 'missing'", file=sys.stderr)
    sys.exit(1)
if kind == "silent":
    time.sleep(600)
if kind == "late":
    # As long as the test wants.
    while not os.path.exists("now"):
        time.sleep(0.05)

asked = {}


def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def ask(method, params):
    asked["id"] = asked.get("id", 0) + 1
    say({"id": f"s{asked['id']}", "method": method, "params": params})
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") == f"s{asked['id']}":
            return message.get("result", {})
    sys.exit(0)


def tool(name, schema, **more):
    hints = {"readOnlyHint": True} if more.pop("reads", True) else {"destructiveHint": False}
    return {"name": name, "description": f"{name} of {kind}", "inputSchema": schema, "annotations": hints, **more}


PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
EMPTY = {"type": "object", "properties": {}}
PAGES = {
    None: ([tool("first", EMPTY), tool("text", {"type": "string"}), tool("null", None)], "two"),
    "two": ([tool("a.b", {}), tool("a_b", {}), {"nothing": 1}], "three"),
    "three": ([tool("last", {"type": "object", "required": None})], ""),
}


def listed(cursor):
    if kind == "pages":
        tools, following = PAGES[cursor]
        return {"tools": tools, "nextCursor": following}
    return {"tools": [tool("go", EMPTY, reads=kind != "asks"), tool("where", EMPTY), tool("env", EMPTY)]}


def call(name):
    if name == "where":
        return ask("roots/list", {})["roots"][0]["uri"]
    if name == "env":
        return json.dumps(dict(os.environ))
    if kind == "hangs" and not os.path.exists("hung"):
        with open("hung.new", "w") as file:
            file.write(str(os.getpid()))
        os.rename("hung.new", "hung")
        time.sleep(600)
    if kind == "closes" and not os.path.exists("closed"):
        open("closed", "w").close()
        os.close(1)
        time.sleep(600)
    if kind == "chatty":
        print("calling go now, this line is no message", flush=True)
        print('{"neither": "is this"}', flush=True)
    if kind == "asks":
        confirm = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}
        answer = ask("elicitation/create", {"message": "Delete all of it?", "requestedSchema": confirm})
        with open("answers", "a") as file:
            file.write(answer["action"] + "\n")
        return "deleted: " + json.dumps(answer.get("content"))
    return f"{name} was called"


print("starting up, this line is no message", flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method, params, number = message.get("method"), message.get("params", {}), message.get("id")
    if method == "initialize":
        can = {} if kind == "bare" else {"tools": {}}
        version = params["protocolVersion"]
        about = {"name": kind, "version": "1"}
        say({"id": number, "result": {"protocolVersion": version, "capabilities": can, "serverInfo": about}})
    elif method == "tools/list":
        say({"id": number, "result": listed((params or {}).get("cursor"))})
    elif method == "tools/call":
        content = [{"type": "text", "text": call(params["name"])}]
        if kind == "draws":
            content.append({"type": "image", "mimeType": "image/png", "data": PICTURE})
            content.append({"type": "audio", "mimeType": "audio/mpeg", "data": "no Base64!"})
        say({"id": number, "result": {"content": content}})
    elif number is not None and method:
        say({"id": number, "error": {"code": -32601, "message": "no such method"}})
