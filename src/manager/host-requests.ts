import { decideAsk, type HostWish } from '../contract/decide-host-request.ts'
import type { HostResult } from '../contract/host-resource.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { hosts } from '../kube/host-resource.ts'
import { get } from '../kube/read-objects.ts'
import { merge } from '../kube/write-objects.ts'
import type { Right, Scene } from './controller.ts'

/** What whoever asks hosts must be allowed to. */
export const askRights: readonly Right[] = [
  { apiGroups: ['hyperkube.dev'], resources: ['hosts'], verbs: ['get', 'patch'] },
]

/**
 * Asks something of a host in the name of this term, once however often it is called. The answer is undefined as long as
 * there is none; it comes with the host's object. Where others were faster it fails, and is to be tried again, as all
 * that a queue is given is.
 */
export async function askHost(
  { client, term, now }: Pick<Scene, 'client' | 'term' | 'now'>,
  host: string,
  wish: HostWish,
): Promise<HostResult | undefined> {
  const object = await get(client, hosts, { name: host })
  const step = decideAsk(object, wish, term.fence(), now().getTime())
  if (step.kind === 'answered') return step.result
  if (step.kind === 'outranked') {
    const { holder, transitions } = step.seen
    term.raise(step.seen)
    throw new HyperkubeError('HOST_SAW_NEWER', `it was shown ${transitions} of ${holder} already`, {
      host,
      hint: 'if this one leads, its number is above it soon, and it asks again',
    })
  }
  if (step.kind === 'full') {
    throw new HyperkubeError('HOST_REQUESTS_FULL', 'too much was asked of it that it has not answered', {
      host,
      hint: `kubectl get host ${host} -o yaml; on the host: journalctl -u hyperkube-agent`,
    })
  }
  if (step.kind === 'write') {
    // Only in the very object that was looked at: whoever leads since has changed it.
    const metadata = { resourceVersion: object.metadata.resourceVersion }
    await merge(client, hosts, { name: host }, { metadata, spec: { requests: step.requests } })
  }
  return undefined
}
