import type { BareFacts } from '../../contract/basic-facts.ts'
import type { Facts } from '../../contract/facts.ts'
import { printable } from '../../kit/printable.ts'
import { count } from '../format-text.ts'

type System = Facts['system']
type Linux = Extract<System, { os: 'linux' }>
type Windows = Extract<System, { os: 'windows' }>
type Row = readonly [label: string, value: string]

/** What a person wants to know of a host first. All of it is in the document. */
export function factsText({ host, system }: Facts): string {
  return text(`${host}: ${nature(system)}`, [
    ...common(system),
    ['listening', system.listeners.map(({ port, process = 'unknown' }) => `${port} ${process}`).join(', ')],
    ...(system.os === 'linux' ? linux(system) : windows(system)),
  ])
}

/** Of a Windows host that could not be asked for more. */
export function bareFactsText({ host, system }: BareFacts): string {
  return text(`${host}: Windows build ${system.build}, ${system.arch}; all else could not be asked`, [
    ...common(system),
    ['also here', system.foreignServices.join(', ')],
  ])
}

function text(head: string, all: readonly Row[]): string {
  const rows = all.filter(([, value]) => value !== '')
  const width = Math.max(...rows.map(([label]) => label.length))
  const lines = rows.map(([label, value]) => `  ${label.padEnd(width)}  ${value}\n`)
  return printable(`${head}\n${lines.join('')}`)
}

function nature(system: System): string {
  if (system.os === 'windows') return `Windows build ${system.build}.${system.revision}, ${system.arch}`
  const { distribution, kernel, arch, container } = system
  return [distribution.name, `kernel ${kernel.release}`, arch, ...(container ? ['a container'] : [])].join(
    ', ',
  )
}

function common(system: Pick<System, 'addresses' | 'cpus' | 'memoryBytes' | 'disks'>): Row[] {
  const addresses = system.addresses.filter(({ interface: name }) => name !== 'lo')
  return [
    ['size', `${count(system.cpus, 'CPU')}, ${gibibytes(system.memoryBytes)} GiB of memory`],
    ['addresses', addresses.map((one) => `${one.interface} ${one.address}/${one.prefix}`).join(', ')],
    ['disks', disksText(system)],
  ]
}

/** Directories on one disk have the same figures, and are said once. */
function disksText({ disks }: Pick<System, 'disks'>): string {
  const unique = new Map(
    disks.toReversed().map((disk) => [`${disk.availableBytes} ${disk.totalBytes}`, disk]),
  )
  return [...unique.values()]
    .toReversed()
    .map((disk) => `${disk.path} ${gibibytes(disk.availableBytes)} of ${gibibytes(disk.totalBytes)} GiB free`)
    .join(', ')
}

function linux({ init, kernel, cgroup, programs, resolver, ...system }: Linux): Row[] {
  const { release: _, ...features } = kernel
  const has = Object.entries(features).filter(([, there]) => there)
  const lacks = Object.entries(features).filter(([, there]) => !there)
  const beside = [
    ...system.foreignServices,
    ...system.firewalls,
    ...(system.networkManager ? ['NetworkManager'] : []),
    ...(system.selinux === 'disabled' ? [] : [`SELinux ${system.selinux}`]),
    ...(system.swap ? ['swap'] : []),
  ]
  return [
    ['services', `${init.name} ${init.version}`.trim()],
    ['cgroups', `version ${cgroup.version}: ${cgroup.controllers.join(', ')}`],
    ['kernel has', names(has)],
    ['kernel lacks', names(lacks)],
    ['programs', programs.join(', ')],
    ['root lacks', system.missingCapabilities.join(', ')],
    ['resolver', `${resolver.file}: ${resolver.servers.join(', ') || 'no server'}`],
    ['also here', beside.join(', ')],
  ]
}

function windows(system: Windows): Row[] {
  const features = [
    ...(system.containersFeature ? ['Containers'] : []),
    ...(system.hyperVFeature ? ['Hyper-V'] : []),
  ]
  return [
    ['edition', `${system.edition}, ${system.installation}`],
    ['features', features.join(', ')],
    ['networks', system.networks.map(({ name, type }) => `${name} (${type})`).join(', ')],
    ['also here', system.foreignServices.join(', ')],
    ['pending', system.rebootPending ? 'a restart' : ''],
  ]
}

function names(features: readonly (readonly [string, boolean])[]): string {
  return features.map(([name]) => (name === 'bridgeNetfilter' ? 'bridge netfilter' : name)).join(', ')
}

function gibibytes(bytes: number): string {
  return (bytes / 2 ** 30).toFixed(1)
}
