"""The fields of Discord's requests, out of a client that others generated from its published description.

Takes the folder with the wheel and writes one JSON object: a list of fields for each request.
"""

import json
import pathlib
import re
import sys
import zipfile

REQUESTS = [
    "message_create_request",
    "message_edit_request_partial",
    "message_allowed_mentions_request",
    "incoming_webhook_update_request_partial",
    "incoming_webhook_request_partial",
    "application_command_update_request",
    "update_guild_member_request",
    "ban_user_from_guild_request",
]

(wheel,) = pathlib.Path(sys.argv[1]).glob("discordopenapi-*.whl")
with zipfile.ZipFile(wheel) as archive:
    found = {}
    for request in REQUESTS:
        source = archive.read(f"openapi_client/models/{request}.py").decode()
        listed = re.search(r"__properties: ClassVar\[List\[str\]\] = (\[.*?\])", source)
        found[request] = json.loads(listed.group(1))
json.dump(found, sys.stdout, indent=1)
