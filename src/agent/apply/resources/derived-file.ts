import type { DerivedFile } from '../../../contract/component-plan.ts'
import type { Host } from '../../host/host.ts'
import {
  recordFileBefore,
  inspectFile,
  writePlannedFile,
  sha256Hex,
  removePlannedFile,
} from '../planned-file.ts'
import { renderDerived } from '../render-derived.ts'
import type { ResourceHandler, MakeContext } from '../resource-handler.ts'
import { waitFor } from '../wait-for.ts'

export const derivedFileHandler: ResourceHandler<'derived-file', DerivedFile> = {
  target: 'derived-file',
  findSpec: ({ derivedFiles }, name) => derivedFiles.find(({ path }) => path === name),

  /**
   * Compares with the current source. If the source is missing, as after a boot, compares with the recorded
   * digest.
   */
  async inspect({ name, owner, mode, from, template, sha256 }, { host }) {
    const text = await tryRender(host, { from, template })
    const desiredSha256 = text === undefined ? sha256 : sha256Hex(text)
    const state = await inspectFile(host, name, { owner, mode, sha256: desiredSha256 })
    // An interrupted run leaves the digest that was recorded before the write; after a boot the file would be
    // compared with that.
    return state === 'as-written' && desiredSha256 !== sha256
      ? { drift: 'it was written, and not written down' }
      : state
  },

  async recordBefore({ from, template, ...spec }, context) {
    // The final content is not known yet.
    const record = await recordFileBefore({ ...spec, content: Buffer.from(template) }, context)
    return record && { ...context.head, target: 'derived-file', from, template, ...record }
  },

  async make({ path, owner, mode, from, template }, context, previous) {
    const content = Buffer.from(await waitForRendered({ from, template }, context))
    const { changed, record } = await writePlannedFile({ path, owner, mode, content }, context, previous)
    return { changed, resource: { ...context.head, target: 'derived-file', from, template, ...record } }
  },

  remove: async (resource, context) => removePlannedFile(resource.name, resource, context),
}

type Source = Pick<DerivedFile, 'from' | 'template'>

async function tryRender({ files }: Host, { from, template }: Source): Promise<string | undefined> {
  const text = await files.read(from)
  return text === undefined ? undefined : renderDerived(template, text.toString('utf8'))
}

/** The writer of the source may wait for other services, so this waits and emits waiting events. */
async function waitForRendered(
  source: Source,
  { host, component, emit, signal }: MakeContext,
): Promise<string> {
  return waitFor(
    async () => {
      const text = await tryRender(host, source)
      return text === undefined ? { for: `${source.from}, which ${component.name} writes` } : { found: text }
    },
    { clock: host.clock, signal, emit: (what) => emit(what, component.name) },
  )
}
