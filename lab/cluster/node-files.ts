import type { Host } from '../hosts/host.ts'
import { containerdConfig, flannelConfig } from './configs.ts'
import { conflistScript, conflistUnits, containerdUnit, flanneldUnit } from './units.ts'

/** Path on the host, without the leading slash, to contents. */
export type Files = Readonly<Record<string, string>>

export function runtimeFiles(pause: string): Files {
  return {
    'etc/containerd/config.toml': containerdConfig(pause),
    'etc/systemd/system/containerd.service': containerdUnit(),
    'etc/sysctl.d/90-kubernetes.conf': 'net.ipv4.ip_forward = 1\n',
  }
}

export function flannelFiles(host: Host): Files {
  const units = Object.entries(conflistUnits).map(([name, text]) => [`etc/systemd/system/${name}`, text])
  return {
    'etc/flannel/net-conf.json': flannelConfig,
    'etc/systemd/system/flanneld.service': flanneldUnit(host),
    'usr/local/sbin/cni-conflist': conflistScript,
    ...Object.fromEntries(units),
  }
}
