import { win32 } from 'node:path'
import { type BasicFacts, basicFactsFormat } from '../../../contract/basic-facts.ts'
import { watchedWindowsServices } from '../../../contract/windows-services.ts'
import { parseProgramPath } from '../../windows/scm/service-spec.ts'
import type { BasicWindowsFactSource, WindowsFacts, WindowsFactSource } from './source.ts'

/** Collects the facts that need no PowerShell, from Node and the service control manager. */
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

export function toArch(arch: string): WindowsFacts['arch'] {
  return arch === 'arm64' ? 'arm64' : 'amd64'
}

/** Reads the space on the drive that contains the base directory. */
export async function readWindowsDisks({ base, space }: WindowsFactSource): Promise<WindowsFacts['disks']> {
  const { root: path } = win32.parse(base)
  const found = await space(path)
  return found === undefined ? [] : [{ path, ...found }]
}

/** Lists watched services whose program is outside the base directory. */
export async function findForeignWindowsServices({ operations, base }: WindowsFactSource): Promise<string[]> {
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
