#!/bin/sh
# Submits one batch with curl and prints the answer.
#
#   VENTANILLA_URL=https://host/DEV VENTANILLA_API_KEY=... ./submit.sh batch.json
#
# The file is the body: {"applications": [...]} with 1 to 100 applications. The exit code is 0 where all of them were
# registered, 2 where some were not (errors_detail says why), and 1 where the request failed.
set -eu
file=${1:?the file with the batch is missing}
: "${VENTANILLA_URL:?is missing: the URL of the environment, which ends in /PRO or /DEV}"
: "${VENTANILLA_API_KEY:?is missing}"

# Over http:// others could read the API key and the applicants. So http:// is for this machine only, and past any proxy.
case $VENTANILLA_URL in
  *@*) VENTANILLA_URL= ;;
  https://* | http://localhost[:/]* | http://127.0.0.1[:/]* | 'http://[::1]'[:/]*) ;;
  *) VENTANILLA_URL= ;;
esac
: "${VENTANILLA_URL:?must begin with https://}"
export no_proxy="${no_proxy:-${NO_PROXY:-}},localhost,127.0.0.1,::1"

# The same bytes always have the same Idempotency-Key. For 24 hours a retry or another run gets the first answer again and
# registers nobody twice, even where the first answer got lost.
checksum=$(sha256sum <"$file" 2>/dev/null || shasum -a 256 <"$file")

answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

# curl reads the key from standard input, because every user of the machine can read the arguments of a command.
# curl retries a 500 and a lost connection. It waits longer each time, or as long as Retry-After says.
# A file of more than 4 MiB, which no answer of the service has, is an error of curl.
status=$(
  trap '' XFSZ
  ulimit -f 8192
  printf 'X-API-Key: %s\n' "$VENTANILLA_API_KEY" |
    curl --no-progress-meter --max-time 15 --retry 5 --retry-all-errors \
      --header @- \
      --header 'Content-Type: application/json' \
      --header "Idempotency-Key: ${checksum%% *}" \
      --data-binary "@$file" \
      --output "$answer" --write-out '%{http_code}' \
      "$VENTANILLA_URL"
) || exit 1

cat "$answer"
echo
if [ "$status" != 200 ]; then
  echo "The request failed with HTTP $status: nothing was registered." >&2
  exit 1
fi
# The answer has this member only where some application was not registered; the second name is the Spanish one.
if grep -Eq '"(errors_detail|errores_detalle)":' "$answer"; then
  echo 'Some applications were not registered: see errors_detail.' >&2
  exit 2
fi
