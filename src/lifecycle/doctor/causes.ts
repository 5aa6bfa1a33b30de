import type { HostEndpoint } from '../inputs/host-endpoints.ts'
import { type Diagnosis, nodeProblemCodes } from './diagnosis.ts'
import { findNetworkAddon } from './rules/addons.ts'

/**
 * Effects of a cause: codes of findings about the same host, codes of findings about any host, and components
 * of the same host that become unhealthy.
 */
interface Effects {
  readonly sameHost?: readonly string[]
  readonly anyHost?: readonly string[]
  readonly unhealthyComponents?: readonly string[]
}

const isHealthCode = (code: string): boolean => code.startsWith('HEALTH_')
const leaderElected = ['kube-controller-manager', 'kube-scheduler', 'hyperkube-controller-manager']
const controlPlaneComponents = ['kube-apiserver', ...leaderElected]
const nodeCodes = ['NODE_LEASE_OLD', 'NODE_NOT_READY']
const etcdMemberCodes = [
  'ETCD_NO_QUORUM',
  'ETCD_MEMBER_UNREACHABLE',
  'ETCD_MEMBER_UNREADY',
  'ETCD_BEHIND',
  'API_NOT_READY',
]
const podNetworkCodes = [
  'RUNTIME_NO_NETWORK',
  'SANDBOX_NOT_JOINED',
  'NODE_NOT_READY',
  'NODE_NETWORK_UNAVAILABLE',
]
const allComponents = [
  'etcd',
  ...controlPlaneComponents,
  'hyperkube-keepalived',
  'containerd',
  'apiserver-proxy',
  'kubelet',
  'flanneld',
  'kube-proxy',
  'kube-router',
]
const hostCodes = [
  ...etcdMemberCodes,
  ...nodeCodes,
  'API_UNREACHABLE',
  'PEERS_UNREACHABLE',
  'VIRTUAL_IP_UNREACHABLE',
]
const dataLossEffects: Effects = {
  sameHost: [...etcdMemberCodes, 'SERVICE_DRIFT'],
  unhealthyComponents: ['etcd', ...controlPlaneComponents],
}

const effectsByCode: Readonly<Record<string, Effects>> = {
  // A restore stops these components on all hosts, until it ends.
  ETCD_RESTORE_UNFINISHED: {
    anyHost: [...hostCodes, 'ETCD_QUORUM_LOST', 'API_DOWN'],
    unhealthyComponents: ['etcd', 'kubelet', ...controlPlaneComponents],
  },
  ETCD_QUORUM_LOST: {
    anyHost: [...hostCodes, 'API_DOWN'],
    unhealthyComponents: controlPlaneComponents,
  },
  API_DOWN: {
    anyHost: [
      'API_NOT_READY',
      'API_UNREACHABLE',
      'PEERS_UNREACHABLE',
      'VIRTUAL_IP_UNREACHABLE',
      ...nodeCodes,
    ],
    unhealthyComponents: leaderElected,
  },
  NO_HOST_REACHABLE: { anyHost: hostCodes },
  HOST_UNREACHABLE: { sameHost: hostCodes, anyHost: ['PEERS_UNREACHABLE'] },
  HOST_CUT_OFF: {
    sameHost: hostCodes,
    anyHost: ['PEERS_UNREACHABLE'],
    unhealthyComponents: allComponents.filter((name) => name !== 'containerd' && name !== 'kubelet'),
  },
  DISK_FULL: {
    sameHost: [
      ...hostCodes,
      ...podNetworkCodes,
      'NODE_DISK_PRESSURE',
      'RUNTIME_NOT_READY',
      'DISK_SLOW',
      'AGENT_UNREACHABLE',
    ],
    unhealthyComponents: allComponents,
  },
  CLOCK_OFF: { sameHost: ['CERTIFICATE_EXPIRED'] },
  ETCD_DATA_LOST: dataLossEffects,
  ETCD_DATA_DAMAGED: dataLossEffects,
  // The alarm makes all members unready, and etcd refuses writes of the API servers.
  ETCD_ALARM_CORRUPT: { anyHost: etcdMemberCodes },
  // The CNI configuration of the runtime is derived from the subnet file. If that file is wrong, the
  // configuration is reported as drift.
  OVERLAY_SUBNET: { sameHost: ['SERVICE_DRIFT', 'OVERLAY_INTERFACE', 'OVERLAY_ROUTES', ...podNetworkCodes] },
  OVERLAY_INTERFACE: { sameHost: ['OVERLAY_ROUTES', ...podNetworkCodes] },
  DISK_SLOW: { sameHost: etcdMemberCodes },
  RUNTIME_NOT_READY: { sameHost: podNetworkCodes, unhealthyComponents: ['kubelet'] },
  RUNTIME_NO_NETWORK: { sameHost: ['SANDBOX_NOT_JOINED', 'NODE_NOT_READY'] },
  ETCD_NO_QUORUM: {
    sameHost: etcdMemberCodes.filter((code) => code !== 'ETCD_NO_QUORUM'),
    unhealthyComponents: controlPlaneComponents,
  },
  API_NOT_READY: { unhealthyComponents: leaderElected },
  NODE_LEASE_OLD: { sameHost: ['NODE_NOT_READY'] },
}

/**
 * Effects of an unhealthy component: codes of findings about its host or about any host, and other components
 * of its host that become unhealthy.
 */
