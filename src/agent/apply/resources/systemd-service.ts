import { join } from '../../host/host-path.ts'
import type { Service } from '../../../contract/service.ts'
import type { LinuxHost } from '../../host/host.ts'
import {
  type FileRecord,
  type FileWish,
  foreseeFile,
  inspectFile,
  putFile,
  takeFile,
} from '../planned-file.ts'
import { type Target, type Thing } from '../resource-handler.ts'

export type SystemdService = Extract<Service, { supervisor: 'systemd' }>

const access = { owner: 'root', mode: '0644' } as const

/** A unit of systemd, as a file. Whether it runs is looked at, and seen to, on its own. */
export const service: Target<'service', SystemdService, LinuxHost> = {
  target: 'service',
  wish: ({ service: wished }, name) =>
    wished?.supervisor === 'systemd' && wished.name === name ? wished : undefined,

  inspect: async ({ name, sha256 }, { host }) =>
    inspectFile(host, unitFile(host, name), { ...access, sha256 }),

  async foresee({ name, unit }, work) {
    const { host, head } = work
    const record = await foreseeFile(wishOf(host, name, unit), work)
    // One that we did not know may run already, as what its file said before.
    const runs = (await host.systemd.show(name)).pid !== 0
    const isOther = (await host.files.read(unitFile(host, name)))?.toString('utf8') !== unit
    return (
      record && {
        ...head,
        target: 'service',
        ...recordOf(record),
        started: false,
        unseen: runs && isOther ? [name] : [],
      }
    )
  },

  async make({ name, unit }, work, former) {
    const { host, head } = work
    const { changed, record } = await putFile(
      wishOf(host, name, unit),
      work,
      former && { ...former, ...access, parents: [] },
    )
    // systemd reads it at the next start, which comes in any case.
    const { started = false, unseen = [] } = former ?? {}
    return {
      changed,
      thing: { ...head, target: 'service', ...recordOf(record), started, unseen },
    }
  },

  async remove(thing, scene) {
    const { name } = thing
    const { host } = scene
    const { enabled } = await host.systemd.show(name)
    if (enabled) await host.systemd.disable(name)
    // Where the unit's file was missing, its link is not systemd's any more.
    await host.files.remove(join(host.layout.units, 'multi-user.target.wants', name))
    const outcome = await takeFile(unitFile(host, name), { ...thing, parents: [] }, scene)
    await host.systemd.reload()
    await host.systemd.forget(name)
    return outcome
  },
}

export function unitFile({ layout }: Pick<LinuxHost, 'layout'>, name: string): string {
  return join(layout.units, name)
}

function wishOf(host: LinuxHost, name: string, unit: string): FileWish {
  return { path: unitFile(host, name), content: Buffer.from(unit), ...access }
}

function recordOf({ sha256, kept }: FileRecord): Pick<Thing<'service'>, 'sha256' | 'kept'> {
  return { sha256, kept }
}
