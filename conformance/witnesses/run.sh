#!/usr/bin/env bash
# Runs official A2A clients of other languages and the official kit, unmodified, against a fresh Lull server.
# By hand, not in CI. Needs `npm run build` and the languages.
#   conformance/witnesses/run.sh [python] [go] [java] [rust] [crewai] [adk] [kit]
# Clients come from the ordinary registries by package name and stay in a temporary directory.
# The kit runs when a checkout of a2aproject/a2a-tck is given, for each branch that is given:
#   A2A_TCK=<checkout of 1.0-dev> A2A_TCK_03=<checkout of 0.3.x> conformance/witnesses/run.sh kit
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
servers=()
trap 'kill "${servers[@]}"; rm -rf "$work"' EXIT
failed=0

# Starts a server with that agent, once. Its address is then in $url.
serve() {
  if [ ! -s "$work/url-$1" ]; then
    node "$here/server.mjs" "$1" >"$work/url-$1" &
    servers+=($!)
    until [ -s "$work/url-$1" ]; do
      kill -0 "${servers[-1]}" || exit 1
      sleep 0.2
    done
  fi
  url=$(cat "$work/url-$1")
}

python_client() {
  serve witness
  for sdk in 1.3.0 0.3.26; do
    python3 -m venv "$work/py-$sdk" && "$work/py-$sdk/bin/pip" install -q "a2a-sdk[all]==$sdk" || return 1
    versions=0.3
    [ "$sdk" = 1.3.0 ] && versions='1.0 0.3'
    for version in $versions; do
      bindings='JSONRPC HTTP+JSON'
      [ "$version" = 1.0 ] && bindings="$bindings GRPC"
      for binding in $bindings; do
        "$work/py-$sdk/bin/python" "$here/python/witness.py" "$url" "$binding" "$version" || failed=1
      done
    done
  done
}

go_client() {
  serve witness
  mkdir "$work/go" && cp "$here/go/witness.go" "$work/go/main.go"
  (cd "$work/go" && go mod init witness && go get github.com/a2aproject/a2a-go/v2@v2.4.0 && go mod tidy && go build -o witness .) \
    >"$work/go.log" 2>&1 || { cat "$work/go.log"; return 1; }
  for version in 1.0 0.3; do
    bindings='JSONRPC HTTP+JSON'
    [ "$version" = 1.0 ] && bindings="$bindings GRPC"
    for binding in $bindings; do
      "$work/go/witness" "$url" "$binding" "$version" || failed=1
    done
  done
}

java_client() {
  serve witness
  for sdk in 1.0.0.Alpha3 0.3.3.Final; do
    project="$work/java-$sdk"
    mkdir -p "$project/src"
    cp "$here/java/pom.xml" "$project"
    cp "$here/java/Witness.java" "$here/java/sdk-${sdk:0:3}/Sdk.java" "$project/src"
    (cd "$project" && mvn -q -B -Dsdk.version="$sdk" compile) || return 1
    for binding in JSONRPC HTTP+JSON; do
      (cd "$project" && mvn -q -B -Dsdk.version="$sdk" exec:java -Dexec.args="$url $binding") || failed=1
    done
  done
}

rust_client() {
  serve witness
  cp -r "$here/rust" "$work/rust" && (cd "$work/rust" && cargo build -q) || return 1
  for binding in JSONRPC HTTP+JSON; do
    "$work/rust/target/debug/witness" "$url" "$binding" || failed=1
  done
}

# framework NAME PACKAGE
framework() {
  serve witness
  python3 -m venv "$work/$1" && "$work/$1/bin/pip" install -q "$2" || return 1
  "$work/$1/bin/python" "$here/python/frameworks.py" "$url" "$1" || failed=1
}

# The kit installs itself from the Python registry into the temporary directory; its checkout gets reports only.
kit() {
  if [ -n "${A2A_TCK:-}" ]; then
    serve script
    python3 -m venv "$work/tck" && "$work/tck/bin/pip" install -q -e "$A2A_TCK" || return 1
    (cd "$A2A_TCK" && PATH="$work/tck/bin:$PATH" python run_tck.py --sut-host "$url") || failed=1
  fi
  if [ -n "${A2A_TCK_03:-}" ]; then
    serve open
    python3 -m venv "$work/tck-03" && "$work/tck-03/bin/pip" install -q -e "$A2A_TCK_03" || return 1
    for only in '--category all --transports jsonrpc' '--category all --transports rest' '--category transport-equivalence'; do
      # shellcheck disable=SC2086
      (cd "$A2A_TCK_03" && PATH="$work/tck-03/bin:$PATH" python run_tck.py --sut-url "$url" $only) || failed=1
    done
  fi
}

for one in "${@:-python go java rust crewai adk kit}"; do
  for language in $one; do
    case $language in
      python) python_client || failed=1 ;;
      go) go_client || failed=1 ;;
      java) java_client || failed=1 ;;
      rust) rust_client || failed=1 ;;
      crewai) framework crewai 'crewai[a2a]==1.15.30' || failed=1 ;;
      adk) framework adk 'google-adk[a2a]==2.13.0' || failed=1 ;;
      kit) kit || failed=1 ;;
      *) echo "unknown: $language"; failed=1 ;;
    esac
  done
done
exit $failed
