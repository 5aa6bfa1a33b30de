import { HyperkubeError } from '../../kit/errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { findObject } from '../../kube/read-objects.ts'
import type { KubeCallOptions } from '../../kube/request.ts'
import { patchObject } from '../../kube/write-objects.ts'
import { cordonOwnerAnnotation, type Node, nodeKind, rolloutCordonReason } from '../cluster-objects/node.ts'

/** Who has cordoned a node: `ours` means hyperkube, `others` any other user or program. */
export type Cordon = 'none' | 'ours' | 'others'

export function readCordon({ metadata, spec }: Node): Cordon {
  if (spec?.unschedulable !== true) return 'none'
  return metadata.annotations?.[cordonOwnerAnnotation] === undefined ? 'others' : 'ours'
}

/**
 * Cordons a node. An already cordoned node stays unchanged, except that an operator takes over the cordon of a
 * rollout. Otherwise `up` would remove it as a cordon that an interrupted rollout has left.
 */
export async function cordon(
  api: KubeClient,
  name: string,
  reason: string,
  options: KubeCallOptions = {},
): Promise<void> {
  await patchNode(api, name, options, (node) => {
    const owner = node.metadata.annotations?.[cordonOwnerAnnotation]
    const isFree = readCordon(node) === 'none' || (owner === rolloutCordonReason && owner !== reason)
    return isFree ? { annotation: reason, unschedulable: true } : undefined
  })
}

export interface UncordonOptions extends KubeCallOptions {
  /** True to remove the cordon even if hyperkube did not set it. */
  readonly force?: boolean
  /** Removes only a cordon with this reason. */
  readonly reason?: string | undefined
}

/** Removes the cordon that hyperkube has set. A cordon of an administrator stays unless `force` is set. */
export async function uncordon(
  api: KubeClient,
  name: string,
  { force = false, reason, ...options }: UncordonOptions = {},
): Promise<void> {
  await patchNode(api, name, options, (node) => {
    const owner = node.metadata.annotations?.[cordonOwnerAnnotation]
    const isOurs = owner !== undefined && owner === (reason ?? owner)
    return isOurs || (force && readCordon(node) === 'others')
      ? { annotation: null, unschedulable: null }
      : undefined
  })
}

/** Removes the cordon of a rollout. A cordon of `node drain` stays: its operator removes it. */
export async function uncordonAfterRollout(
  api: KubeClient,
  name: string,
  options: KubeCallOptions = {},
): Promise<void> {
  await uncordon(api, name, { ...options, reason: rolloutCordonReason })
}

interface NodeChange {
  /** Null removes the annotation. */
  readonly annotation: string | null
  readonly unschedulable: true | null
}

const maxAttempts = 10

/**
 * Patches a node with the change that `decide` returns. Retries after a conflict, and if the result of a
 * write is unknown.
 */
async function patchNode(
  api: KubeClient,
  name: string,
  options: KubeCallOptions,
  decide: (node: Node) => NodeChange | undefined,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const node = await requireNode(api, name, options)
    const desired = decide(node)
    if (desired === undefined) return
    const { resourceVersion } = node.metadata
    const patch = {
      metadata: { annotations: { [cordonOwnerAnnotation]: desired.annotation }, resourceVersion },
      spec: { unschedulable: desired.unschedulable },
    }
    try {
      await patchObject(api, nodeKind, { name }, patch, options)
      return
    } catch (error) {
      const isUncertain = isKubeError(error, 'KUBE_CONFLICT') || isKubeError(error, 'KUBE_UNREACHABLE')
      if (!isUncertain || attempt === maxAttempts) throw error
    }
  }
}

/** Reads a node. Throws if it does not exist. */
export async function requireNode(
  api: KubeClient,
  name: string,
  options: KubeCallOptions = {},
): Promise<Node> {
  const node = await findObject(api, nodeKind, { name }, options)
  if (node === undefined) throw buildNodeUnknownError(name)
  return node
}

export function buildNodeUnknownError(name: string): HyperkubeError {
  return new HyperkubeError('NODE_UNKNOWN', `the cluster has no node ${name}`, {
    hint: 'list the nodes: kubectl get nodes',
  })
}
