import { type IngressSettings, traefikHealthPort } from '../../spec/addons.ts'
import { managerPort } from '../manager-settings.ts'
import { isControlPlane, isEtcdMember, isManager, isNode, type PlanContext } from '../context.ts'

export interface RequiredPort {
  readonly port: number
  readonly protocol: 'tcp' | 'udp'
  readonly component: string
  /** Clients of the port: other hosts, or only programs on the same host. */
  readonly from: 'hosts' | 'itself'
}

/** Lists the ports that a host with these roles needs. */
export function listRequiredPorts(
  context: Pick<PlanContext, 'cluster' | 'host' | 'topology'>,
): readonly RequiredPort[] {
  const { api, network, ingress } = context.cluster.spec
  const { backend, port } = network.flannel
  return [
    ...(isEtcdMember(context) ? etcd : []),
    ...(isControlPlane(context) ? [tcpPort('kube-apiserver', api.port, 'hosts'), ...controllers] : []),
    ...(isManager(context) ? [tcpPort('hyperkube-controller-manager', managerPort, 'itself')] : []),
    ...(isNode(context) ? node : []),
    ...(isNode(context) && network.plugin === 'flannel' ? [tcpPort('flanneld', 10_246, 'itself')] : []),
    ...(isNode(context) && network.plugin === 'flannel' && backend === 'vxlan'
      ? [{ port, protocol: 'udp', component: 'flanneld', from: 'hosts' } as const]
      : []),
    ...(isNode(context) && context.host.os === 'linux' && ingress !== 'none'
      ? listTraefikPorts(ingress)
      : []),
  ]
}

const etcd: readonly RequiredPort[] = [
  tcpPort('etcd', 2379, 'hosts'),
  tcpPort('etcd', 2380, 'hosts'),
  tcpPort('etcd', 2381, 'itself'),
]

const controllers: readonly RequiredPort[] = [
  tcpPort('kube-controller-manager', 10_257, 'itself'),
  tcpPort('kube-scheduler', 10_259, 'itself'),
]

const node: readonly RequiredPort[] = [
  tcpPort('kubelet', 10_250, 'hosts'),
  tcpPort('kubelet', 10_248, 'itself'),
  tcpPort('kube-proxy', 10_249, 'itself'),
  tcpPort('kube-proxy', 10_256, 'itself'),
  tcpPort('apiserver-proxy', 6444, 'itself'),
  tcpPort('apiserver-proxy', 6445, 'itself'),
]

/**
 * Lists the ports of traefik, a pod that listens on the host. The operator decides which clients may connect.
 */
function listTraefikPorts({ httpPort, httpsPort }: IngressSettings): readonly RequiredPort[] {
  return [httpPort, httpsPort, traefikHealthPort].map((port) => tcpPort('traefik', port, 'itself'))
}

function tcpPort(component: string, port: number, from: RequiredPort['from']): RequiredPort {
  return { port, protocol: 'tcp', component, from }
}
