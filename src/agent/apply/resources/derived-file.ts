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
   * Compares the file with its current source. If the source is missing, as after a boot, compares it with
   * the recorded digest.
   */
  async inspect({ name, owner, mode, from, template, sha256 }, { host }) {
    const text = await tryRender(host, { from, template })
    const desiredSha256 = text === undefined ? sha256 : sha256Hex(text)
    const state = await inspectFile(host, name, { owner, mode, sha256: desiredSha256 })
    // The ledger still has the digest from before an interrupted write. Report drift, so that the new digest
    // is recorded; otherwise the comparison after a boot would fail.
    return state === 'as-written' && desiredSha256 !== sha256
      ? { drift: 'it was written, and not written down' }
      : state
  },

  async recordBefore({ from, template, ...spec }, context) {
    // The final content is not known yet, so the digest of the template is recorded.
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

/** Waits until the source is complete. The program that writes it may itself wait for other services. */
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
