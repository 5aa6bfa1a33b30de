import { formatHostPort } from '../../kit/host-port.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { usesKubeProxy } from '../../spec/network.ts'
import { listEndingUnits, listKeptClients } from './component-fate.ts'
import { type EjectInput, formatImage, isControlPlanePlan, readVersion } from './eject-context.ts'
import { kubeProxyLabel } from './kube-proxy.ts'
import { staticPodComponents } from './layout.ts'
import { kubeletCertificate, kubeletCertificateLink } from './node-files.ts'
import { findPlannedComponent } from './service-args.ts'

/** Renders the script that moves one host to kubeadm, and back with --undo. Both directions can be repeated. */
export function renderHostScript({ cluster, plans }: EjectInput, plan: NodePlan): string {
  const controlPlane = isControlPlanePlan(plan)
  // The DaemonSet has one image. Workers of another version may have another kubelet.
  const first = plans.find(isControlPlanePlan) ?? plan
  const images = [
    ...(controlPlane ? staticPodComponents.map((component) => formatImage(plan, component)) : []),
    ...(usesKubeProxy(cluster.spec.network) ? [formatImage(first, 'kube-proxy')] : []),
  ]
  const health = controlPlane
    ? `https://${formatHostPort(plan.address, cluster.spec.api.port)}/readyz`
    : 'http://127.0.0.1:10248/healthz'
  const settings = [
    `host=${plan.host}`,
    `node=${plan.node?.name ?? plan.host}`,
    `label=${usesKubeProxy(cluster.spec.network) ? kubeProxyLabel.name : ''}`,
    `label_value=${kubeProxyLabel.value}`,
    `version=${readVersion(plan, 'kubelet')}`,
    `ending='${listEndingUnits(plan).join(' ')}'`,
    `kept='${listKeptClients(plan).join(' ')}'`,
    `pods='${controlPlane ? staticPodComponents.join(' ') : ''}'`,
    `images='${images.join(' ')}'`,
    `health=${health}`,
    `proxy_health=${findHealthUrl(first, 'kube-proxy')}`,
    `certificate=${kubeletCertificate}`,
    `link=${kubeletCertificateLink}`,
  ]
  return `${head(plan.host)}\n${settings.join('\n')}\n${body}`
}

/** Returns the address at which a component reports its health, or an empty text. */
function findHealthUrl(plan: NodePlan, component: string): string {
  const checks = findPlannedComponent(plan, component)?.probes.map(({ check }) => check) ?? []
  return checks.find((check) => check.kind === 'http')?.url ?? ''
}

const head = (host: string): string => `#!/bin/sh
# Moves the host ${host} from hyperkube to kubeadm.
#   ./eject.sh          stop hyperkube's services, start the kubelet with static pods
#   ./eject.sh --undo   return to hyperkube's services
# Needs root, systemd, curl, and kubelet and kubectl of the same version in PATH.
set -eu`

