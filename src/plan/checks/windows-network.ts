import type { Finding } from '../../contract/finding.ts'
import type { WindowsSystemFacts } from '../context.ts'
import { formatOverlayName, listMetadataDestinations, switchNetworkName } from '../windows/host-network.ts'
import { hostError, hostWarning, type SystemSubject, type WindowsCheck } from './check.ts'

type Subject = SystemSubject<WindowsSystemFacts>
type Network = WindowsSystemFacts['networks'][number]

/**
 * Checks that the adapter with the address of the host is up, and that it is physical or a switch on a
 * physical adapter.
 */
export const checkWindowsAdapter: WindowsCheck = (subject) => {
  const { address, system, cluster } = subject
  const name = system.addresses.find((one) => one.address === address)?.interface
  const adapter = system.adapters.find((one) => one.name === name)
  // Another check reports an address without an adapter.
  if (adapter === undefined) return []
  if (!adapter.up) {
    const message = `${adapter.name}, the adapter with ${address}, is down`
    const hint = `Enable-NetAdapter -Name '${adapter.name}'`
    return [hostError(subject, 'HOST_WINDOWS_ADAPTER_DOWN', message, { hint })]
  }
  const hasSwitch = cluster.spec.network.plugin === 'none' || system.networks.some(isSwitchNetwork)
  return hasSwitch || !adapter.virtual || isSwitchOnAdapter(system, adapter.name)
    ? []
    : [missingAdapter(subject, adapter.name)]
}

function isSwitchNetwork({ name, type }: Network): boolean {
  return name === switchNetworkName && type === 'overlay'
}

/**
 * True if the adapter is a switch on a physical adapter. Windows names such a switch after the physical
 * adapter: vEthernet (Ethernet).
 */
function isSwitchOnAdapter({ adapters }: WindowsSystemFacts, name: string): boolean {
  const below = /^vEthernet \((.*)\)$/.exec(name)?.[1]
  return adapters.some((one) => one.name === below && !one.virtual)
}

function missingAdapter(subject: Subject, name: string): Finding {
  const message = `${subject.address} is on ${name}, which belongs to a foreign virtual switch, not to a physical adapter`
  const inspectCommand = subject.system.hyperVFeature ? 'Get-VMSwitch' : 'Get-NetAdapter'
  const hint = `${inspectCommand} shows the switch; use an address on a physical adapter`
  return hostError(subject, 'HOST_WINDOWS_ADAPTER_VIRTUAL', message, { hint })
}

/** HNS network types that use an adapter exclusively. */
const adapterNetworkTypes: ReadonlySet<string> = new Set(['overlay', 'l2bridge', 'l2tunnel', 'transparent'])

/**
 * Finds HNS networks that have hyperkube's names but other settings, and foreign networks that occupy an
 * adapter.
 */
export const checkWindowsNetworks: WindowsCheck = (subject) => {
  const { address, system, cluster } = subject
  if (cluster.spec.network.plugin !== 'flannel') return []
  const pods = formatOverlayName(subject)
  return system.networks.flatMap((network) => {
    const { name, type, managementAddress = address } = network
    if (name !== pods && name !== switchNetworkName)
      return adapterNetworkTypes.has(type) ? [foreignNetwork(subject, network)] : []
    if (type !== 'overlay') return [misconfiguredNetwork(subject, network, `has type ${type}`)]
    return name === switchNetworkName || managementAddress === address
      ? []
      : [misconfiguredNetwork(subject, network, `has management address ${managementAddress}`)]
  })
}

function misconfiguredNetwork(subject: Subject, { name }: Network, difference: string): Finding {
  const message = `the network ${name} ${difference}: hyperkube will delete it with its endpoints and create it again`
  const hint = `Get-HnsNetwork | Where-Object Name -eq '${name}'`
  return hostWarning(subject, 'HOST_WINDOWS_NETWORK', message, { hint })
}

function foreignNetwork(subject: Subject, { name, type }: Network): Finding {
  const message = `the host has a foreign HNS network ${name} of type ${type}; two networks on one adapter may conflict`
  const hint = `if nothing needs it: Get-HnsNetwork | Where-Object Name -eq '${name}' | Remove-HnsNetwork`
  return hostWarning(subject, 'HOST_WINDOWS_NETWORK_OTHER', message, { hint })
}

/**
 * Finds routes to cloud metadata that the host loses when hyperkube creates its switch. Routes that
 * cluster.yml preserves are not reported.
 */
export const checkWindowsMetadata: WindowsCheck = (subject) => {
  const preserved = listMetadataDestinations(subject)
  const lost = subject.system.metadataRoutes.filter((destination) => !preserved.includes(destination))
  // With network plugin `none` hyperkube creates no switch, so the routes stay.
  if (lost.length === 0 || subject.cluster.spec.network.plugin === 'none') return []
  const message = `the host loses its routes to ${lost.join(', ')} when flannel creates the virtual switch`
  const details = { hint: 'set cloud to aws, azure or gcp', path: 'spec.windows.cloud' }
  return [hostWarning(subject, 'HOST_WINDOWS_METADATA', message, details)]
}
