import { win32 } from 'node:path'
import { metadataDestinations } from '../../../contract/cloud-metadata.ts'
import { type Facts, factsFormat } from '../../../contract/facts.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { archOf, disksOf, foreignServicesOf } from './basic.ts'
import type { WindowsFacts, WindowsSource } from './source.ts'

/** All facts of a Windows host, one question after the other: they take turns anyway. */
export async function collectWindowsFacts(source: WindowsSource, host: string): Promise<Facts> {
  const { operations, arch, cpus, memoryBytes, now } = source
  const described = await operations.system.describe({})
  if (described === undefined) throw new HyperkubeError('FACTS_NOT_TAKEN', 'Windows says nothing of itself')
  const { hostname, machineId, build, revision, edition, installation } = described
  const { containersFeature, hyperVFeature, rebootPending } = described
  const adapters = await operations.adapters.list({})
  const routes = await operations.routes.list({ destinations: ['0.0.0.0/0', ...metadataDestinations] })
  const out = routes
    .filter(({ destination }) => destination === '0.0.0.0/0')
    .toSorted((a, b) => a.metric - b.metric)[0]
  const defaultInterface = adapters.find(({ index }) => index === out?.interfaceIndex)?.name
  const reached = new Set(routes.map(({ destination }) => destination))
  const system: WindowsFacts = {
    os: 'windows',
    hostname,
    machineId,
    arch: archOf(arch),
    cpus,
    memoryBytes,
    addresses: adapters.flatMap(({ name, addresses }) =>
      addresses.map(({ address, prefix }) => ({ interface: name, address, prefix })),
    ),
    ...(defaultInterface === undefined ? {} : { defaultInterface }),
    clock: now().getTime() / 1000,
    disks: await disksOf(source),
    listeners: await listenersOf(source),
    build,
    revision,
    edition,
    installation,
    containersFeature,
    hyperVFeature,
    rebootPending,
    adapters: adapters.map(({ name, up, virtual }) => ({ name, up, virtual })),
    networks: await networksOf(source),
    metadataRoutes: metadataDestinations.filter((destination) => reached.has(destination)),
    foreignServices: await foreignServicesOf(source),
  }
  return factsFormat.newest.schema.parse({ apiVersion: 'hyperkube.dev/v1', kind: 'Facts', host, system })
}

/** Whose they are is known of our own programs alone, and that is all that anybody asks. */
async function listenersOf({ operations, base }: WindowsSource): Promise<WindowsFacts['listeners']> {
  const own = new Map(
    (await operations.processes.list({ below: base })).map(({ id, program }) => [
      id,
      win32.parse(program).name,
    ]),
  )
  const found = new Map(
    (await operations.ports.list({})).map(({ port, process }) => [port, own.get(process)]),
  )
  return [...found]
    .toSorted(([a], [b]) => a - b)
    .map(([port, process]) => ({ port, ...(process === undefined ? {} : { process }) }))
}

/** None while HNS does not run. */
async function networksOf({ operations }: WindowsSource): Promise<WindowsFacts['networks']> {
  const [hns] = await operations.services.list({ names: ['hns'] })
  if (hns?.state !== 'Running') return []
  return (await operations.networks.list({})).map(({ name, type, managementAddress, adapter, subnets }) => ({
    name,
    type,
    ...(managementAddress === undefined ? {} : { managementAddress }),
    ...(adapter === undefined ? {} : { adapter }),
    subnets,
  }))
}
