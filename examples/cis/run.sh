#!/bin/sh
# Checks this host against the CIS benchmark: the checks of kube-bench first, then those that hyperkube adapts.
#
# usage: run.sh CFG TARGETS [FLAG...]
#   CFG      folder cfg of the release of kube-bench
#   TARGETS  on a control plane master,etcd,controlplane,node; on a worker node; with a kubeconfig policies
#   FLAG     passed to kube-bench, such as --json
set -eu
cfg=$1 targets=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
bench=${KUBE_BENCH:-kube-bench}

adapted=$(sed -n 's/^ *- id: \([0-9]*\.[0-9]*\.[0-9]*\)$/\1/p' "$here"/hyperkube-1.12/*.yaml | paste -s -d , -)
"$bench" run --config "$here/config.yaml" --config-dir "$cfg" --benchmark cis-1.12 --targets "$targets" --skip "$adapted" "$@"

own=
for target in $(echo "$targets" | tr , ' '); do
  [ ! -e "$here/hyperkube-1.12/$target.yaml" ] || own=$own${own:+,}$target
done
[ -z "$own" ] || "$bench" run --config "$here/config.yaml" --config-dir "$here" --benchmark hyperkube-1.12 --targets "$own" "$@"
