import type { ComponentPlan } from '../../../contract/component-plan.ts'
import type { LinuxHost } from '../../host/host.ts'
import { notThere, type Target } from '../target.ts'

/** Where the runtime listens once it runs. */
const socket = '/run/containerd/containerd.sock'

/**
 * An image that a component needs. The runtime fetches by itself what it has not, and looks after what it has: that one
 * is missing is told and no failure. Whoever brings images along will load them here.
 */
export const image: Target<'image', string> = {
  target: 'image',
  wish: ({ images }, name) => images.find((one) => one === name),
  inspect: async () => 'as-written',

  async make(name, { host, head, component, emit }) {
    const there = await imagesOf(host, component)
    if (there !== undefined && !there.has(name)) {
      emit({ type: 'log', lines: [`${name} is not here yet; the runtime will fetch it`] }, component.name)
    }
    return { changed: false, thing: { ...head, target: 'image' } }
  },

  remove: async () => notThere,
}

/** Nothing when the runtime does not run yet, as at the first time. */
async function imagesOf(
  { files, images }: LinuxHost,
  { artifacts }: ComponentPlan,
): Promise<ReadonlySet<string> | undefined> {
  const runtime = artifacts.find(({ name }) => name === 'containerd')
  if (runtime === undefined || (await files.stat(socket)) === undefined) return undefined
  return images.list(`${runtime.directory}/ctr`)
}
