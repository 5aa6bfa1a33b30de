import { listRuntimeNames, parseImage } from '../../contract/image-reference.ts'
import type { Ledger } from '../../contract/ledger.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { join } from '../host/host-path.ts'
import { type Host, programName } from '../host/host.ts'
import { findDeliveredArchive } from './download.ts'
import { buildPullError } from './pull-error.ts'
import {
  type InspectContext,
  type MakeContext,
  type ResourceHandler,
  type ResourceObservation,
  wasAbsent,
  wasRemoved,
} from './resource-handler.ts'

/**
 * Handler for images that must be present, with the planned digest, before a pod needs them. The images are
 * pinned, so that the kubelet does not delete an image that can perhaps not be pulled again.
 */
export const imageHandler: ResourceHandler<'image', string> = {
  target: 'image',
  findSpec: ({ images }, name) => images.find((one) => one === name),

  async inspect({ name }, context) {
    const digests = context.images ?? (await queryImages([name], context))
    return digests === undefined ? 'as-written' : compareImage(name, digests)
  },

  async make(name, context) {
    const { host, head, ledger, component } = context
    const tools = findImageTools(host, ledger)
    const digests = tools && (await findImages(host, tools, [name]))
    if (tools === undefined || digests === undefined) {
      throw new HyperkubeError('IMAGE_NO_RUNTIME', `cannot load ${name}: containerd does not respond`, {
        component: component.name,
        hint: `on the host: ${host.os === 'linux' ? 'systemctl status' : 'sc.exe query'} containerd`,
      })
    }
    const isPresent = compareImage(name, digests) === 'as-written'
    if (!isPresent) await loadOrPull(name, tools, context)
    return { changed: !isPresent, resource: { ...head, target: 'image' } }
  },

  async remove({ name }, { host, ledger }) {
    const tools = findImageTools(host, ledger)
    const digests = tools && (await findImages(host, tools, [name]))
    if (tools === undefined || digests === undefined) return wasAbsent
    const others = ledger.resources.filter(
      (resource) => resource.target === 'image' && resource.name !== name,
    )
    const needed = new Set(others.flatMap((resource) => listRuntimeNames(resource.name)))
    // Pods may still use the image, so it is only unpinned. The kubelet deletes unused images.
    const free = listRuntimeNames(name).filter((one) => digests.has(one) && !needed.has(one))
    for (const one of free) await host.images.unpin(tools.ctr, one)
    return free.length === 0 ? wasAbsent : wasRemoved
  },
}

async function queryImages(
  names: readonly string[],
  { host, ledger }: InspectContext,
): Promise<ReadonlyMap<string, string> | undefined> {
  const tools = findImageTools(host, ledger)
  return tools && findImages(host, tools, names)
}

function compareImage(name: string, digests: ReadonlyMap<string, string>): ResourceObservation {
  const { missing, other } = findWrongNames(name, digests)
  if (missing.length === listRuntimeNames(name).length) return 'absent'
  if (other.length > 0) return { drift: `${other.join(' and ')} is another image` }
  return missing.length > 0 ? { drift: `missing: ${missing.join(' and ')}` } : 'as-written'
}

/**
 * Loads the uploaded archive of an image. If no archive was uploaded, pulls the image from the registries in
 * the container runtime's configuration.
 */
async function loadOrPull(name: string, tools: ImageTools, context: MakeContext): Promise<void> {
  const { host, signal } = context
  const { images } = host
  const [own = name, ...others] = listRuntimeNames(name)
  const archive = await findDeliveredArchive(host, name)
  if (archive !== undefined) {
    await images.load(tools.ctr, archive, signal)
    return
  }
  await images.pull(tools.crictl, own, signal).catch((cause: unknown) => {
    signal.throwIfAborted()
    throw buildPullError(name, cause)
  })
  await images.pin(tools.ctr, own)
  for (const other of others) await images.rename(tools.ctr, own, other)
}

/** Name of the component that is the container runtime. */
export const runtimeComponent = 'containerd'

/** Paths of the programs that inspect and pull images. */
interface ImageTools {
  readonly ctr: string
  readonly crictl: string
}

/**
 * Finds ctr and crictl in the artifacts of the ledger. If two versions are present, the version that was
 * added last is used.
 */
export function findImageTools(host: Pick<Host, 'os'>, { resources }: Ledger): ImageTools | undefined {
  const findDirectory = (program: string): string | undefined =>
    resources
      .flatMap((resource) => (resource.target === 'artifact' ? [resource] : []))
      .findLast(({ name }) => name.startsWith(`${program}-`))?.directory
  const [runtime, client] = [findDirectory(runtimeComponent), findDirectory('crictl')]
  if (runtime === undefined) return undefined
  const ctr = join(runtime, programName(host, 'ctr'))
  // On Windows `ctr` also pulls images, so crictl is not needed.
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
 * Lists the names of an image that are missing in the runtime, and the names that refer to another image. If
 * `reference` has no digest, any image with the name is accepted.
 */
function findWrongNames(
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
