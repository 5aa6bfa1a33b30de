import { settleAll } from '../../src/kit/concurrency.ts'
import type { Operator } from './operator.ts'

/** Why `up` has work to do. */
export type WorkKind = 'fresh hosts' | 'a changed cluster.yml' | 'drift' | 'an older version'

/**
 * Prepares work for `up`: empties the hosts, changes cluster.yml, causes drift, or installs an older version.
 * `turn` makes each cluster.yml change different.
 */
export async function createWork(operator: Operator, work: WorkKind, turn: number): Promise<void> {
  if (work === 'fresh hosts') await operator.must(0, 'reset', '--yes')
  else if (work === 'an older version') await installOlderVersion(operator)
  else if (work === 'drift') await causeDrift(operator)
  else await changeClusterYaml(operator, turn)
}

/** Changes one harmless setting of every component. */
async function changeClusterYaml({ edit }: Operator, turn: number): Promise<void> {
  const changes = [
    [['etcd', 'args', 'max-snapshots'], String(5 + turn)],
    [['apiServer', 'args', 'min-request-timeout'], String(1800 + turn)],
    [['controllerManager', 'args', 'terminated-pod-gc-threshold'], String(12_500 + turn)],
    [['scheduler', 'args', 'kube-api-burst'], String(100 + turn)],
    [['kubelet', 'maxPods'], 110 + turn],
    [['kubeProxy', 'args', 'iptables-min-sync-period'], `${1 + turn}s`],
    [['flanneld', 'args', 'subnet-lease-renew-margin'], String(60 + turn)],
  ] as const
  await edit((document) => {
    for (const [path, value] of changes) document.setIn(['spec', 'components', ...path], value)
  })
}

/** Installs the previous minor version, and then sets the next version in cluster.yml. */
async function installOlderVersion(operator: Operator): Promise<void> {
  await operator.must(0, 'reset', '--yes')
  await setVersion(operator, '1.36.4')
  await operator.must(0, 'up', '--yes')
  await setVersion(operator, '1.37.1')
}

async function setVersion(operator: Operator, kubernetes: string): Promise<void> {
  await operator.edit((document) => document.setIn(['spec', 'kubernetes'], kubernetes))
  await operator.must(0, 'lock')
}

const driftScript = `
rm /etc/hyperkube/kubelet/kubeconfig
rm -r /opt/hyperkube/cni-plugins-*
echo '# by hand' >> /etc/systemd/system/kube-proxy.service
echo hello > /etc/hyperkube/orphan
systemctl stop flanneld
`
const controlPlaneDriftScript = `
echo '# by hand' >> /etc/systemd/system/etcd.service
echo '# by hand' >> /etc/hyperkube/kube-scheduler/kubeconfig
echo '# by hand' >> /etc/systemd/system/kube-apiserver.service
rm /etc/hyperkube/kube-controller-manager/kubeconfig
chmod 644 /etc/hyperkube/etcd/bootstrap.env
`

async function causeDrift(operator: Operator): Promise<void> {
  // Pauses healing, because agents would repair most of the drift before `up` runs.
  await operator.must(0, 'heal', 'pause', '--all', '--for', '1h', '--yes')
  await settleAll(
    operator.hosts.map(async (host) =>
      host.script(host.name.startsWith('cp') ? driftScript + controlPlaneDriftScript : driftScript),
    ),
  )
}
