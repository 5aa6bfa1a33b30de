import type { Ledger } from '../../contract/ledger.ts'
import { listRuntimeNames, parseImage } from '../../contract/image-reference.ts'
import type { Host } from '../host/host.ts'
import { join } from '../host/host-path.ts'
import { programName } from '../host/program-name.ts'

/** The component that is the container runtime. */
export const runtimeComponent = 'containerd'

/** Paths of the programs that inspect and pull images. */
export interface ImageTools {
  readonly ctr: string
  readonly crictl: string
}

/** The programs come with the runtime. If two versions are present, the newer one stays. */
export function findImageTools(host: Pick<Host, 'os'>, { resources }: Ledger): ImageTools | undefined {
  const findDirectory = (program: string): string | undefined =>
    resources
      .flatMap((resource) => (resource.target === 'artifact' ? [resource] : []))
      .findLast(({ name }) => name.startsWith(`${program}-`))?.directory
  const [runtime, client] = [findDirectory(runtimeComponent), findDirectory('crictl')]
  if (runtime === undefined) return undefined
  const ctr = join(runtime, programName(host, 'ctr'))
  // On Windows `ctr` pulls as well.
  if (host.os === 'windows') return { ctr, crictl: ctr }
  return client === undefined ? undefined : { ctr, crictl: join(client, 'crictl') }
}

/**
 * Digests of images in the runtime, by every name under which one is kept; undefined if the runtime does not
 * run.
 */
export async function findImages(
  { files, images, layout }: Host,
  { ctr }: ImageTools,
  references: readonly string[],
): Promise<ReadonlyMap<string, string> | undefined> {
  const { runtimeSocket: socket } = layout
  if (socket !== undefined && (await files.stat(socket)) === undefined) return undefined
  return images.find(ctr, [...new Set(references.flatMap(listRuntimeNames))])
}

/**
 * Names that are missing, and names that refer to another image. Without a digest any image of that name is
 * accepted.
 */
export function findWrongNames(
  reference: string,
  digests: ReadonlyMap<string, string>,
): { readonly missing: readonly string[]; readonly other: readonly string[] } {
  const digest = parseImage(reference)?.digest
  const names = listRuntimeNames(reference)
  return {
    missing: names.filter((name) => !digests.has(name)),
    other: names.filter((name) => digests.has(name) && digest !== undefined && digests.get(name) !== digest),
  }
}
