import type { PlannedCertificate } from '../../contract/component-plan.ts'
import { duration } from '../../kit/duration.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { find } from '../../kube/read-objects.ts'
import { create } from '../../kube/write-objects.ts'
import { proveRenewal } from '../../pki/renewal-proof.ts'
import { readPair } from '../apply/installed-key-pair.ts'
import type { Host } from '../host/host.ts'
import { answerIn, manifestFor, nameFor, signingRequestKind } from './signing-request.ts'

/** Control planes look more often than that. */
const patience = 5 * 60_000

/**
 * What control planes have signed in answer to a request, as PEM; undefined as long as there is no answer. What was not
 * asked yet is asked now: whoever asks again later finds the answer by the request.
 */
export async function askOthers(
  host: Host,
  client: KubeClient,
  place: PlannedCertificate,
  request: string,
): Promise<string | undefined> {
  const name = nameFor(request)
  const asked = await find(client, signingRequestKind, { name })
  if (asked === undefined) {
    await ask(host, client, place, request)
    return undefined
  }
  const answer = answerIn(asked)
  if (answer.is === 'issued') return answer.certificate
  if (answer.is === 'open') {
    const since = Date.parse(asked.metadata.creationTimestamp ?? '')
    if (host.clock.now().getTime() - since > patience) throw notAnswered(place, name)
    return undefined
  }
  // The cluster forgets it within an hour; then it is asked once more.
  throw new HyperkubeError('RENEWAL_DENIED', `${place.certificateFile} is not renewed: ${answer.why}`, {
    hint: `hyperkube certs renew HOST; the request was ${name}`,
  })
}

function notAnswered({ certificateFile }: PlannedCertificate, name: string): HyperkubeError {
  const message = `nobody has answered for ${duration(patience)} that ${certificateFile} is due`
  return new HyperkubeError('RENEWAL_NOT_ANSWERED', message, {
    hint: `on a control plane: journalctl -u hyperkube-agent; the request is ${name}`,
  })
}

async function ask(
  host: Host,
  client: KubeClient,
  place: PlannedCertificate,
  request: string,
): Promise<void> {
  const { certificate: former = '', privateKey = '' } = await readPair(host, place)
  const proof = proveRenewal(request, former, privateKey)
  await create(client, manifestFor({ request, former, proof }, place.usages)).catch((error: unknown) => {
    // Sent twice, because nobody knew what became of the first one.
    if (!isKubeError(error, 'KUBE_CONFLICT')) throw error
  })
}