const effectsByComponent: Readonly<Record<string, Effects>> = {
  etcd: { sameHost: etcdMemberCodes, unhealthyComponents: controlPlaneComponents },
  'kube-apiserver': { sameHost: ['API_NOT_READY'], unhealthyComponents: leaderElected },
  'hyperkube-keepalived': { sameHost: ['VIRTUAL_IP_UNREACHABLE'] },
  containerd: {
    sameHost: ['RUNTIME_NOT_READY', ...podNetworkCodes, ...nodeCodes],
    unhealthyComponents: ['kubelet'],
  },
  'apiserver-proxy': {
    sameHost: ['API_UNREACHABLE', 'PEERS_UNREACHABLE', 'SERVICE_RULES', 'OVERLAY_ROUTES', ...nodeCodes],
    unhealthyComponents: ['kubelet', 'flanneld', 'kube-proxy', 'kube-router'],
  },
  kubelet: { sameHost: nodeCodes, anyHost: ['PEERS_UNREACHABLE'] },
  flanneld: { sameHost: ['OVERLAY_INTERFACE', 'OVERLAY_ROUTES', ...podNetworkCodes] },
  'kube-proxy': { sameHost: ['SERVICE_RULES'] },
  'kube-router': { sameHost: ['POLICY_RULES'] },
}

/**
 * Codes for a fault of the component itself, most specific first. Only these codes have the effects of
 * `effectsByComponent`.
 */
const componentCodes = [
  'CERTIFICATE_EXPIRED',
  'SERVICE_DRIFT',
  'HEAL_NEEDS_OPERATOR',
  'HEALTH_NOT_RUNNING',
  'HEALTH_NO_RESPONSE',
  'HEALTH_CHECK_FAILED',
]

function findEffects({ code, component = '' }: Diagnosis): Effects[] {
  const codeEffects = effectsByCode[code.startsWith('SSH_') ? 'HOST_UNREACHABLE' : code]
  const componentEffects = componentCodes.includes(code) ? effectsByComponent[component] : undefined
  return [codeEffects, componentEffects].filter((effects) => effects !== undefined)
}

export interface CauseContext {
  readonly endpoints: readonly HostEndpoint[]
  /** All diagnoses of the cluster. */
  readonly diagnoses: readonly Diagnosis[]
}

/** True if `effect` is a consequence of `cause`. */
export function isCauseOf(cause: Diagnosis, effect: Diagnosis, context: CauseContext): boolean {
  // A warning is uncertain, so it cannot explain an error.
  if (cause === effect || (cause.severity === 'warning' && effect.severity === 'error')) return false
  if (effect.code === 'ADDON_NOT_READY')
    return !isNetworkAddon(effect, context) && isRefusal(cause) && areAllNodesRefusing(context)
  if (isNetworkAddon(cause, context) && networkAddonEffects.has(effect.code)) return true
  const localEffect = toSingleHostEffect(effect, context.endpoints)
  const localContext = { ...context, endpoints: [] }
  if (
    localEffect !== undefined &&
    cause.host === localEffect.host &&
    isCauseOf(cause, localEffect, localContext)
  )
    return true
  const isSameHost = cause.host !== undefined && cause.host === effect.host
  if (isSameHost && isMoreSpecific(cause, effect)) return true
  return findEffects(cause).some(
    ({ sameHost = [], anyHost = [], unhealthyComponents = [] }) =>
      anyHost.includes(effect.code) ||
      (isSameHost && sameHost.includes(effect.code)) ||
      ((isSameHost || cause.host === undefined) &&
        isHealthCode(effect.code) &&
        unhealthyComponents.includes(effect.component ?? '')),
  )
}

/** Effects of a network addon that is not ready. A node is not ready because its runtime has no network. */
const networkAddonEffects = new Set(podNetworkCodes.filter((code) => code !== 'NODE_NOT_READY'))

function isNetworkAddon({ code, component }: Diagnosis, { endpoints }: CauseContext): boolean {
  return code === 'ADDON_NOT_READY' && component === findNetworkAddon(endpoints)
}

const refusalCodes = new Set(['NODE_NOT_READY', ...Object.values(nodeProblemCodes)])

/** True if a node accepts no new pods because of this problem. */
function isRefusal({ code, severity }: Diagnosis): boolean {
  return severity === 'error' && refusalCodes.has(code)
}

/**
 * True if every node that runs Linux accepts no new pods. Otherwise an addon can run on one of the other
 * nodes.
 */
function areAllNodesRefusing({ endpoints, diagnoses }: CauseContext): boolean {
  const refusing = new Set(diagnoses.filter(isRefusal).map(({ host }) => host))
  return endpoints
    .filter(({ node, os }) => node !== undefined && os !== 'windows')
    .every(({ host }) => refusing.has(host))
}

/** True if both codes are about the same component and the cause has the more specific one. */
function isMoreSpecific(cause: Diagnosis, effect: Diagnosis): boolean {
  const [causeIndex, effectIndex] = [componentCodes.indexOf(cause.code), componentCodes.indexOf(effect.code)]
  return cause.component === effect.component && causeIndex !== -1 && effectIndex > causeIndex
}

/**
 * If a single host provides etcd or the API, converts an outage of the cluster to a problem of that host.
 * Faults of that host then count as possible causes.
 */
function toSingleHostEffect(effect: Diagnosis, endpoints: readonly HostEndpoint[]): Diagnosis | undefined {
  const findOnlyHost = (candidates: readonly HostEndpoint[]): string | undefined =>
    candidates.length === 1 ? candidates[0]?.host : undefined
  const [onlyHost, code] =
    effect.code === 'ETCD_QUORUM_LOST'
      ? [findOnlyHost(endpoints.filter(({ etcd }) => etcd)), 'ETCD_NO_QUORUM']
      : effect.code === 'API_DOWN'
        ? [findOnlyHost(endpoints.filter(({ api }) => api)), 'API_NOT_READY']
        : [undefined, '']
  return onlyHost === undefined ? undefined : { ...effect, code, host: onlyHost }
}
