import { basename, dirname } from '../../host/host-path.ts'
import type { PlannedFile } from '../../../contract/component-plan.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import type { Host } from '../../host/host.ts'
import { foreseeFile, inspectFile, putFile, takeFile } from '../planned-file.ts'
import type { Target, Work } from '../resource-handler.ts'

export const file: Target<'file', PlannedFile> = {
  target: 'file',
  wish: ({ files }, name) => files.find(({ path }) => path === name),

  // Of a secret nothing but its digest is at hand, and that is enough.
  inspect: async ({ name, owner, mode, sha256 }, { host }) =>
    inspectFile(host, name, { owner, mode, sha256 }),

  async foresee(wish, work) {
    const record = await foreseeFile({ ...wish, content: contentOf(wish, work) }, work)
    return record && { ...work.head, target: 'file', ...record }
  },

  async make(wish, work, former) {
    const { host, head } = work
    const { path } = wish
    const { changed, record } = await putFile({ ...wish, content: contentOf(wish, work) }, work, former)
    await noticeUnit(host, path)
    return { changed, thing: { ...head, target: 'file', ...record } }
  },

  async remove(thing, scene) {
    const { host } = scene
    const isUnit = host.os === 'linux' && dirname(thing.name) === host.layout.units
    if (isUnit) await host.systemd.stop(basename(thing.name))
    const outcome = await takeFile(thing.name, thing, scene)
    await noticeUnit(host, thing.name)
    if (isUnit) await host.systemd.forget(basename(thing.name))
    return outcome
  },
}

function contentOf({ content, path }: PlannedFile, { secrets, component }: Work): Uint8Array {
  if (content.kind === 'text') return Buffer.from(content.text)
  const secret = secrets.get(content.secret)
  if (secret !== undefined) return secret.reveal()
  throw new HyperkubeError('APPLY_NO_SECRET', `the secret ${content.secret} for ${path} did not come along`, {
    component: component.name,
    hint: 'secrets are with the operator: run the same command where the identity of the cluster is',
  })
}

/**
 * A slice is a plain file to us and a unit to systemd, and so is what goes over a unit, in a directory of its name. Also when
 * nothing has changed: who was cut may have left it unread.
 */
async function noticeUnit(host: Host, path: string): Promise<void> {
  if (host.os !== 'linux') return
  const { systemd, layout } = host
  if ([dirname(path), dirname(dirname(path))].includes(layout.units)) await systemd.reload()
}
