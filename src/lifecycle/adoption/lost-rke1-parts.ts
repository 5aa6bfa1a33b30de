import { formatNames, joinNames } from '../../kit/text.ts'
import { type AdoptionItem, lost } from './adoption-report.ts'
import { nameHosts } from './host-settings.ts'
import { type AdoptionObservation, findComponent } from './observation.ts'

/** What to do about keys of RKE1's file that are lost. */
const hiddenSettingRemedies: Readonly<Record<string, string>> = {
  'services.kube-api.audit_log.configuration.policy':
    'save the policy as a file beside cluster.yml, and set spec.security.audit.policy',
}

/** Packages of Debian and of Red Hat that have programs for volumes. */
const mountPackages: Readonly<Record<string, string>> = {
  'mount.nfs': 'nfs-common or nfs-utils',
  'mount.cifs': 'cifs-utils',
  iscsiadm: 'open-iscsi or iscsi-initiator-utils',
  'mkfs.xfs': 'xfsprogs',
}

/** Flags of kube-proxy that RKE1 sets on every host, or that have a setting of their own in cluster.yml. */
const usualProxyFlags = new Set([
  'cluster-cidr',
  'healthz-bind-address',
  'hostname-override',
  'kubeconfig',
  'proxy-mode',
  'v',
])

/** Lists flags of kube-proxy that cluster.yml does not keep. With kubeadm its DaemonSet stays. */
function listLostProxyFlags(hosts: AdoptionObservation['hosts']): AdoptionItem[] {
  const flags = hosts.flatMap((host) => Object.keys(findComponent(host, 'kube-proxy')?.args ?? {}))
  const names = [...new Set(flags)].filter((flag) => !usualProxyFlags.has(flag))
  if (names.length === 0) return []
  return [
    lost(
      'ADOPT_LOSES_FLAGS',
      `flags of kube-proxy: ${names.map((name) => `--${name}`).join(', ')}`,
      'if the cluster needs them, set spec.components.kubeProxy.config in cluster.yml',
    ),
  ]
}

/** Lists what only RKE1 did for its cluster. Hosts show some of it; the rest is in its file. */
export function listLostRke1Parts(observation: AdoptionObservation): AdoptionItem[] {
  const { from, hosts, api, hiddenSettings = [] } = observation
  if (from !== 'rke1') return []
  const dockerSettings = [...new Set(hosts.flatMap(({ runtime }) => runtime.dockerSettings ?? []))]
  const names = nameHosts({ hosts })
  const missing = Map.groupBy(
    hosts.flatMap(({ missingPrograms = [] }, index) =>
      missingPrograms.map((program) => ({ program, host: names[index] ?? '' })),
    ),
    ({ program }) => program,
  )
  const isSnapshotting = hosts.some(({ dockerContainers }) =>
    dockerContainers.includes('etcd-rolling-snapshots'),
  )
  const isManaged = (api?.daemonSets ?? []).some(
    ({ namespace, name }) => namespace === 'cattle-system' && name === 'cattle-node-agent',
  )
  return [
    ...listLostProxyFlags(hosts),
    ...hiddenSettings.map((key) =>
      lost(
        'ADOPT_LOSES_SETTINGS',
        `the setting of RKE1 ${key}`,
        hiddenSettingRemedies[key] ?? 'check whether the cluster needs it; spec.components has flags instead',
      ),
    ),
    ...(dockerSettings.length === 0
      ? []
      : [
          lost(
            'ADOPT_LOSES_DOCKER_SETTINGS',
            `settings of Docker: ${joinNames(dockerSettings)}`,
            'before hyperkube up, set spec.proxy and spec.registries in cluster.yml, or nodes cannot pull images; containerd has no log drivers',
          ),
        ]),
    ...[...missing].map(([program, found]) =>
      lost(
        'ADOPT_LOSES_MOUNT_PROGRAMS',
        `${program}, which the image of RKE1's kubelet has; missing on ${formatNames(found.map(({ host }) => host))}`,
        `if volumes need it, install its package on these hosts before hyperkube up: ${mountPackages[program] ?? program}`,
      ),
    ),
    ...(isSnapshotting
      ? [
          lost(
            'ADOPT_LOSES_SNAPSHOTS',
            'recurring snapshots of etcd, also those in S3',
            'set spec.etcd.snapshots and spec.etcd.backup in cluster.yml',
          ),
        ]
      : []),
    ...(isManaged
      ? [
          lost(
            'ADOPT_LOSES_RANCHER',
            'the management of hosts by Rancher, whose agents reach them through Docker',
            'this was never tried; do not change the cluster in Rancher any more, and keep its agents from installing RKE1 again',
          ),
        ]
      : []),
  ]
}
