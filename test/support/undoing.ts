import { settleAll } from '../../src/kit/settle.ts'
import type { Operator } from './operator.ts'

/** What makes that there is something to do for `up`. */
export const undoings = ['fresh hosts', 'a changed cluster.yml', 'drift'] as const
export type Undoing = (typeof undoings)[number]

/** Leaves hosts without anything, with another wish than they meet, or changed by hand. */
export async function undo(operator: Operator, undoing: Undoing, turn: number): Promise<void> {
  if (undoing === 'fresh hosts') await operator.must(0, 'reset', '--yes')
  else if (undoing === 'drift') await drift(operator)
  else await change(operator, turn)
}

/** Of no consequence to anybody, and in every component. */
async function change(operator: Operator, turn: number): Promise<void> {
  const wishes = [
    [['etcd', 'args', 'max-snapshots'], 5],
    [['apiServer', 'args', 'min-request-timeout'], 1800],
    [['controllerManager', 'args', 'terminated-pod-gc-threshold'], 12_000],
    [['scheduler', 'args', 'kube-api-burst'], 100],
    [['kubelet', 'maxPods'], 110],
    [['kubeProxy', 'args', 'iptables-min-sync-period'], 1],
    [['flanneld', 'args', 'subnet-lease-renew-margin'], 60],
  ] as const
  await operator.edit((document) => {
    for (const [path, usual] of wishes) {
      const value = usual + (turn % 50)
      const unit = path[0] === 'kubeProxy' ? 's' : ''
      document.setIn(['spec', 'components', ...path], path[1] === 'args' ? `${value}${unit}` : value)
    }
  })
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

async function drift({ hosts }: Operator): Promise<void> {
  await settleAll(
    hosts.map(async (host) =>
      host.script(host.name.startsWith('cp') ? everywhere + onControlPlanes : everywhere),
    ),
  )
}
