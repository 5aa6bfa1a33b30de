import { type IngressSettings, traefikHealthPort } from '../../spec/addons.ts'
import { managerPort } from '../manager-settings.ts'
import { isControlPlane, isEtcdMember, isManager, isNode, type Scene } from '../context.ts'

export interface Port {
  readonly port: number
  readonly protocol: 'tcp' | 'udp'
  readonly component: string
  /** Who must reach it: the other hosts, or only what runs beside it. */
  readonly from: 'hosts' | 'itself'
}

/** The ports that a host of these roles needs. */
export function portsOf(scene: Pick<Scene, 'cluster' | 'host' | 'topology'>): readonly Port[] {
  const { api, network, ingress } = scene.cluster.spec
  const { backend, port } = network.flannel
  return [
    ...(isEtcdMember(scene) ? etcd : []),
    ...(isControlPlane(scene) ? [tcp('kube-apiserver', api.port, 'hosts'), ...controllers] : []),
    ...(isManager(scene) ? [tcp('hyperkube-controller-manager', managerPort, 'itself')] : []),
    ...(isNode(scene) ? node : []),
    ...(isNode(scene) && network.plugin === 'flannel' ? [tcp('flanneld', 10_246, 'itself')] : []),
    ...(isNode(scene) && network.plugin === 'flannel' && backend === 'vxlan'
      ? [{ port, protocol: 'udp', component: 'flanneld', from: 'hosts' } as const]
      : []),
    ...(isNode(scene) && scene.host.os === 'linux' && ingress !== 'none' ? traefik(ingress) : []),
  ]
}

const etcd: readonly Port[] = [
  tcp('etcd', 2379, 'hosts'),
  tcp('etcd', 2380, 'hosts'),
  tcp('etcd', 2381, 'itself'),
]

const controllers: readonly Port[] = [
  tcp('kube-controller-manager', 10_257, 'itself'),
  tcp('kube-scheduler', 10_259, 'itself'),
]

const node: readonly Port[] = [
  tcp('kubelet', 10_250, 'hosts'),
  tcp('kubelet', 10_248, 'itself'),
  tcp('kube-proxy', 10_249, 'itself'),
  tcp('kube-proxy', 10_256, 'itself'),
  tcp('apiserver-proxy', 6444, 'itself'),
  tcp('apiserver-proxy', 6445, 'itself'),
]

/** It is a pod, and listens on the host itself. Whom it shall hear is not for us to say. */
function traefik({ httpPort, httpsPort }: IngressSettings): readonly Port[] {
  return [httpPort, httpsPort, traefikHealthPort].map((port) => tcp('traefik', port, 'itself'))
}

function tcp(component: string, port: number, from: Port['from']): Port {
  return { port, protocol: 'tcp', component, from }
}
