import { settleAll } from '../../src/kit/settle-all.ts'
import type { Operator } from './operator.ts'

/** What makes that there is something to do for `up`. */
export type Undoing = 'fresh hosts' | 'a changed cluster.yml' | 'drift' | 'an older version'

/** Leaves hosts without anything, with another wish than they meet, or changed by hand. Each turn wishes something new. */
export async function undo(operator: Operator, undoing: Undoing, turn: number): Promise<void> {
  if (undoing === 'fresh hosts') await operator.must(0, 'reset', '--yes')
  else if (undoing === 'an older version') await older(operator)
  else if (undoing === 'drift') await drift(operator)
  else await change(operator, turn)
}

/** In every component, and of no consequence to anybody. */
async function change({ edit }: Operator, turn: number): Promise<void> {
  const wishes = [
    [['etcd', 'args', 'max-snapshots'], String(5 + turn)],
    [['apiServer', 'args', 'min-request-timeout'], String(1800 + turn)],
    [['controllerManager', 'args', 'terminated-pod-gc-threshold'], String(12_500 + turn)],
    [['scheduler', 'args', 'kube-api-burst'], String(100 + turn)],
    [['kubelet', 'maxPods'], 110 + turn],
    [['kubeProxy', 'args', 'iptables-min-sync-period'], `${1 + turn}s`],
    [['flanneld', 'args', 'subnet-lease-renew-margin'], String(60 + turn)],
  ] as const
  await edit((document) => {
    for (const [path, value] of wishes) document.setIn(['spec', 'components', ...path], value)
  })
}

/** A cluster of the minor version before, and the wish for the next one. */
async function older(operator: Operator): Promise<void> {
  await operator.must(0, 'reset', '--yes')
  await become(operator, '1.36.4')
  await operator.must(0, 'up', '--yes')
  await become(operator, '1.37.1')
}

async function become(operator: Operator, kubernetes: string): Promise<void> {
  await operator.edit((document) => document.setIn(['spec', 'kubernetes'], kubernetes))
  await operator.must(0, 'lock')
}

const everywhere = `
rm /etc/hyperkube/kubelet/kubeconfig
rm -r /opt/hyperkube/cni-plugins-*
echo '# by hand' >> /etc/systemd/system/kube-proxy.service
echo hello > /etc/hyperkube/stray
systemctl stop flanneld
`
const onControlPlanes = `
echo '# by hand' >> /etc/systemd/system/etcd.service
echo '# by hand' >> /etc/hyperkube/kube-scheduler/kubeconfig
echo '# by hand' >> /etc/systemd/system/kube-apiserver.service
rm /etc/hyperkube/kube-controller-manager/kubeconfig
chmod 644 /etc/hyperkube/etcd/birth.env
`

async function drift(operator: Operator): Promise<void> {
  // Agents would mend most of it before anybody asks.
  await operator.must(0, 'heal', 'pause', '--all', '--for', '1h', '--yes')
  await settleAll(
    operator.hosts.map(async (host) =>
      host.script(host.name.startsWith('cp') ? everywhere + onControlPlanes : everywhere),
    ),
  )
}
