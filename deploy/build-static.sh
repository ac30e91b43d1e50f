#!/bin/sh
# Builds the program without any shared library, for images that have none:
#
#   sh deploy/build-static.sh [FOLDER]      puts `weirgate` into FOLDER (dist)
#
# Crates come from vendor/ if it is there (then without network), else from where cargo takes them. PROFILE is release
# or, for a smaller program that takes longer to build, dist. Respects CARGO_TARGET_DIR.
set -eu
cd "$(dirname "$0")/.."

folder=${1:-dist}
profile=${PROFILE:-release}
# Named, so that the flag concerns the program and not the macros and build scripts, which are loaded as libraries.
target=$(uname -m)-unknown-linux-gnu
flags="${RUSTFLAGS:-} -C target-feature=+crt-static"

set -- build --locked --profile "$profile" --target "$target" --package weirgate --bin weirgate
if [ -d vendor ]; then
    set -- "$@" --offline \
        --config 'source.crates-io.replace-with="vendored"' --config 'source.vendored.directory="vendor"'
fi
RUSTFLAGS=$flags cargo "$@"

mkdir -p "$folder"
cp "${CARGO_TARGET_DIR:-target}/$target/$profile/weirgate" "$folder/weirgate"
