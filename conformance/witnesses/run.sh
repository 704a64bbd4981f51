#!/usr/bin/env bash
# Runs official A2A clients of other languages, unmodified, against a fresh Lull server. By hand, not in CI.
#   conformance/witnesses/run.sh [python] [go]
# Clients come from the ordinary registries by package name and stay in a temporary directory.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
node "$here/server.mjs" >"$work/url" &
server=$!
trap 'kill $server; rm -rf "$work"' EXIT
until [ -s "$work/url" ]; do sleep 0.2; done
url=$(cat "$work/url")
failed=0

python() {
  for sdk in 1.3.0 0.3.26; do
    python3 -m venv "$work/py-$sdk" && "$work/py-$sdk/bin/pip" install -q "a2a-sdk[all]==$sdk" || return 1
    versions=0.3
    [ "$sdk" = 1.3.0 ] && versions='1.0 0.3'
    for version in $versions; do
      for binding in JSONRPC HTTP+JSON; do
        "$work/py-$sdk/bin/python" "$here/python/witness.py" "$url" "$binding" "$version" || failed=1
      done
    done
  done
}

go_client() {
  mkdir "$work/go" && cp "$here/go/witness.go" "$work/go/main.go"
  (cd "$work/go" && go mod init witness && go get github.com/a2aproject/a2a-go/v2@v2.4.0 && go mod tidy && go build -o witness .) \
    >"$work/go.log" 2>&1 || { cat "$work/go.log"; return 1; }
  for version in 1.0 0.3; do
    for binding in JSONRPC HTTP+JSON; do
      "$work/go/witness" "$url" "$binding" "$version" || failed=1
    done
  done
}

for language in "${@:-python go}"; do
  for one in $language; do
    case $one in
      python) python || failed=1 ;;
      go) go_client || failed=1 ;;
      *) echo "unknown: $one"; failed=1 ;;
    esac
  done
done
exit $failed
