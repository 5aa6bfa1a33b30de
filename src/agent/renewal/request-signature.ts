import type { PlannedCertificate } from '../../contract/component-plan.ts'
import { formatDuration } from '../../kit/duration.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { findObject } from '../../kube/read-objects.ts'
import { createObject } from '../../kube/write-objects.ts'
import { proveRenewal } from '../../pki/renewal-proof.ts'
import { readInstalledPair } from '../apply/installed-key-pair.ts'
import type { Host } from '../host/host.ts'
import {
  readSigningResponse,
  buildSigningRequest,
  buildSigningRequestName,
  renewalSigningRequestKind,
} from './signing-request.ts'

/**
 * A request without a response is reported after this time, in milliseconds. Control planes check for
 * requests more often.
 */
const responseTimeoutMs = 5 * 60_000

/**
 * Returns the certificate that control planes have signed for a request, as PEM, or undefined while it is
 * pending. Creates the signing request on the first call; later calls find it by the content of the request.
 */
export async function requestSignature(
  host: Host,
  client: KubeClient,
  planned: PlannedCertificate,
  request: string,
): Promise<string | undefined> {
  const name = buildSigningRequestName(request)
  const existing = await findObject(client, renewalSigningRequestKind, { name })
  if (existing === undefined) {
    await createSigningRequest(host, client, planned, request)
    return undefined
  }
  const response = readSigningResponse(existing)
  if (response.state === 'issued') return response.certificate
  if (response.state === 'open') {
    const since = Date.parse(existing.metadata.creationTimestamp ?? '')
    if (host.clock.now().getTime() - since > responseTimeoutMs) throw noResponseError(planned, name)
    return undefined
  }
  // The API deletes a denied request within an hour; the next call then creates it again.
  throw new HyperkubeError(
    'RENEWAL_DENIED',
    `${planned.certificateFile} is not renewed: ${response.reason}`,
    {
      hint: `hyperkube certs renew HOST; the request was ${name}`,
    },
  )
}

function noResponseError({ certificateFile }: PlannedCertificate, name: string): HyperkubeError {
  const message = `no control plane has responded for ${formatDuration(responseTimeoutMs)} to the request to renew ${certificateFile}`
  return new HyperkubeError('RENEWAL_NO_RESPONSE', message, {
    hint: `on a control plane: journalctl -u hyperkube-agent; the request is ${name}`,
  })
}

async function createSigningRequest(
  host: Host,
  client: KubeClient,
  planned: PlannedCertificate,
  request: string,
): Promise<void> {
  const { certificate: previous = '', privateKey = '' } = await readInstalledPair(host, planned)
  const proof = proveRenewal(request, previous, privateKey)
  await createObject(client, buildSigningRequest({ request, previous, proof }, planned.usages)).catch(
    (error: unknown) => {
      // The request was sent twice because the first response was lost.
      if (!isKubeError(error, 'KUBE_CONFLICT')) throw error
    },
  )
}
