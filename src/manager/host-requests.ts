import { decideHostRequest, type HostRequestSpec } from '../contract/decide-host-request.ts'
import type { HostResult } from '../contract/host-resource.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { hostKind } from '../kube/host-resource.ts'
import { getObject } from '../kube/read-objects.ts'
import { patchObject } from '../kube/write-objects.ts'
import type { ControllerRule, ControllerContext } from './controller.ts'

/** RBAC rules of controllers that send requests to hosts. */
export const hostRequestRules: readonly ControllerRule[] = [
  { apiGroups: ['hyperkube.dev'], resources: ['hosts'], verbs: ['get', 'patch'] },
]

/**
 * Requests an action from a host in this leader term. Repeated calls with the same id count as one request.
 * Returns the result, or undefined until the host has reported it. Throws if another writer has changed the
 * Host object since it was read; the queue then retries.
 */
export async function requestHostAction(
  { client, term, now }: Pick<ControllerContext, 'client' | 'term' | 'now'>,
  host: string,
  spec: HostRequestSpec,
): Promise<HostResult | undefined> {
  const object = await getObject(client, hostKind, { name: host })
  const step = decideHostRequest(object, spec, term.fence(), now().getTime())
  if (step.kind === 'result') return step.result
  if (step.kind === 'outranked') {
    const { holder, transitions } = step.highestFence
    term.raise(step.highestFence)
    throw new HyperkubeError(
      'HOST_STALE_LEADER',
      `the host already accepted fence ${transitions} of ${holder}`,
      {
        host,
        hint: 'no action needed: if this process is leader, it raises its fence and retries',
      },
    )
  }
  if (step.kind === 'full') {
    throw new HyperkubeError('HOST_REQUESTS_FULL', 'the host has too many open requests', {
      host,
      hint: `kubectl get host ${host} -o yaml; on the host: journalctl -u hyperkube-agent`,
    })
  }
  if (step.kind === 'write') {
    // The patch applies only to the version that was read, because a newer leader may have changed the object
    // since.
    const metadata = { resourceVersion: object.metadata.resourceVersion }
    await patchObject(client, hostKind, { name: host }, { metadata, spec: { requests: step.requests } })
  }
  return undefined
}
