#!/bin/sh
# Installs hyperkube @VERSION@ after it verified the signature of the checksums and the checksum of the program.
#
#   sh install.sh                  install into /usr/local/bin
#   sh install.sh --dir ~/bin      install into another directory
#   sh install.sh --url URL        download from another directory, such as a mirror
set -eu
version='@VERSION@'
public_key='@PUBLIC_KEY@'
url='@URL@'
directory=/usr/local/bin

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

while [ $# -gt 0 ]; do
  case "$1" in
    --dir | --url)
      [ $# -gt 1 ] || fail "$1 needs a value"
      if [ "$1" = --dir ]; then directory=$2; else url=$2; fi
      shift 2
      ;;
    *) fail "unknown argument $1" ;;
  esac
done
[ -n "$url" ] || fail 'this script does not know where the release is; use --url URL'

case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) name=hyperkube-linux-x64 ;;
  Linux-aarch64) name=hyperkube-linux-arm64 ;;
  Darwin-x86_64) name=hyperkube-darwin-x64 ;;
  Darwin-arm64) name=hyperkube-darwin-arm64 ;;
  *) fail "there is no executable for $(uname -s) on $(uname -m)" ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

download() {
  if command -v curl >/dev/null; then
    curl --fail --silent --show-error --location --output "$work/$1" "$url/$1"
  elif command -v wget >/dev/null; then
    wget -q -O "$work/$1" "$url/$1"
  else
    fail 'curl or wget is required'
  fi || fail "cannot download $url/$1"
}

# Decodes bytes FROM to TO of base64 text.
decode() { printf '%s' "$1" | openssl base64 -d -A | tail -c "+$2" | head -c "$3"; }

# Verifies an Ed25519 signature: message, signature.
verify_ed25519() {
  openssl pkeyutl -verify -pubin -keyform DER -inkey "$work/key" -rawin -in "$1" -sigfile "$2" >/dev/null 2>&1
}

# Verifies the format of minisign with openssl, for machines that do not have minisign.
verify_with_openssl() {
  signature=$(sed -n 2p "$work/SHA256SUMS.minisig")
  comment=$(sed -n '3s/^trusted comment: //p' "$work/SHA256SUMS.minisig")
  [ "$(decode "$signature" 1 2)" = ED ] || return 1
  { printf '\060\052\060\005\006\003\053\145\160\003\041\000'; decode "$public_key" 11 32; } >"$work/key"
  decode "$signature" 11 64 >"$work/signature"
  openssl dgst -blake2b512 -binary "$work/SHA256SUMS" >"$work/hash"
  verify_ed25519 "$work/hash" "$work/signature" || return 1
  { cat "$work/signature"; printf '%s' "$comment"; } >"$work/comment"
  decode "$(sed -n 4p "$work/SHA256SUMS.minisig")" 1 64 >"$work/signature"
  verify_ed25519 "$work/comment" "$work/signature"
}

download SHA256SUMS
download SHA256SUMS.minisig
if command -v minisign >/dev/null; then
  minisign -V -q -P "$public_key" -m "$work/SHA256SUMS" >/dev/null 2>&1
elif command -v openssl >/dev/null; then
  verify_with_openssl
else
  fail 'minisign or openssl is required to verify the signature'
fi || fail "the signature of $url/SHA256SUMS is not valid; nothing was installed"
# Only the third line is signed.
case "$(sed -n 3p "$work/SHA256SUMS.minisig") " in
  "trusted comment: hyperkube $version "*) ;;
  *) fail "$url does not contain version $version; nothing was installed" ;;
esac

download "$name.gz"
expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\.gz\$/\1/p" "$work/SHA256SUMS")
if command -v sha256sum >/dev/null; then
  actual=$(sha256sum "$work/$name.gz" | cut -d' ' -f1)
else
  actual=$(shasum -a 256 "$work/$name.gz" | cut -d' ' -f1)
fi
[ -n "$expected" ] && [ "$actual" = "$expected" ] ||
  fail "the checksum of $url/$name.gz is wrong; nothing was installed"

gzip -dc "$work/$name.gz" >"$work/hyperkube"
chmod 755 "$work/hyperkube"
mkdir -p "$directory"
# Copies first, so that the program is replaced in one step.
cp "$work/hyperkube" "$directory/.hyperkube.new"
mv "$directory/.hyperkube.new" "$directory/hyperkube"
echo "installed hyperkube $version in $directory"
