import { keptNames, parseImage } from '../../../contract/image-reference.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { deliveredArchive } from '../delivered.ts'
import { findImages, type ImageTools, imageTools, wrongNames } from '../runtime-images.ts'
import { notThere, removed, type Scene, type State, type Target, type Work } from '../resource-handler.ts'

/**
 * An image that shall be there before anybody asks for it, and be the one that the plan names. The kubelet does not
 * remove it to make room: it may come from nowhere again.
 */
export const image: Target<'image', string> = {
  target: 'image',
  wish: ({ images }, name) => images.find((one) => one === name),

  async inspect({ name }, scene) {
    const there = scene.images ?? (await lookedUp([name], scene))
    return there === undefined ? 'as-written' : stateOf(name, there)
  },

  async make(name, work) {
    const { host, head, ledger, component } = work
    const tools = imageTools(host, ledger)
    const there = tools && (await findImages(host, tools, [name]))
    if (tools === undefined || there === undefined) {
      throw new HyperkubeError('IMAGE_NO_RUNTIME', `${name} cannot be brought: containerd does not answer`, {
        component: component.name,
        hint: `on the host: ${host.os === 'linux' ? 'systemctl status' : 'sc.exe query'} containerd`,
      })
    }
    const is = stateOf(name, there) === 'as-written'
    if (!is) await bring(name, tools, work)
    return { changed: !is, thing: { ...head, target: 'image' } }
  },

  async remove({ name }, { host, ledger }) {
    const tools = imageTools(host, ledger)
    const there = tools && (await findImages(host, tools, [name]))
    if (tools === undefined || there === undefined) return notThere
    const others = ledger.things.filter((thing) => thing.target === 'image' && thing.name !== name)
    const needed = new Set(others.flatMap((thing) => keptNames(thing.name)))
    // Pods may still run of it. Whoever makes room takes what nobody uses.
    const free = keptNames(name).filter((one) => there.has(one) && !needed.has(one))
    for (const one of free) await host.images.release(tools.ctr, one)
    return free.length === 0 ? notThere : removed
  },
}

async function lookedUp(
  names: readonly string[],
  { host, ledger }: Scene,
): Promise<ReadonlyMap<string, string> | undefined> {
  const tools = imageTools(host, ledger)
  return tools && findImages(host, tools, names)
}

function stateOf(name: string, there: ReadonlyMap<string, string>): State {
  const { missing, other } = wrongNames(name, there)
  if (missing.length === keptNames(name).length) return 'absent'
  if (other.length > 0) return { drift: `${other.join(' and ')} is another image` }
  return missing.length > 0 ? { drift: `${missing.join(' and ')} is not there` } : 'as-written'
}

/** From what was delivered, or from where the runtime was told that images come from. */
async function bring(name: string, tools: ImageTools, work: Work): Promise<void> {
  const { host, signal } = work
  const { images } = host
  const [own = name, ...others] = keptNames(name)
  const archive = await deliveredArchive(host, name)
  if (archive !== undefined) {
    await images.load(tools.ctr, archive, signal)
    return
  }
  await images.pull(tools.crictl, own, signal).catch((cause: unknown) => {
    signal.throwIfAborted()
    throw notPulled(name, cause)
  })
  await images.keep(tools.ctr, own)
  for (const other of others) await images.rename(tools.ctr, own, other)
}

function notPulled(name: string, cause: unknown): HyperkubeError {
  const registry = parseImage(name)?.registry ?? 'its registry'
  return new HyperkubeError('IMAGE_NOT_PULLED', `${name} could not be pulled from ${registry}`, {
    hint: `on the host: crictl pull ${name}; spec.registries names mirrors of ${registry}, and a bundle needs none`,
    cause,
  })
}
