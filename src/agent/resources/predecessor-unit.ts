import type { UnitRecord } from '../../contract/predecessor.ts'
import { join } from '../host/host-path.ts'
import type { LinuxHost } from '../host/host.ts'
import { removeWrittenFiles } from './predecessor-data.ts'
import { removeIfEmpty } from './resource-paths.ts'
import {
  type MakeContext,
  type RemoveResult,
  type ResourceObservation,
  wasAbsent,
  wasRemoved,
} from './resource-handler.ts'

type DropIn = UnitRecord['dropIns'][number]

/** Directories in which packages install units. Files of the administrator have priority over them. */
const packageDirectories = [
  '/run/systemd/system',
  '/usr/local/lib/systemd/system',
  '/usr/lib/systemd/system',
  '/lib/systemd/system',
]

/** Target of a link that hides a file of the same name in a directory of packages. */
const masked = '/dev/null'

/**
 * Reads what a host needs to return to a unit. The unit file itself is no part of it, because the service of
 * the component keeps a backup.
 */
export async function recordUnit(
  unit: string,
  { host, ledger }: MakeContext<LinuxHost>,
): Promise<UnitRecord> {
  const { files, services, layout } = host
  const directory = join(layout.units, `${unit}.d`)
  const state = await services.show(unit)
  const link = await files.readLink(join(layout.units, 'multi-user.target.wants', unit))
  const own = new Set(ledger.resources.map(({ name }) => name))
  const existing: string[] = []
  for (const name of await listDropIns(host, directory)) {
    const path = join(directory, name)
    if (!own.has(path) && (await files.readLink(path)) !== masked) existing.push(name)
  }
  const packaged = new Set<string>()
  for (const root of packageDirectories)
    for (const name of await listDropIns(host, join(root, `${unit}.d`))) packaged.add(name)
  const names = [...new Set([...existing, ...packaged])].toSorted()
  return {
    kind: 'unit',
    unit,
    running: state.active === 'active',
    enabled: state.enabled,
    ...(link === undefined ? {} : { link }),
    dropIns: names.map((name): DropIn => {
      const path = join(directory, name)
      return {
        path,
        ...(existing.includes(name) ? { backup: `${path}.before-hyperkube` } : {}),
        masked: packaged.has(name),
      }
    }),
    createdDirectory: (await files.stat(directory)) === undefined,
  }
}

async function listDropIns({ files }: LinuxHost, directory: string): Promise<string[]> {
  return ((await files.list(directory)) ?? [])
    .map(({ name }) => name)
    .filter((name) => name.endsWith('.conf'))
}

export async function inspectReplacedUnit(
  host: LinuxHost,
  { dropIns }: UnitRecord,
): Promise<ResourceObservation> {
  for (const dropIn of dropIns)
    if (!(await isHidden(host, dropIn))) return { drift: `${dropIn.path} changes the unit of hyperkube` }
  return 'as-written'
}

async function isHidden({ files }: LinuxHost, { path, masked: isMasked }: DropIn): Promise<boolean> {
  return isMasked ? (await files.readLink(path)) === masked : (await files.stat(path)) === undefined
}

/**
 * Hides the drop-in files of a unit. The unit is not stopped here: the service of the component restarts it,
 * so it is down for as short as possible.
 */
export async function replaceUnit(host: LinuxHost, record: UnitRecord, isKept: boolean): Promise<boolean> {
  const { files, layout } = host
  let changed = false
  for (const dropIn of record.dropIns) {
    const { path, backup } = dropIn
    if (!(await isHidden(host, dropIn))) {
      changed = true
      const isForeign = (await files.stat(path)) !== undefined
      if (backup !== undefined && isForeign) await files.rename(path, backup)
      const directory = join(layout.units, `${record.unit}.d`)
      if ((await files.stat(directory)) === undefined)
        await files.makeDirectory(directory, { uid: 0, gid: 0, mode: 0o755 })
      if (dropIn.masked) await files.makeLink(path, masked)
    }
    if (!isKept && backup !== undefined) changed = (await files.remove(backup)) || changed
  }
  return changed
}

/** Makes the drop-in files of packages effective again. */
export async function revealPackageDropIns(host: LinuxHost, record: UnitRecord): Promise<RemoveResult> {
  const { files, layout } = host
  for (const { path } of record.dropIns) if ((await files.readLink(path)) === masked) await files.remove(path)
  const directory = join(layout.units, `${record.unit}.d`)
  if (record.createdDirectory) await removeIfEmpty(host, directory)
  return record.dropIns.length === 0 ? wasAbsent : wasRemoved
}

/** Restores the drop-in files, enables the unit if it was enabled, and starts it if it was running. */
export async function restoreUnit(host: LinuxHost, record: UnitRecord): Promise<RemoveResult> {
  const { files, services, layout } = host
  const { unit, dropIns, enabled, link, running } = record
  await revealPackageDropIns(host, record)
  for (const { path, backup } of dropIns)
    if (backup !== undefined && (await files.stat(backup)) !== undefined) await files.rename(backup, path)
  await removeWrittenFiles(host, unit.replace(/\.service$/, ''))
  if (link !== undefined) await files.makeLink(join(layout.units, 'multi-user.target.wants', unit), link)
  else if (enabled) await services.enable([unit])
  await services.reload()
  if (running) await services.start(unit)
  return wasRemoved
}
