import type { Ledger } from '../../contract/ledger.ts'
import { keptNames, parseImage } from '../../contract/image-reference.ts'
import type { Host } from '../host/host.ts'
import { join } from '../host/host-path.ts'
import { programName } from '../host/program-name.ts'

/** Which component the runtime is. */
export const runtimeComponent = 'containerd'

/** The programs by which images are looked at and brought. */
export interface ImageTools {
  readonly ctr: string
  readonly crictl: string
}

/** They come with the runtime. Of two versions the newer one is the one that stays. */
export function imageTools(host: Pick<Host, 'os'>, { things }: Ledger): ImageTools | undefined {
  const directoryOf = (program: string): string | undefined =>
    things
      .flatMap((thing) => (thing.target === 'artifact' ? [thing] : []))
      .findLast(({ name }) => name.startsWith(`${program}-`))?.directory
  const [runtime, client] = [directoryOf(runtimeComponent), directoryOf('crictl')]
  if (runtime === undefined) return undefined
  const ctr = join(runtime, programName(host, 'ctr'))
  // On Windows the runtime's own program pulls as well.
  if (host.os === 'windows') return { ctr, crictl: ctr }
  return client === undefined ? undefined : { ctr, crictl: join(client, 'crictl') }
}

/** What the runtime has of some images, by every name that one is kept under; nothing when it does not run. */
export async function findImages(
  { files, images, layout }: Host,
  { ctr }: ImageTools,
  references: readonly string[],
): Promise<ReadonlyMap<string, string> | undefined> {
  const { runtimeSocket: socket } = layout
  if (socket !== undefined && (await files.stat(socket)) === undefined) return undefined
  return images.find(ctr, [...new Set(references.flatMap(keptNames))])
}

/** Names that are missing, and names that stand for something else. Without a digest any image of the name will do. */
export function wrongNames(
  reference: string,
  there: ReadonlyMap<string, string>,
): { readonly missing: readonly string[]; readonly other: readonly string[] } {
  const digest = parseImage(reference)?.digest
  const names = keptNames(reference)
  return {
    missing: names.filter((name) => !there.has(name)),
    other: names.filter((name) => there.has(name) && digest !== undefined && there.get(name) !== digest),
  }
}
