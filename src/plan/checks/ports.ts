import type { Finding } from '../../contract/finding.ts'
import { type IngressSettings, traefikHealthPort } from '../../spec/addons.ts'
import { speakerPorts } from '../../spec/load-balancer.ts'
import { usesKubeProxy, usesKubeRouter } from '../../spec/network.ts'
import { isControlPlane, isEtcdMember, isManager, isNode, type PlanContext } from '../context.ts'
import { managerPort } from '../linux/hyperkube-controller-manager.ts'
import { kubeRouterHealthPort } from '../linux/kube-router.ts'
import { hostError, hostWarning, type SystemCheck, type SystemSubject } from './check.ts'

export interface RequiredPort {
  readonly port: number
  readonly protocol: 'tcp' | 'udp'
  readonly component: string
  /** Clients of the port: other hosts, or only programs on the same host. */
  readonly from: 'hosts' | 'itself'
}

/** Lists the ports that the components of a host need. */
export function listRequiredPorts(
  context: Pick<PlanContext, 'cluster' | 'host' | 'topology'>,
): readonly RequiredPort[] {
  const { api, network, ingress, loadBalancer } = context.cluster.spec
  const { backend, port } = network.flannel
  return [
    ...(isEtcdMember(context) ? etcd : []),
    ...(isControlPlane(context) ? [tcpPort('kube-apiserver', api.port, 'hosts'), ...controllers] : []),
    ...(isManager(context) ? [tcpPort('hyperkube-controller-manager', managerPort, 'itself')] : []),
    ...(isNode(context) ? node : []),
    ...(isNode(context) && usesKubeProxy(network) ? kubeProxy : []),
    ...(isNode(context) && network.plugin === 'flannel' ? [tcpPort('flanneld', 10_246, 'itself')] : []),
    ...(isNode(context) && context.host.os === 'linux' && usesKubeRouter(network)
      ? [tcpPort('kube-router', kubeRouterHealthPort, 'itself')]
      : []),
    ...(isNode(context) && network.plugin === 'flannel' && backend === 'vxlan'
      ? [{ port, protocol: 'udp', component: 'flanneld', from: 'hosts' } as const]
      : []),
    ...(ingress !== 'none' && mayRunTraefik(context, ingress) ? listTraefikPorts(ingress) : []),
    ...(loadBalancer !== 'none' && isNode(context) && context.host.os === 'linux' ? speaker : []),
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
  tcpPort('apiserver-proxy', 6444, 'itself'),
  tcpPort('apiserver-proxy', 6445, 'itself'),
]

const kubeProxy: readonly RequiredPort[] = [
  tcpPort('kube-proxy', 10_249, 'itself'),
  tcpPort('kube-proxy', 10_256, 'itself'),
]

/**
 * Ports of MetalLB's speaker. It also uses UDP port 7946, and TCP if UDP is blocked. A node selector is not
 * compared with the labels of nodes.
 */
const speaker: readonly RequiredPort[] = [
  tcpPort('metallb-speaker', speakerPorts.members, 'hosts'),
  tcpPort('metallb-speaker', speakerPorts.metrics, 'itself'),
  tcpPort('metallb-speaker', speakerPorts.health, 'itself'),
]

/**
 * True if Traefik may be scheduled to the host. A custom node selector may match any node, because the check
 * does not compare it with the labels of nodes.
 */
function mayRunTraefik(
  context: Pick<PlanContext, 'host'>,
  { nodeSelector }: Pick<IngressSettings, 'nodeSelector'>,
): boolean {
  const hasSelector = Object.keys(nodeSelector).length > 0
  return context.host.os === 'linux' && (hasSelector ? isNode(context) : isControlPlane(context))
}

/**
 * Lists the ports of traefik, a pod that listens on the host. They are not opened for other hosts (`itself`),
 * because the operator decides which clients may connect.
 */
function listTraefikPorts({ httpPort, httpsPort }: IngressSettings): readonly RequiredPort[] {
  return [httpPort, httpsPort, traefikHealthPort].map((port) => tcpPort('traefik', port, 'itself'))
}

function tcpPort(component: string, port: number, from: RequiredPort['from']): RequiredPort {
  return { port, protocol: 'tcp', component, from }
}

/** Finds required TCP ports on which a foreign process listens. */
export const checkTakenPorts: SystemCheck = (subject) => {
  const needed = new Map(
    listRequiredPorts(subject)
      .filter(({ protocol }) => protocol === 'tcp')
      .map((port) => [port.port, port]),
  )
  // A process that listens on IPv4 and IPv6 has two listeners but gets one finding.
  const reported = new Set<string>()
  return subject.system.listeners.flatMap(({ port: number, process }) => {
    const port = needed.get(number)
    if (port === undefined || isOwnProcess(port.component, process)) return []
    const key = `${number} ${process}`
    if (reported.has(key)) return []
    reported.add(key)
    return [portTaken(subject, port, process)]
  })
}

function portTaken(
  subject: SystemSubject,
  { port, component }: RequiredPort,
  process: string | undefined,
): Finding {
  const inspectCommand =
    subject.system.os === 'linux'
      ? `ss -ltnp 'sport = :${port}'`
      : `Get-NetTCPConnection -State Listen -LocalPort ${port}`
  if (process === undefined) {
    // The unknown process may be the component itself, so this is only a warning: it must not block a running
    // cluster.
    const message = `an unknown process listens on port ${port}, which ${component} needs`
    return hostWarning(subject, 'HOST_PORT_TAKEN', message, { hint: inspectCommand, component })
  }
  const message = `${process} listens on port ${port}, which ${component} needs`
  const hint = `on the host: ${inspectCommand} shows the process; stop it${alternatives[component] ?? ''}`
  return hostError(subject, 'HOST_PORT_TAKEN', message, { hint, component })
}

/** Hints how to move a component to another port. */
const alternatives: Readonly<Record<string, string>> = {
  'kube-apiserver': ', or set spec.api.port',
  traefik: ', or set other ports in spec.ingress, or spec.ingress: none',
  'metallb-speaker': ', or set spec.loadBalancer: none',
}

/** Names of processes that differ from the name of their component. */
const processNames: Readonly<Record<string, string>> = {
  'apiserver-proxy': 'hyperkube',
  'hyperkube-controller-manager': 'hyperkube',
  'metallb-speaker': 'speaker',
}

/** True if the process is the component itself. On Windows its name ends with .exe. */
function isOwnProcess(component: string, process: string | undefined): boolean {
  const name = process?.replace(/\.exe$/i, '')
  return name === (processNames[component] ?? component)
}
