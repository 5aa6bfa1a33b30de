import type { Ledger } from '../../contract/ledger.ts'
import { listRuntimeNames, parseImage } from '../../contract/image-reference.ts'
import type { Host } from '../host/host.ts'
import { join } from '../host/host-path.ts'
import { programName } from '../host/program-name.ts'

/** Name of the component that is the container runtime. */
export const runtimeComponent = 'containerd'

/** Paths of the programs that inspect and pull images. */
export interface ImageTools {
  readonly ctr: string
  readonly crictl: string
}

/**
 * Finds the programs in the artifacts of the ledger. If two versions are present, the one that was added last
 * is used.
 */
export function findImageTools(host: Pick<Host, 'os'>, { resources }: Ledger): ImageTools | undefined {
  const findDirectory = (program: string): string | undefined =>
    resources
      .flatMap((resource) => (resource.target === 'artifact' ? [resource] : []))
      .findLast(({ name }) => name.startsWith(`${program}-`))?.directory
  const [runtime, client] = [findDirectory(runtimeComponent), findDirectory('crictl')]
  if (runtime === undefined) return undefined
  const ctr = join(runtime, programName(host, 'ctr'))
  // On Windows `ctr` also pulls images.
  if (host.os === 'windows') return { ctr, crictl: ctr }
  return client === undefined ? undefined : { ctr, crictl: join(client, 'crictl') }
}

/**
 * Finds the digests of images in the container runtime, keyed by every name under which the runtime stores
 * them. Undefined if the runtime does not run.
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
 * Lists the names of an image that are missing in the runtime, and those that refer to another image. If
 * `reference` has no digest, any image with the name is accepted.
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
