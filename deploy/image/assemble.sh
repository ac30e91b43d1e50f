#!/bin/sh
# Lays out what the image holds: sh deploy/image/assemble.sh FOLDER DATA. Runs inside of the build. DATA is the folder
# that becomes the volume: it lies apart, because a copy gives an owner only to what it makes.
set -eu
cd "$(dirname "$0")/../.."

image=$1
data=$2
mkdir -p "$image/usr/bin" "$image/etc/weirgate" "$data"
chmod 0700 "$data"
if [ -f dist/weirgate ]; then
    cp dist/weirgate "$image/usr/bin/weirgate"
else
    sh deploy/build-static.sh "$image/usr/bin"
fi
chmod 0755 "$image/usr/bin/weirgate"
cp deploy/image/agent.yaml "$image/etc/weirgate/agent.yaml"
# Names for the numbers, for those who look at the processes.
echo 'weirgate:x:10001:10001::/var/lib/weirgate:/usr/bin/weirgate' >"$image/etc/passwd"
echo 'weirgate:x:10001:' >"$image/etc/group"