const body = String.raw`
here=$(cd "$(dirname "$0")" && pwd)
backup=/var/lib/hyperkube-eject
unit=/etc/systemd/system/kubelet.service
hidden=$unit.d/10-kubeadm.conf
packaged=/usr/lib/systemd/system/kubelet.service
manifests=/etc/kubernetes/manifests
PATH=$PATH:/usr/local/bin:/usr/bin:/usr/sbin:$(printf '%s:' /opt/hyperkube/crictl-*)

say() { echo "$host: $*" >&2; }
fail() { say "$*"; exit 1; }

# Runs a command once a second until it succeeds, at most $1 times.
wait_for() {
  left=$1
  what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    left=$((left - 1))
    [ "$left" -gt 0 ] || fail "gave up waiting for $what"
    sleep 1
  done
}

# Lists processes of static pods. Services of hyperkube have no files in /etc/kubernetes.
pods_ended() {
  for pod in $pods; do
    ! pgrep -f "^$pod .*/etc/kubernetes/" || return 1
  done
}

check() {
  [ "$(id -u)" = 0 ] || fail 'run this script as root'
  for program in curl kubectl; do command -v $program >/dev/null || fail "$program is missing"; done
}

check_kubelet() {
  found=$(kubelet --version 2>/dev/null) || fail "no kubelet in PATH: install kubeadm and kubelet $version"
  [ "$found" = "Kubernetes $version" ] || fail "the kubelet in PATH is $found, but the host runs $version"
}

# Pulls images while the services still run, so that the outage is short.
pull_images() {
  for image in $images; do
    crictl inspecti -q "$image" >/dev/null 2>&1 || { say "pull $image"; crictl pull "$image" >/dev/null; }
  done
}

# Names manifests of the previous tool. hyperkube's kubelet ignores them, so their pods do not run now.
list_other_pods() {
  for manifest in "$manifests"/*; do
    [ -f "$manifest" ] || continue
    name=$(basename "$manifest" .yaml)
    case " $pods " in *" $name "*) continue ;; esac
    say "the kubelet will also run the static pod in $manifest"
  done
}

# Sets or removes a label of this node, with the credentials of its kubelet.
set_label() { kubectl --kubeconfig=/etc/kubernetes/kubelet.conf label node "$node" --overwrite "$1"; }

# A new leader begins only after the lease of the stopped one has expired. Before, no pod of a DaemonSet or Job starts.
controllers_lead() {
  renewed=$(kubectl --kubeconfig=/etc/kubernetes/admin.conf -n kube-system get lease kube-controller-manager \
    --ignore-not-found -o 'jsonpath={.spec.renewTime}') || return 1
  [ -z "$renewed" ] || expr "$renewed" \> "$started"
}
proxy_ended() { ! pgrep -f '^/usr/local/bin/kube-proxy --config=/var/lib/kube-proxy/'; }

list_files() { (cd "$here/files" && find . -type f | sed 's/^\.//'); }

# Keeps what a new file replaces. A second run keeps nothing again.
keep() {
  [ ! -e "$backup/files$1" ] || return 0
  ! grep -qxF "$1" "$backup/created" || return 0
  if [ -e "$1" ]; then
    mkdir -p "$backup/files$(dirname "$1")"
    cp -a "$1" "$backup/files$1"
  else
    echo "$1" >>"$backup/created"
  fi
}

eject() {
  check_kubelet
  list_other_pods
  pull_images
  mkdir -p -m 700 "$backup/files"
  touch "$backup/created"
  for file in $(list_files) "$unit"; do keep "$file"; done
  for name in $ending; do
    # After the first run, kubelet.service belongs to kubeadm.
    [ "$name" != kubelet ] || [ ! -e "$backup/moved" ] || continue
    say "stop $name"
    systemctl disable -q --now "$name.service"
  done
  for file in $(list_files); do install -D -m 600 "$here/files$file" "$file"; done
  # A host that was adopted still has the link of kubeadm, to a certificate that has expired or will not be renewed.
  # The kubelet changes the link when it renews its certificate; a later run keeps that.
  if [ ! -e "$backup/moved" ] || [ ! -e "$link" ]; then ln -sfn "$certificate" "$link"; fi
  # An adoption hides the drop-in file of the package.
  if [ "$(readlink "$hidden")" = /dev/null ]; then
    touch "$backup/hidden"
    rm -f "$hidden"
  fi
  # Without the drop-in file of kubeadm, the unit of the package starts the kubelet without its flags.
  if [ -e "$packaged" ] && [ -e "$packaged.d/10-kubeadm.conf" ]; then
    rm -f "$unit"
  else
    install -m 644 "$here/kubelet.service" "$unit"
  fi
  touch "$backup/moved"
  started=$(date -u +%Y-%m-%dT%H:%M:%S)
  systemctl daemon-reload
  say 'start the kubelet of kubeadm'
  systemctl enable -q kubelet.service
  systemctl restart kubelet.service
  wait_for 300 "$health" curl -fsk "$health"
  for name in $kept; do systemctl restart --no-block "$name.service"; done
  # The pod of kube-proxy starts now. Two kube-proxies would disturb each other.
  [ -z "$label" ] || wait_for 120 'the label of the node' set_label "$label=$label_value"
  if [ -n "$pods" ]; then
    say 'wait until kube-controller-manager leads'
    wait_for 120 'a leader of kube-controller-manager' controllers_lead
  fi
  if [ -n "$label" ]; then
    say 'wait until the pod of kube-proxy works'
    wait_for 180 "kube-proxy; find the cause: kubectl -n kube-system describe pods -l k8s-app=kube-proxy" curl -fs "$proxy_health"
  fi
  say 'runs with kubeadm'
}

undo() {
  [ -e "$backup/created" ] || fail 'this host was not ejected'
  if [ -e "$backup/moved" ]; then
    if [ -n "$label" ] && set_label "$label-" >/dev/null; then
      wait_for 120 'the end of the pod of kube-proxy' proxy_ended
    fi
    for pod in $pods; do rm -f "$manifests/$pod.yaml"; done
    # Only a kubelet ends static pods.
    pods_ended >/dev/null || systemctl start kubelet.service
    say 'wait until the static pods have ended'
    wait_for 180 'the end of static pods' pods_ended
    systemctl disable -q --now kubelet.service
  fi
  while read -r file; do rm -f "$file"; done <"$backup/created"
  rm -f /var/lib/kubelet/pki/kubelet-client-*
  (cd "$backup/files" && find . -type f) | while read -r file; do cp -a "$backup/files/$file" "/$file"; done
  if [ -e "$backup/hidden" ]; then ln -sfn /dev/null "$hidden"; fi
  # The static pod ran as root.
  [ ! -d /var/lib/etcd/data ] || chown -R etcd:etcd /var/lib/etcd/data
  systemctl daemon-reload
  reversed=
  for name in $ending; do reversed="$name $reversed"; done
  for name in $reversed; do
    say "start $name"
    systemctl enable -q "$name.service"
    systemctl start --no-block "$name.service"
  done
  wait_for 300 "$health" curl -fsk "$health"
  for name in $kept; do systemctl restart --no-block "$name.service"; done
  rm -rf "$backup"
  say 'runs with hyperkube'
}

check
case "$*" in
'') eject ;;
--undo) undo ;;
*) fail 'usage: eject.sh [--undo]' ;;
esac
`
