import type { Place } from '../host-endpoints.ts'
import type { Diagnosis } from './diagnosis.ts'

/** What comes of something: codes on the same host, codes on any, and components there that are not well for it. */
interface Reach {
  readonly here?: readonly string[]
  readonly anywhere?: readonly string[]
  readonly unwell?: readonly string[]
}

const isHealth = (code: string): boolean => code.startsWith('HEALTH_')
const leaders = ['kube-controller-manager', 'kube-scheduler', 'hyperkube-controller-manager']
const control = ['kube-apiserver', ...leaders]
const node = ['NODE_LEASE_OLD', 'NODE_NOT_READY']
const member = ['ETCD_NO_QUORUM', 'ETCD_MEMBER_AWAY', 'ETCD_MEMBER_UNREADY', 'ETCD_BEHIND', 'API_NOT_READY']
const network = ['RUNTIME_NO_NETWORK', 'SANDBOX_NOT_JOINED', 'NODE_NOT_READY']
const anyComponent = [
  'etcd',
  ...control,
  'containerd',
  'apiserver-proxy',
  'kubelet',
  'flanneld',
  'kube-proxy',
]
const host = [...member, ...node, 'API_NOT_REACHED', 'NEIGHBOURS_SILENT']
const lostData: Reach = { here: [...member, 'SERVICE_DRIFT'], unwell: ['etcd', ...control] }

const reaches: Readonly<Record<string, Reach>> = {
  ETCD_QUORUM_LOST: {
    anywhere: [...host, 'API_DOWN'],
    unwell: control,
  },
  API_DOWN: { anywhere: ['API_NOT_READY', 'API_NOT_REACHED', 'NEIGHBOURS_SILENT', ...node], unwell: leaders },
  HOST_AWAY: { here: host, anywhere: ['NEIGHBOURS_SILENT'] },
  HOST_CUT_OFF: {
    here: host,
    anywhere: ['NEIGHBOURS_SILENT'],
    unwell: anyComponent.filter((name) => name !== 'containerd' && name !== 'kubelet'),
  },
  DISK_FULL: {
    here: [...host, ...network, 'RUNTIME_NOT_READY', 'DISK_SLOW', 'AGENT_SILENT'],
    unwell: anyComponent,
  },
  CLOCK_OFF: { here: ['CERTIFICATE_EXPIRED'] },
  ETCD_DATA_LOST: lostData,
  ETCD_DATA_DAMAGED: lostData,
  // The network of pods is written down for the runtime from that file.
  OVERLAY_SUBNET: { here: ['SERVICE_DRIFT', 'OVERLAY_INTERFACE', 'OVERLAY_ROUTES', ...network] },
  OVERLAY_INTERFACE: { here: ['OVERLAY_ROUTES', ...network] },
  DISK_SLOW: { here: member },
  RUNTIME_NOT_READY: { here: network, unwell: ['kubelet'] },
  RUNTIME_NO_NETWORK: { here: ['SANDBOX_NOT_JOINED', 'NODE_NOT_READY'] },
  ETCD_NO_QUORUM: { here: member.filter((code) => code !== 'ETCD_NO_QUORUM'), unwell: control },
  API_NOT_READY: { unwell: leaders },
  NODE_LEASE_OLD: { here: ['NODE_NOT_READY'] },
}

/** What shows on its host when a component is not well: codes, components, and codes of whoever looks for it. */
const parts: Readonly<Record<string, Reach>> = {
  etcd: { here: member, unwell: control },
  'kube-apiserver': { here: ['API_NOT_READY'], unwell: leaders },
  containerd: { here: ['RUNTIME_NOT_READY', ...network, ...node], unwell: ['kubelet'] },
  'apiserver-proxy': {
    here: ['API_NOT_REACHED', 'NEIGHBOURS_SILENT', 'SERVICE_RULES', 'OVERLAY_ROUTES', ...node],
    unwell: ['kubelet', 'flanneld', 'kube-proxy'],
  },
  kubelet: { here: node, anywhere: ['NEIGHBOURS_SILENT'] },
  flanneld: { here: ['OVERLAY_INTERFACE', 'OVERLAY_ROUTES', ...network] },
  'kube-proxy': { here: ['SERVICE_RULES'] },
}

/** Those of a component that say that it is not what it should be: all that it does for others goes with it. */
const ofComponent = [
  'CERTIFICATE_EXPIRED',
  'SERVICE_DRIFT',
  'HEAL_NEEDS_OPERATOR',
  'HEALTH_NOT_RUNNING',
  'HEALTH_NO_ANSWER',
  'HEALTH_UNWELL',
]

function reachesOf({ code, component = '' }: Diagnosis): Reach[] {
  const own = reaches[code.startsWith('SSH_') ? 'HOST_AWAY' : code]
  const ofPart = ofComponent.includes(code) ? parts[component] : undefined
  return [own, ofPart].filter((one) => one !== undefined)
}

/** Whether one thing that is wrong comes of another. */
export function explains(cause: Diagnosis, effect: Diagnosis, places: readonly Place[]): boolean {
  // What may be a mistake explains nothing that is sure.
  if (cause === effect || (cause.severity === 'warning' && effect.severity === 'error')) return false
  const whole = asOne(effect, places)
  if (whole !== undefined && cause.host === whole.host && explains(cause, whole, [])) return true
  const isHere = cause.host !== undefined && cause.host === effect.host
  if (isHere && isWorse(cause, effect)) return true
  return reachesOf(cause).some(
    ({ here = [], anywhere = [], unwell = [] }) =>
      anywhere.includes(effect.code) ||
      (isHere && here.includes(effect.code)) ||
      ((isHere || cause.host === undefined) &&
        isHealth(effect.code) &&
        unwell.includes(effect.component ?? '')),
  )
}

/** Of the same component: the one that says more about why. */
function isWorse(cause: Diagnosis, effect: Diagnosis): boolean {
  const [at, of] = [ofComponent.indexOf(cause.code), ofComponent.indexOf(effect.code)]
  return cause.component === effect.component && at !== -1 && of > at
}

/** What stands still as a whole where there is only one that does it: then whatever is wrong with that one is why. */
function asOne(effect: Diagnosis, places: readonly Place[]): Diagnosis | undefined {
  const alone = (some: readonly Place[]): string | undefined =>
    some.length === 1 ? some[0]?.host : undefined
  const [only, code] =
    effect.code === 'ETCD_QUORUM_LOST'
      ? [alone(places.filter(({ etcd }) => etcd)), 'ETCD_NO_QUORUM']
      : effect.code === 'API_DOWN'
        ? [alone(places.filter(({ api }) => api)), 'API_NOT_READY']
        : [undefined, '']
  return only === undefined ? undefined : { ...effect, code, host: only }
}
