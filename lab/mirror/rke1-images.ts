import { rke1Scripts, rke1Versions } from '../components/parts.ts'
import { accounts, defineImage, type Image, iptablesLinks } from './image.ts'

/** Directory of rke-tools that containers of RKE1 mount from the container service-sidekick. */
const toolsDirectory = 'opt/rke-tools'

const nginxTemplate = 'etc/confd/templates/nginx.tmpl'

/**
 * Names of RKE1's images, without the registry, by their name in its cluster.yml. All are on docker.io, because
 * Docker uses mirrors only for that registry.
 */
export const rke1ImageNames = {
  kubernetes: `rancher/hyperkube:${rke1Versions.kubernetes}-rancher1`,
  tools: `rancher/rke-tools:${rke1Versions.tools}`,
  etcd: `rancher/mirrored-coreos-etcd:${rke1Versions.etcd}`,
  pause: `rancher/mirrored-pause:${rke1Versions.pause.slice(1)}`,
  coredns: `rancher/mirrored-coredns-coredns:${rke1Versions.coredns.slice(1)}`,
  flannel: `rancher/mirrored-flannel-flannel:${rke1Versions.flannel}`,
  flannelCni: `rancher/flannel-cni:${rke1Versions.flannelPlugin.replace('flannel', 'rancher')}`,
} as const

/**
 * Lists the images of RKE1. Upstream builds them from Alpine or SUSE; the lab uses busybox, Debian's packages of
 * the same programs, and programs compiled from source.
 */
export function listRke1Images(): readonly Image[] {
  const define = (
    name: keyof typeof rke1ImageNames,
    programs: Image['programs'],
    extra: Parameters<typeof defineImage>[2] = {},
  ): Image => defineImage(`docker.io/${rke1ImageNames[name]}`, programs, extra)
  return [
    define('kubernetes', inDirectory('usr/local/bin', hyperkubePrograms), {
      entrypoint: [],
      busybox: true,
      files: accounts,
      debian: ['bash', 'conntrack', 'docker.io', 'ebtables', 'ethtool', 'iproute2', ...hyperkubePackages],
      // Only the client of Docker is needed.
      debianExclude: ['usr/sbin/dockerd', 'usr/bin/containerd*', 'usr/bin/ctr', 'usr/sbin/runc'],
      links: iptablesLinks,
    }),
    define('tools', buildToolsPrograms(), {
      entrypoint: [],
      command: ['/bin/bash'],
      busybox: true,
      debian: ['bash', 'libnginx-mod-stream', 'nginx'],
      files: {
        'etc/passwd': `${accounts['etc/passwd']}nginx:x:101:101:nginx:/:/bin/false\n`,
        'etc/group': `${accounts['etc/group']}tty:x:5:\nnginx:x:101:\n`,
      },
      scripts: { 'usr/bin/confd': confdScript },
      links: {
        'bin/sh': 'bash',
        // The scripts of rke-tools run in the image with Kubernetes, which has the client of Docker.
        [`${toolsDirectory}/bin/docker`]: '/usr/bin/docker',
      },
      volumes: [`/${toolsDirectory}`],
    }),
    define('etcd', inDirectory('usr/local/bin', ['etcd', 'etcdctl']), { entrypoint: [] }),
    define('pause', { pause: 'pause' }),
    define('coredns', { coredns: 'coredns' }),
    define(
      'flannel',
      { flanneld: 'opt/bin/flanneld' },
      { debian: ['iptables', 'nftables'], links: iptablesLinks },
    ),
    define('flannelCni', inDirectory('opt/cni/bin', cniPrograms), {
      entrypoint: [],
      command: ['/install-cni.sh'],
      busybox: true,
      files: accounts,
      scripts: { 'install-cni.sh': installCniScript },
    }),
  ]
}

const hyperkubePrograms = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
  'kubectl',
]

const hyperkubePackages = ['ipset', 'iptables', 'kmod', 'mount', 'nftables', 'socat', 'util-linux']

const cniPrograms = ['bridge', 'flannel', 'host-local', 'loopback', 'portmap']

function inDirectory(directory: string, programs: readonly string[]): Record<string, string> {
  return Object.fromEntries(programs.map((name) => [name, `${directory}/${name}`]))
}

/** Scripts for Kubernetes are in the mounted directory, scripts of the image itself in PATH. */
function buildToolsPrograms(): Record<string, string> {
  const isMounted = (name: string): boolean => name.endsWith('.sh')
  return {
    ...inDirectory('usr/local/bin', ['etcdctl', 'kubectl']),
    'nginx.tmpl': nginxTemplate,
    'cri-dockerd': `${toolsDirectory}/bin/cri-dockerd`,
    'rke-etcd-backup': `${toolsDirectory}/rke-etcd-backup`,
    ...inDirectory(toolsDirectory, rke1Scripts.filter(isMounted)),
    ...inDirectory(
      'usr/bin',
      rke1Scripts.filter((name) => !isMounted(name)),
    ),
  }
}

/**
 * Replaces confd, which upstream's image uses only to write the configuration of nginx. Expands the loop over
 * control planes in upstream's template. Debian's nginx has streams in a module, upstream's has them built in.
 */
const confdScript = `#!/bin/sh
set -eu
{
  echo 'load_module /usr/lib/nginx/modules/ngx_stream_module.so;'
  awk -v hosts="$CP_HOSTS" '
    /[{][{] *end *[}][}]/ {
      count = split(hosts, all, ",")
      for (i = 1; i <= count; i++) { line = body; gsub(/[{][{] *[.] *[}][}]/, all[i], line); print line }
      inside = 0
      next
    }
    /range/ { inside = 1; next }
    inside { body = body $0; next }
    { print }
  ' /${nginxTemplate}
} > /etc/nginx/nginx.conf
`

/** Installs the plugins and the configuration on the host, then waits, as upstream's script does. */
const installCniScript = `#!/bin/sh
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
