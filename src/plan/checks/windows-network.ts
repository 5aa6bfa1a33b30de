import type { Finding } from '../../contract/finding.ts'
import type { WindowsFacts } from '../context.ts'
import { holdName, metadataOf } from '../windows/host-network.ts'
import { overlayName } from '../windows/overlay.ts'
import { error, type SystemSubject, type WindowsCheck, warning } from './check.ts'

type Subject = SystemSubject<WindowsFacts>
type Network = WindowsFacts['networks'][number]

/** The adapter that has the host's address: it has to be up, and a switch has to find what is below it. */
export const windowsAdapter: WindowsCheck = (subject) => {
  const { address, system, cluster } = subject
  const name = system.addresses.find((one) => one.address === address)?.interface
  const adapter = system.adapters.find((one) => one.name === name)
  // An address that no adapter has is a finding of its own.
  if (adapter === undefined) return []
  if (!adapter.up) {
    const message = `${adapter.name}, the adapter with ${address}, is down`
    const hint = `Enable-NetAdapter -Name '${adapter.name}'`
    return [error(subject, 'HOST_WINDOWS_ADAPTER_DOWN', message, { hint })]
  }
  const own = cluster.spec.network.plugin === 'none' || system.networks.some(isHeld)
  return own || !adapter.virtual || isAbove(system, adapter.name)
    ? []
    : [noAdapterBelow(subject, adapter.name)]
}

function isHeld({ name, type }: Network): boolean {
  return name === holdName && type === 'overlay'
}

/** A switch is called after the adapter that it is on: vEthernet (Ethernet). */
function isAbove({ adapters }: WindowsFacts, name: string): boolean {
  const below = /^vEthernet \((.*)\)$/.exec(name)?.[1]
  return adapters.some((one) => one.name === below && !one.virtual)
}

function noAdapterBelow(subject: Subject, name: string): Finding {
  const message = `${subject.address} is on ${name}, which is a side of somebody’s switch and not of an adapter`
  const look = subject.system.hyperVFeature ? 'Get-VMSwitch' : 'Get-NetAdapter'
  const hint = `${look} shows it; give the host an address on an adapter of its own`
  return error(subject, 'HOST_WINDOWS_ADAPTER_VIRTUAL', message, { hint })
}

/** Kinds of networks that want the adapter for themselves. */
const onAdapters: ReadonlySet<string> = new Set(['overlay', 'l2bridge', 'l2tunnel', 'transparent'])

/** Networks of HNS under our names that are none of ours, and those of others on an adapter. */
export const windowsNetworks: WindowsCheck = (subject) => {
  const { address, system, cluster } = subject
  if (cluster.spec.network.plugin !== 'flannel') return []
  const pods = overlayName(subject)
  return system.networks.flatMap((network) => {
    const { name, type, managementAddress = address } = network
    if (name !== pods && name !== holdName) return onAdapters.has(type) ? [ofOthers(subject, network)] : []
    if (type !== 'overlay') return [wrong(subject, network, `is of the type ${type}`)]
    return name === holdName || managementAddress === address
      ? []
      : [wrong(subject, network, `is at ${managementAddress}`)]
  })
}

function wrong(subject: Subject, { name }: Network, how: string): Finding {
  const message = `there is a network ${name} that ${how}: it is removed, with what is joined to it, and made anew`
  const hint = `Get-HnsNetwork | Where-Object Name -eq '${name}'`
  return warning(subject, 'HOST_WINDOWS_NETWORK', message, { hint })
}

function ofOthers(subject: Subject, { name, type }: Network): Finding {
  const message = `somebody else has made the network ${name} of the type ${type}: two on one adapter may disturb each other`
  const hint = `if nothing needs it: Get-HnsNetwork | Where-Object Name -eq '${name}' | Remove-HnsNetwork`
  return warning(subject, 'HOST_WINDOWS_NETWORK_OTHER', message, { hint })
}

/** Routes to a cloud's metadata that the host has, and that nobody wants to be kept. */
export const windowsMetadata: WindowsCheck = (subject) => {
  const kept = metadataOf(subject)
  const lost = subject.system.metadataRoutes.filter((destination) => !kept.includes(destination))
  // With another network than ours, it is not we who make the switch.
  if (lost.length === 0 || subject.cluster.spec.network.plugin === 'none') return []
  const message = `the host has routes to ${lost.join(', ')}, which a switch that takes its adapter takes away`
  const details = { hint: 'cloud: aws, azure or gcp', path: 'spec.windows.cloud' }
  return [warning(subject, 'HOST_WINDOWS_METADATA', message, details)]
}
