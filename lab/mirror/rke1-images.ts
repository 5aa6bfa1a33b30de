import { calicoVersion, rke1Versions } from '../components/parts.ts'
import { accounts, defineImage, type Image, iptablesLinks } from './image.ts'
import { flannelPluginScript, installCniScript, rke1Scripts, toolsDirectory } from './rke1-scripts.ts'

/**
 * Names of RKE1's images, without the registry, by their name in its cluster.yml. All are on docker.io, because
 * Docker uses mirrors only for that registry.
 */
export const rke1ImageNames = {
  kubernetes: `rancher/hyperkube:${rke1Versions.kubernetes}-rancher1`,
  tools: 'rancher/rke-tools:v0.1.114',
  etcd: `rancher/mirrored-coreos-etcd:${rke1Versions.etcd}`,
  pause: `rancher/mirrored-pause:${rke1Versions.pause.slice(1)}`,
  coredns: `rancher/mirrored-coredns-coredns:${rke1Versions.coredns.slice(1)}`,
  flannel: `rancher/mirrored-flannel-flannel:${rke1Versions.flannel}`,
  flannelCni: 'rancher/flannel-cni:v1.4.1-rancher1',
} as const

/** Names of the images of canal. RKE1 uses copies of Calico's images. */
export const canalImageNames = {
  node: `rancher/mirrored-calico-node:${calicoVersion}`,
  cni: `rancher/calico-cni:${calicoVersion}-rancher1`,
  controllers: `rancher/mirrored-calico-kube-controllers:${calicoVersion}`,
} as const

/**
 * Lists the images of RKE1. Upstream builds them from Alpine or SUSE; the lab uses busybox, Debian's packages of
 * the same programs, programs compiled from source, and scripts of its own.
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
      debian: hyperkubePackages,
      links: iptablesLinks,
    }),
    define('tools', toolsPrograms, {
      entrypoint: [],
      command: ['/bin/bash'],
      busybox: true,
      debian: ['bash', 'libnginx-mod-stream', 'nginx'],
      files: {
        'etc/passwd': `${accounts['etc/passwd']}nginx:x:101:101:nginx:/:/bin/false\n`,
        'etc/group': `${accounts['etc/group']}tty:x:5:\nnginx:x:101:\n`,
      },
      scripts: rke1Scripts,
      links: { 'bin/sh': 'bash' },
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
    define('flannelCni', inDirectory('opt/cni/bin', ['bridge', 'host-local', 'loopback', 'portmap']), {
      entrypoint: [],
      command: ['/install-cni.sh'],
      busybox: true,
      files: accounts,
      scripts: { 'install-cni.sh': installCniScript, 'opt/cni/bin/flannel': flannelPluginScript },
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

const hyperkubePackages = [
  ...[
    'bash',
    'conntrack',
    'ebtables',
    'ethtool',
    'iproute2',
    'ipset',
    'iptables',
    'kmod',
    'mount',
    'nftables',
  ],
  ...['socat', 'util-linux'],
]

const toolsPrograms = {
  ...inDirectory('usr/local/bin', ['etcdctl', 'kubectl']),
  'cri-dockerd': `${toolsDirectory}/bin/cri-dockerd`,
}

function inDirectory(directory: string, programs: readonly string[]): Record<string, string> {
  return Object.fromEntries(programs.map((name) => [name, `${directory}/${name}`]))
}
