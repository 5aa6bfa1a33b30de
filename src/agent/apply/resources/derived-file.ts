import type { DerivedFile } from '../../../contract/component-plan.ts'
import type { Host } from '../../host/host.ts'
import { foreseeFile, inspectFile, putFile, sha256Of, takeFile } from '../planned-file.ts'
import { renderDerived } from '../render-derived.ts'
import type { Target, Work } from '../resource-handler.ts'
import { waitFor } from '../wait-for.ts'

export const derivedFile: Target<'derived-file', DerivedFile> = {
  target: 'derived-file',
  wish: ({ derivedFiles }, name) => derivedFiles.find(({ path }) => path === name),

  /** Against its source as it is now; where that is gone, as after a boot, against what was made of it. */
  async inspect({ name, owner, mode, from, template, sha256 }, { host }) {
    const text = await renderNow(host, { from, template })
    const wished = text === undefined ? sha256 : sha256Of(text)
    const state = await inspectFile(host, name, { owner, mode, sha256: wished })
    // Who died between the two has left what was foreseen: after a boot that would be what it is held against.
    return state === 'as-written' && wished !== sha256
      ? { drift: 'it was written, and not written down' }
      : state
  },

  async foresee({ from, template, ...wish }, work) {
    // What will be in it is not known yet.
    const record = await foreseeFile({ ...wish, content: Buffer.from(template) }, work)
    return record && { ...work.head, target: 'derived-file', from, template, ...record }
  },

  async make({ path, owner, mode, from, template }, work, former) {
    const content = Buffer.from(await renderedText({ from, template }, work))
    const { changed, record } = await putFile({ path, owner, mode, content }, work, former)
    return { changed, thing: { ...work.head, target: 'derived-file', from, template, ...record } }
  },

  remove: async (thing, scene) => takeFile(thing.name, thing, scene),
}

type Source = Pick<DerivedFile, 'from' | 'template'>

async function renderNow({ files }: Host, { from, template }: Source): Promise<string | undefined> {
  const text = await files.read(from)
  return text === undefined ? undefined : renderDerived(template, text.toString('utf8'))
}

/** Whoever writes the source may wait for others: we wait for it, and say so. */
async function renderedText(source: Source, { host, component, emit, signal }: Work): Promise<string> {
  return waitFor(
    async () => {
      const text = await renderNow(host, source)
      return text === undefined ? { for: `${source.from}, which ${component.name} writes` } : { found: text }
    },
    { clock: host.clock, signal, tell: (what) => emit(what, component.name) },
  )
}
