import { win32 } from 'node:path'
import { metadataDestinations } from '../../../contract/cloud-metadata.ts'
import { type Facts, factsFormat } from '../../../contract/facts.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { toArch, readWindowsDisks, findForeignWindowsServices } from './basic.ts'
import type { WindowsFacts, WindowsFactSource } from './source.ts'

/**
 * Collects all facts of a Windows host, one after the other, because its operations run in sequence anyway.
 */
export async function collectWindowsFacts(source: WindowsFactSource, host: string): Promise<Facts> {
  const { operations, arch, cpus, memoryBytes, now } = source
  const systemInfo = await operations.system.describe({})
  if (systemInfo === undefined) throw new HyperkubeError('FACTS_NOT_TAKEN', 'Windows says nothing of itself')
  const { hostname, machineId, build, revision, edition, installation } = systemInfo
  const { containersFeature, hyperVFeature, rebootPending } = systemInfo
  const adapters = await operations.adapters.list({})
  const routes = await operations.routes.list({ destinations: ['0.0.0.0/0', ...metadataDestinations] })
  const defaultRoute = routes
    .filter(({ destination }) => destination === '0.0.0.0/0')
    .toSorted((a, b) => a.metric - b.metric)[0]
  const defaultInterface = adapters.find(({ index }) => index === defaultRoute?.interfaceIndex)?.name
  const routedDestinations = new Set(routes.map(({ destination }) => destination))
  const system: WindowsFacts = {
    os: 'windows',
    hostname,
    machineId,
    arch: toArch(arch),
    cpus,
    memoryBytes,
    addresses: adapters.flatMap(({ name, addresses }) =>
      addresses.map(({ address, prefix }) => ({ interface: name, address, prefix })),
    ),
    ...(defaultInterface === undefined ? {} : { defaultInterface }),
    clock: now().getTime() / 1000,
    disks: await readWindowsDisks(source),
    listeners: await readWindowsListeners(source),
    build,
    revision,
    edition,
    installation,
    containersFeature,
    hyperVFeature,
    rebootPending,
    adapters: adapters.map(({ name, up, virtual }) => ({ name, up, virtual })),
    networks: await readWindowsNetworks(source),
    metadataRoutes: metadataDestinations.filter((destination) => routedDestinations.has(destination)),
    foreignServices: await findForeignWindowsServices(source),
  }
  return factsFormat.newest.schema.parse({ apiVersion: 'hyperkube.dev/v1', kind: 'Facts', host, system })
}

/**
 * Reads the listening ports. The program is reported only for hyperkube's own ones, because no check needs
 * others.
 */
async function readWindowsListeners({
  operations,
  base,
}: WindowsFactSource): Promise<WindowsFacts['listeners']> {
  const programsByPid = new Map(
    (await operations.processes.list({ below: base })).map(({ id, program }) => [
      id,
      win32.parse(program).name,
    ]),
  )
  const found = new Map(
    (await operations.ports.list({})).map(({ port, process }) => [port, programsByPid.get(process)]),
  )
  return [...found]
    .toSorted(([a], [b]) => a - b)
    .map(([port, process]) => ({ port, ...(process === undefined ? {} : { process }) }))
}

/** Reads the HNS networks; empty while HNS is not running. */
async function readWindowsNetworks({ operations }: WindowsFactSource): Promise<WindowsFacts['networks']> {
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
