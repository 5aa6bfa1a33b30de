/** Directory of rke-tools that containers of RKE1 mount from the container service-sidekick. */
export const toolsDirectory = 'opt/rke-tools'

/**
 * Scripts of the lab with the same effect as those in the image rke-tools, whose sources are not in the Go module
 * proxy. Only what clusters of the lab need is here: no cloud providers, SELinux or private registries.
 */
export const rke1Scripts = {
  /** Starts a component. A kubelet needs the devices of the host, and cri-dockerd beside it. */
  [`${toolsDirectory}/entrypoint.sh`]: `#!/bin/bash
set -eu
if [ "$1" != kubelet ]; then exec "$@"; fi
mount --rbind /host/dev /dev
if [ -f /host/usr/lib/os-release ]; then ln -sf /host/usr/lib/os-release /etc/os-release; fi
pause= endpoint=
for argument in "$@"; do
  case "$argument" in
    --pod-infra-container-image=*) pause=$argument ;;
    --container-runtime-endpoint=*) endpoint=$argument ;;
  esac
done
driver=$(printf 'GET /info HTTP/1.0\\r\\n\\r\\n' | socat -t 10 - UNIX-CONNECT:/var/run/docker.sock |
  grep -o '"CgroupDriver":"[a-z]*"' | cut -d '"' -f 4)
rm -f "\${endpoint#*unix://}"
/${toolsDirectory}/bin/cri-dockerd --network-plugin=cni --cni-conf-dir=/etc/cni/net.d --cni-bin-dir=/opt/cni/bin \\
  --streaming-bind-addr=127.0.0.1:10010 "$pause" "$endpoint" &
until [ -S "\${endpoint#*unix://}" ]; do sleep 0.2; done
"$@" "--cgroup-driver=$driver" &
wait -n
`,
  /** Writes certificates, keys and kubeconfigs from environment variables. */
  'usr/bin/cert-deployer': `#!/bin/bash
set -eu
directory=\${CRTS_DEPLOY_PATH:-/etc/kubernetes/ssl}
mkdir -p "$directory"
for variable in $(compgen -e); do
  case "$variable" in
    KUBE_*) suffix=pem ;;
    KUBECFG_*) suffix=yaml ;;
    *) continue ;;
  esac
  file=$directory/$(echo "$variable" | tr A-Z_ a-z-).$suffix
  if [ -f "$file" ] && [ "\${FORCE_DEPLOY:-}" != true ]; then continue; fi
  (umask 077; printf '%s\\n' "\${!variable}" > "$file")
done
`,
  /** Forwards the port of the API to the control planes. Debian's nginx has streams in a module. */
  'usr/bin/nginx-proxy': `#!/bin/bash
set -eu
mkdir -p /run /var/log/nginx
{
  echo 'load_module /usr/lib/nginx/modules/ngx_stream_module.so;'
  echo 'user nginx; error_log stderr notice; events { worker_connections 1024; }'
  echo 'stream { upstream kube_apiserver {'
  for host in \${CP_HOSTS//,/ }; do echo "server $host:6443;"; done
  echo '} server { listen 6443; proxy_pass kube_apiserver; proxy_timeout 10m; proxy_connect_timeout 1s; } }'
} > /etc/nginx/nginx.conf
exec nginx -g 'daemon off;'
`,
} as const

/** Installs the plugins and the configuration on the host, then waits, as the script of flannel-cni does. */
export const installCniScript = `#!/bin/sh
set -eu
for plugin in /opt/cni/bin/*; do
  cp "$plugin" "/host/opt/cni/bin/.\${plugin##*/}.new"
  mv "/host/opt/cni/bin/.\${plugin##*/}.new" "/host/opt/cni/bin/\${plugin##*/}"
done
name=\${CNI_CONF_NAME:-10-flannel.conflist}
printf '%s\\n' "$CNI_NETWORK_CONFIG" > "/host/etc/cni/net.d/.$name.new"
mv "/host/etc/cni/net.d/.$name.new" "/host/etc/cni/net.d/$name"
while true; do sleep 3600; done
`

/**
 * Replaces flannel's CNI plugin, whose sources are not in the Go module proxy. Like the plugin, it gives the
 * subnet of the host to the plugin bridge.
 */
export const flannelPluginScript = `#!/bin/sh
set -eu
if [ "$CNI_COMMAND" = VERSION ]; then
  echo '{"cniVersion":"1.0.0","supportedVersions":["0.3.1","0.4.0","1.0.0"]}'
  exit 0
fi
configuration=$(cat | tr -d '\\n')
read_field() { echo "$configuration" | sed -n "s/.*\\"$1\\": *\\"\\([^\\"]*\\)\\".*/\\1/p"; }
if [ ! -f /run/flannel/subnet.env ]; then
  echo '{"code":11,"msg":"/run/flannel/subnet.env does not exist"}'
  exit 1
fi
. /run/flannel/subnet.env
exec "\${CNI_PATH%%:*}/bridge" <<END
{
  "cniVersion": "$(read_field cniVersion)",
  "name": "$(read_field name)",
  "type": "bridge",
  "bridge": "cni0",
  "mtu": $FLANNEL_MTU,
  "ipMasq": false,
  "isGateway": true,
  "isDefaultGateway": true,
  "forceAddress": true,
  "hairpinMode": true,
  "ipam": {
    "type": "host-local",
    "ranges": [[{ "subnet": "\${FLANNEL_SUBNET%.*}.0/\${FLANNEL_SUBNET#*/}" }]],
    "routes": [{ "dst": "$FLANNEL_NETWORK" }]
  }
}
END
`
