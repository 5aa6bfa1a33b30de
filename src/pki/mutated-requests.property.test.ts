import { createPublicKey, X509Certificate } from 'node:crypto'
import { assert, asyncProperty, constantFrom } from 'fast-check'
import { expect, test } from 'vitest'
import type { CertificateSpec } from '../contract/certificate-spec.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { byteMutation, mutationRuns, printMutations } from '../kit/testing/mutations.ts'
import { createCa } from './ca.ts'
import { inspectCertificate } from './certificates.ts'
import { checkRenewal, proveRenewal, type TrustedCas } from './check-renewal.ts'
import { checkServingRequest, servingSigner } from './check-serving-request.ts'
import { day, year } from './lifetime.ts'
import { makeRequest } from './request.ts'
import { signRequest } from './sign.ts'
import { listRequestedValues, readSignedPart, signAnything, toPem } from './testing/mutated-requests.ts'
import { loadX509 } from './x509.ts'

const x509 = await loadX509()
const now = new Date('2026-11-15T12:00:00Z')
const ca = await createCa('kubernetes', 10 * year, new Date(now.getTime() - year))
const trusted: TrustedCas = { kubernetes: [new X509Certificate(ca.certificate)], etcd: [], 'front-proxy': [] }
const subject = { commonName: 'system:node:w1', organizations: ['system:nodes'] }
const names = { dns: ['w1'], ip: ['10.0.0.4'] }
const spec: CertificateSpec = { subject, names, usages: ['server'], lifetime: year }

const attacker = await makeRequest('attacker', subject, names)
const privateKey = attacker.privateKey.revealText()
const signedPart = readSignedPart(attacker.request)
const attackerKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
/** Everything that a request for this spec may contain. */
const allowed = new Set(listRequestedValues(signedPart))

const previous = await makeRequest('previous', subject, names)
const previousCertificate = await signRequest(ca, previous.request, spec, new Date(now.getTime() - 250 * day))

/**
 * What a case changes. `signed`: the signed part, which the attacker then signs again. `unsigned`: any bytes
 * of the request, which keeps its signature. `text`: the PEM text.
 */
const how = constantFrom('signed', 'signed', 'signed', 'unsigned', 'text')

function mutateRequest(mutate: (bytes: Buffer) => Buffer, kind: string): string {
  if (kind === 'signed') return signAnything(mutate(signedPart), privateKey)
  if (kind === 'text') return mutate(Buffer.from(attacker.request)).toString('latin1')
  return toPem(mutate(Buffer.from(attacker.request.replace(/-----[^-]+-----/g, ''), 'base64')))
}

async function countOutcomes(
  what: string,
  decide: (mutate: (bytes: Buffer) => Buffer, kind: string) => Promise<string>,
): Promise<ReadonlyMap<string, number>> {
  const outcomes = new Map<string, number>()
  await assert(
    asyncProperty(byteMutation, how, async (mutate, kind) => {
      const outcome = await decide(mutate, kind)
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    }),
    mutationRuns,
  )
  printMutations(what, outcomes)
  return outcomes
}

/**
 * Expects that a certificate has exactly the content of the spec, whatever the request contains, and the key
 * of the request.
 */
function expectGranted(pem: string): void {
  const { commonName, organizations, names: granted, usages, isCa } = inspectCertificate(pem)
  expect({ commonName, organizations, names: granted, usages, isCa }).toEqual({
    ...subject,
    names,
    usages: ['server'],
    isCa: false,
  })
  expect(new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' }).equals(attackerKey)).toBe(
    true,
  )
}

test(
  'signing: a mutated request gets the content of the spec, or an error with a code',
  { timeout: 120_000 },
  async () => {
    const outcomes = await countOutcomes('signed requests', async (mutate, kind) => {
      try {
        expectGranted(await signRequest(ca, mutateRequest(mutate, kind), spec, now))
        return 'granted'
      } catch (error) {
        if (!(error instanceof HyperkubeError && error.code.startsWith('PKI_REQUEST_'))) throw error
        return error.code
      }
    })
    expect(outcomes.get('PKI_REQUEST_EXCEEDS_PLAN')).toBeGreaterThan(10)
  },
)

test('serving: a granted request contains only planned names', { timeout: 120_000 }, async () => {
  const outcomes = await countOutcomes('serving requests', async (mutate, kind) => {
    const request = mutateRequest(mutate, kind)
    const serving = {
      signer: servingSigner,
      username: subject.commonName,
      groups: ['system:nodes'],
      usages: ['digital signature', 'server auth'],
      request,
    }
    const decision = checkServingRequest(x509, serving, names)
    if (decision.verdict === 'refused') return decision.reason
    // Kubernetes signs the content of the request, so a granted request may contain only allowed values.
    for (const value of listRequestedValues(readSignedPart(request))) expect(allowed).toContain(value)
    return 'granted'
  })
  expect(outcomes.get('RequestRefused')).toBeGreaterThan(500)
})

test(
  'renewal: a mutated request, certificate or proof renews the same content, or is refused',
  { timeout: 120_000 },
  async () => {
    const planned = [{ ca: 'kubernetes', subject }] as const
    const previousKey = previous.privateKey.revealText()
    const certificate = Buffer.from(new X509Certificate(previousCertificate).raw)
    const outcomes = await countOutcomes('renewal requests', async (mutate, kind) => {
      // The holder of the previous key can create a valid proof for any request.
      const request = kind === 'signed' ? mutateRequest(mutate, kind) : attacker.request
      const proof = proveRenewal(request, previousCertificate, previousKey)
      const renewal = {
        requester: subject.commonName,
        request,
        previous: kind === 'unsigned' ? toPem(mutate(certificate), 'CERTIFICATE') : previousCertificate,
        proof: kind === 'text' ? mutate(Buffer.from(proof, 'base64')).toString('base64') : proof,
        planned,
      }
      const decision = checkRenewal(x509, renewal, trusted, now)
      if (decision.verdict === 'refused') return decision.reason
      expectGranted(await signRequest(ca, request, decision.spec, now))
      return 'granted'
    })
    expect(outcomes.get('NotProven')).toBeGreaterThan(10)
    expect(outcomes.get('PreviousNotTrusted')).toBeGreaterThan(100)
  },
)
