import type { Host } from '../hosts/host.ts'
import { renderContainerdConfig, flannelConfig } from './configs.ts'
import { conflistScript, conflistUnits, containerdUnit, flanneldUnit, kubeRouterUnit } from './units.ts'

/** Contents of files by their path on the host, without the leading slash. */
export type Files = Readonly<Record<string, string>>

/**
 * Renders the files that containerd and pods need on a host. With `mirror`, containerd pulls images from that
 * mirror.
 */
export function runtimeFiles(pause: string, mirror?: string): Files {
  return {
    'etc/containerd/config.toml': `${renderContainerdConfig(pause)}${mirror === undefined ? '' : registryConfig}`,
    'etc/systemd/system/containerd.service': containerdUnit(),
    'etc/sysctl.d/90-kubernetes.conf': 'net.ipv4.ip_forward = 1\n',
    ...(mirror === undefined ? {} : mirrorFiles(mirror)),
  }
}

const mirrorDirectory = 'etc/containerd/certs.d'

const registryConfig = `
[plugins.'io.containerd.cri.v1.images'.registry]
  config_path = '/${mirrorDirectory}'
`

function mirrorFiles(mirror: string): Files {
  const text = `[host."${mirror}"]\n  capabilities = ["pull", "resolve"]\n`
  const registries = ['registry.k8s.io', 'docker.io']
  return Object.fromEntries(registries.map((host) => [`${mirrorDirectory}/${host}/hosts.toml`, text]))
}

/** Renders the files of flannel and kube-router, without their kubeconfigs. */
export function networkFiles(host: Host): Files {
  const units = Object.entries(conflistUnits).map(([name, text]) => [`etc/systemd/system/${name}`, text])
  return {
    'etc/flannel/net-conf.json': flannelConfig,
    'etc/systemd/system/flanneld.service': flanneldUnit(host),
    'etc/systemd/system/kube-router.service': kubeRouterUnit(host),
    'usr/local/sbin/cni-conflist': conflistScript,
    ...Object.fromEntries(units),
  }
}
