import type { Finding } from '../../contract/finding.ts'
import { caCommonNames, type CaName } from '../../pki/ca.ts'
import { parseCertificates } from '../../pki/certificates.ts'
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

/** Finds CAs that agents could not recognize. RKE1 gives its CAs other names, and etcd shares one. */
export const checkRke1Cas: ClusterCheck = (input) => {
  if (!isFromRke1(input)) return []
  const { kubernetes, etcd, frontProxy } = input.identity.cas
  const cas: readonly (readonly [name: CaName, text: string])[] = [
    ['kubernetes', kubernetes],
    ['etcd', etcd],
    ['front-proxy', frontProxy],
  ]
  return cas.flatMap(([name, text]) => {
    const subject = parseCertificates(text)[0]?.subject
    if (subject === undefined || caCommonNames[name].some((known) => subject === `CN=${known}`)) return []
    return [
      clusterError('ADOPT_CA_NAME', `agents cannot recognize the ${name} CA by its name ${subject}`, {
        hint: 'keep this cluster with RKE1; nothing was changed',
      }),
    ]
  })
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

/** Finds nodes on which Docker uses a service with the name of hyperkube's containerd. */
export const checkRke1Containerd: LinuxCheck = (subject) => {
  const isTaken = subject.system.foreignServices.includes('containerd.service')
  if (!isTaken || !isNode(subject) || !canReturnToRke1(subject)) return []
  const message = 'Docker runs its containers with containerd.service, which hyperkube would replace'
  const hint = 'keep this cluster with RKE1; do not stop containerd, because the containers of RKE1 need it'
  return [hostError(subject, 'ADOPT_DOCKER_CONTAINERD', message, { hint, component: 'containerd' })]
}

/** Finds etcd hosts that are no nodes of hyperkube. RKE1 runs a kubelet there, which nothing would replace. */
export const checkRke1EtcdHost: LinuxCheck = (subject) => {
  if (!isEtcdMember(subject) || isNode(subject) || !canReturnToRke1(subject)) return []
  const message = 'the kubelet and kube-proxy of RKE1 would stay on this host, because it runs only etcd'
  const hint = 'give the host the role worker in cluster.yml, or keep this cluster with RKE1'
  return [hostError(subject, 'ADOPT_RKE1_ETCD_HOST', message, { hint, component: 'kubelet' })]
}

/** Finds nodes whose remaining pods would run twice. A drain does not remove the pods of DaemonSets. */
export const checkRke1Pods: LinuxCheck = (subject) => {
  if (!subject.system.firewalls.includes('docker') || !isNode(subject) || !canReturnToRke1(subject)) return []
  const message = 'pods of DaemonSets would run twice: their containers stay in Docker after the drain'
  const hint = 'keep this cluster with RKE1; nothing was changed'
  return [hostError(subject, 'ADOPT_DOCKER_PODS', message, { hint, component: 'kubelet' })]
}
