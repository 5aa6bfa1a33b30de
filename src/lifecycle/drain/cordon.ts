import { HyperkubeError } from '../../kit/errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { find } from '../../kube/read-objects.ts'
import type { CallOptions } from '../../kube/request.ts'
import { merge } from '../../kube/write-objects.ts'
import { type Node, nodeKind } from '../cluster-objects/node.ts'

/** Says by whom of us a node was cordoned, and why. Without it, it was somebody else. */
export const cordonMark = 'hyperkube.dev/cordoned'

/** Whose cordon a node has. */
export type Cordon = 'none' | 'ours' | 'others'

export function cordonOf({ metadata, spec }: Node): Cordon {
  if (spec?.unschedulable !== true) return 'none'
  return metadata.annotations?.[cordonMark] === undefined ? 'others' : 'ours'
}

/** Has a node take no new pods. A cordon that is there already stays whose it is. */
export async function cordon(
  api: KubeClient,
  name: string,
  why: string,
  options: CallOptions = {},
): Promise<void> {
  await change(api, name, options, (node) =>
    cordonOf(node) === 'none' ? { mark: why, unschedulable: true } : undefined,
  )
}

export interface UncordonOptions extends CallOptions {
  /** Also where it was somebody else who cordoned it. */
  readonly force?: boolean
}

/** Takes our cordon away. One that an administrator had set before stays. */
export async function uncordon(
  api: KubeClient,
  name: string,
  { force = false, ...options }: UncordonOptions = {},
): Promise<void> {
  await change(api, name, options, (node) => {
    const isMarked = node.metadata.annotations?.[cordonMark] !== undefined
    return isMarked || (force && cordonOf(node) === 'others')
      ? { mark: null, unschedulable: null }
      : undefined
  })
}

interface Change {
  /** Null takes it away. */
  readonly mark: string | null
  readonly unschedulable: true | null
}

const turns = 10

/** Looks again when somebody else has changed the node in between, or nobody knows what became of the change. */
async function change(
  api: KubeClient,
  name: string,
  options: CallOptions,
  decide: (node: Node) => Change | undefined,
): Promise<void> {
  for (let turn = 1; ; turn++) {
    const node = await nodeNamed(api, name, options)
    const wish = decide(node)
    if (wish === undefined) return
    const { resourceVersion } = node.metadata
    const patch = {
      metadata: { annotations: { [cordonMark]: wish.mark }, resourceVersion },
      spec: { unschedulable: wish.unschedulable },
    }
    try {
      await merge(api, nodeKind, { name }, patch, options)
      return
    } catch (error) {
      const isUncertain = isKubeError(error, 'KUBE_CONFLICT') || isKubeError(error, 'KUBE_UNREACHABLE')
      if (!isUncertain || turn === turns) throw error
    }
  }
}

/** Fails where there is none. */
export async function nodeNamed(api: KubeClient, name: string, options: CallOptions = {}): Promise<Node> {
  const node = await find(api, nodeKind, { name }, options)
  if (node === undefined) throw noNode(name)
  return node
}

export function noNode(name: string): HyperkubeError {
  return new HyperkubeError('NODE_UNKNOWN', `the cluster has no node ${name}`, {
    hint: 'kubectl get nodes shows those that it has',
  })
}
