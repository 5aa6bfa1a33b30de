import { win32 } from 'node:path'
import { type BasicFacts, basicFactsFormat, type Facts, factsFormat } from '../../../contract/facts.ts'
import { watchedWindowsServices } from '../../../contract/windows-host.ts'
import { metadataDestinations } from '../../../contract/windows-network.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { parseProgramPath } from '../../host/windows/service-control-manager.ts'
import type { BasicWindowsFactSource, WindowsFacts, WindowsFactSource } from './source.ts'

/**
 * Collects all facts of a Windows host, one after the other, because its operations run in sequence anyway.
 */
export async function collectWindowsFacts(source: WindowsFactSource, host: string): Promise<Facts> {
  const { operations, arch, cpus, memoryBytes, now } = source
  const systemInfo = await operations.system.describe({})
  if (systemInfo === undefined)
    throw new HyperkubeError('FACTS_NOT_TAKEN', 'Windows returned no system information')
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
 * Reads the listening ports. The program of a port is reported only if hyperkube installed it, because no
 * check needs the names of other programs.
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

/** Collects the facts that need no PowerShell, from Node.js and the service control manager. */
export async function collectBasicWindowsFacts(
  source: BasicWindowsFactSource,
  host: string,
): Promise<BasicFacts> {
  const { hostname, arch, cpus, memoryBytes, release, now } = source
  return basicFactsFormat.newest.schema.parse({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'BasicFacts',
    host,
    system: {
      os: 'windows',
      hostname,
      arch: toArch(arch),
      cpus,
      memoryBytes,
      addresses: toAddresses(source),
      clock: now().getTime() / 1000,
      disks: await readWindowsDisks(source),
      build: Number(release.split('.')[2] ?? 0),
      foreignServices: await findForeignWindowsServices(source),
    },
  })
}

function toArch(arch: string): WindowsFacts['arch'] {
  return arch === 'arm64' ? 'arm64' : 'amd64'
}

/** Reads the space on the drive that contains the base directory. */
async function readWindowsDisks({ base, space }: WindowsFactSource): Promise<WindowsFacts['disks']> {
  const { root: path } = win32.parse(base)
  const found = await space(path)
  return found === undefined ? [] : [{ path, ...found }]
}

/** Lists the services in `watchedWindowsServices` whose program is outside the base directory. */
async function findForeignWindowsServices({ operations, base }: WindowsFactSource): Promise<string[]> {
  const prefix = `${base.toLowerCase()}\\`
  const found = await operations.services.list({ names: [...watchedWindowsServices] })
  return found
    .filter((one) => !parseProgramPath(one).toLowerCase().startsWith(prefix))
    .map(({ name }) => name)
}

function toAddresses({ interfaces }: BasicWindowsFactSource): WindowsFacts['addresses'] {
  return Object.entries(interfaces()).flatMap(([name, all = []]) =>
    all
      .filter(({ internal }) => !internal)
      .map(({ address, cidr }) => ({
        interface: name,
        address,
        prefix: Number(cidr?.split('/')[1] ?? 0),
      })),
  )
}
