import { win32 } from 'node:path'
import { type BareFacts, bareFactsFormat } from '../../../contract/basic-facts.ts'
import { watchedWindowsServices } from '../../../contract/windows-services.ts'
import { programIn } from '../../windows/scm/service-spec.ts'
import type { BareSource, WindowsFacts, WindowsSource } from './source.ts'

/** What needs no PowerShell: what Node knows, and what the manager of services says. */
export async function bareWindowsFacts(source: BareSource, host: string): Promise<BareFacts> {
  const { hostname, arch, cpus, memoryBytes, release, now } = source
  return bareFactsFormat.newest.schema.parse({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'BareFacts',
    host,
    system: {
      os: 'windows',
      hostname,
      arch: archOf(arch),
      cpus,
      memoryBytes,
      addresses: addressesOf(source),
      clock: now().getTime() / 1000,
      disks: await disksOf(source),
      build: Number(release.split('.')[2] ?? 0),
      foreignServices: await foreignServicesOf(source),
    },
  })
}

export function archOf(arch: string): WindowsFacts['arch'] {
  return arch === 'arm64' ? 'arm64' : 'amd64'
}

/** The drive that all of ours is on. */
export async function disksOf({ base, space }: WindowsSource): Promise<WindowsFacts['disks']> {
  const { root: path } = win32.parse(base)
  const found = await space(path)
  return found === undefined ? [] : [{ path, ...found }]
}

/** By their names, and not of our making. */
export async function foreignServicesOf({ operations, base }: WindowsSource): Promise<string[]> {
  const start = `${base.toLowerCase()}\\`
  const found = await operations.services.list({ names: [...watchedWindowsServices] })
  return found.filter((one) => !programIn(one).toLowerCase().startsWith(start)).map(({ name }) => name)
}

function addressesOf({ interfaces }: BareSource): WindowsFacts['addresses'] {
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
