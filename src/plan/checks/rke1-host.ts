import type { Finding } from '../../contract/finding.ts'
import { usesKubeProxy } from '../../spec/network.ts'
import { isEtcdMember, isNode } from '../context.ts'
import { canReturnToRke1 } from '../linux/predecessors.ts'
import { type CheckInput, type ClusterCheck, hostError, type LinuxCheck } from './check.ts'

/**
 * True if hosts of the cluster can still return to RKE1. The checks of this file refuse to move such hosts in
 * situations that were never tried.
 */
function isFromRke1({ identity: { adoption } }: Pick<CheckInput, 'identity'>): boolean {
  return adoption?.from === 'rke1' && !adoption.committed
}

function clusterError(code: string, message: string, details: Pick<Finding, 'hint' | 'path'>): Finding {
  return { code, severity: 'error', message, ...details }
}

/**
 * Finds a flannel of hyperkube, which would run beside the pods of RKE1's network, and a kube-proxy that would
 * stay in Docker and lose its way to the API.
 */
export const checkRke1Network: ClusterCheck = (input) => {
  if (!isFromRke1(input)) return []
  const { network } = input.cluster.spec
  return [
    ...(network.plugin === 'none'
      ? []
      : [
          clusterError(
            'ADOPT_RKE1_NETWORK',
            `${network.plugin} of hyperkube would run beside the network pods of RKE1 on each host`,
            {
              hint: 'set spec.network.plugin: none, so that the network pods of RKE1 stay',
              path: 'spec.network.plugin',
            },
          ),
        ]),
    ...(usesKubeProxy(network)
      ? []
      : [
          clusterError(
            'ADOPT_RKE1_NETWORK',
            'the kube-proxy of RKE1 would stay, but it reaches the API through a container that stops',
            { hint: 'remove spec.network.kubeProxy', path: 'spec.network.kubeProxy' },
          ),
        ]),
  ]
}

/** Finds etcd hosts that are no nodes of hyperkube. RKE1 runs a kubelet there, which nothing would replace. */
export const checkRke1EtcdHost: LinuxCheck = (subject) => {
  if (!isEtcdMember(subject) || isNode(subject) || !canReturnToRke1(subject)) return []
  const message = 'the kubelet and kube-proxy of RKE1 would stay on this host, because it runs only etcd'
  const hint = 'give the host the role worker in cluster.yml, or keep this cluster with RKE1'
  return [hostError(subject, 'ADOPT_RKE1_ETCD_HOST', message, { hint, component: 'kubelet' })]
}
