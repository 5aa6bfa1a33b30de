import { basename, dirname } from '../host/host-path.ts'
import type { PlannedFile } from '../../contract/component-plan.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Host } from '../host/host.ts'
import { recordFileBefore, inspectFile, writePlannedFile, removePlannedFile } from './planned-file.ts'
import type { ResourceHandler, MakeContext } from './resource-handler.ts'

export const fileHandler: ResourceHandler<'file', PlannedFile> = {
  target: 'file',
  findSpec: ({ files }, name) => files.find(({ path }) => path === name),

  // Compares only the digest, so the content of a secret file is not needed here.
  inspect: async ({ name, owner, mode, sha256 }, { host }) =>
    inspectFile(host, name, { owner, mode, sha256 }),

  async recordBefore(spec, context) {
    const record = await recordFileBefore({ ...spec, content: resolveContent(spec, context) }, context)
    return record && { ...context.head, target: 'file', ...record }
  },

  async make(spec, context, previous) {
    const { host, head } = context
    const { path } = spec
    const { changed, record } = await writePlannedFile(
      { ...spec, content: resolveContent(spec, context) },
      context,
      previous,
    )
    await reloadIfUnit(host, path)
    return { changed, resource: { ...head, target: 'file', ...record } }
  },

  async remove(resource, context) {
    const { host } = context
    const isUnit = host.os === 'linux' && dirname(resource.name) === host.layout.units
    if (isUnit) await host.services.stop(basename(resource.name))
    const outcome = await removePlannedFile(resource.name, resource, context)
    await reloadIfUnit(host, resource.name)
    if (isUnit) await host.services.forget(basename(resource.name))
    return outcome
  },
}

function resolveContent({ content, path }: PlannedFile, { secrets, component }: MakeContext): Uint8Array {
  if (content.kind === 'text') return Buffer.from(content.text)
  const secret = secrets.get(content.secret)
  if (secret !== undefined) return secret.reveal()
  throw new HyperkubeError('APPLY_NO_SECRET', `the operator sent no secret ${content.secret} for ${path}`, {
    component: component.name,
    hint: 'run the same command in the directory of cluster.identity, which holds the secrets',
  })
}

/**
 * Reloads systemd if the file is a slice or a drop-in, which are plain files in the plan. Also reloads for an
 * unchanged file, because a run may have been interrupted between write and reload.
 */
async function reloadIfUnit(host: Host, path: string): Promise<void> {
  if (host.os !== 'linux') return
  const { services, layout } = host
  if ([dirname(path), dirname(dirname(path))].includes(layout.units)) await services.reload()
}
