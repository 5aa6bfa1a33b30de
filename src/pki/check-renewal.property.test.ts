import { X509Certificate } from 'node:crypto'
import { type Arbitrary, assert, asyncProperty, constant, constantFrom, oneof, record } from 'fast-check'
import { expect, test } from 'vitest'
import type { CertificateSpec } from '../contract/certificate-spec.ts'
import type { RenewableCertificate } from '../contract/host-resource.ts'
import { type CaName, createCa } from './ca.ts'
import { checkRenewal, proveRenewal, type TrustedCas } from './check-renewal.ts'
import { inspectCertificate } from './certificates.ts'
import { day, year } from './lifetime.ts'
import { type CertificateRequest, makeRequest } from './request.ts'
import { signRequest } from './sign.ts'
import { loadX509 } from './x509.ts'

const x509 = await loadX509()
const now = new Date('2026-11-15T12:00:00Z')
const made = new Date(now.getTime() - 250 * day)

const cas = {
  current: await createCa('kubernetes', 10 * year, new Date(now.getTime() - year)),
  /** A CA that no longer signs but is still trusted. */
  replaced: await createCa('kubernetes', 10 * year, new Date(now.getTime() - year)),
  etcd: await createCa('etcd', 10 * year, new Date(now.getTime() - year)),
  frontProxy: await createCa('front-proxy', 10 * year, new Date(now.getTime() - year)),
  foreign: await createCa('kubernetes', 10 * year, new Date(now.getTime() - year)),
}
const trusted: TrustedCas = {
  kubernetes: [cas.current, cas.replaced].map(parsed),
  etcd: [parsed(cas.etcd)],
  'front-proxy': [parsed(cas.frontProxy)],
}

function parsed({ certificate }: { readonly certificate: string }): X509Certificate {
  return new X509Certificate(certificate)
}

const client = { names: { dns: [], ip: [] }, usages: ['client'] } as const
const server = { names: { dns: ['w1'], ip: ['10.0.0.4', 'fd00::4'] }, usages: ['server'] } as const

/** Subjects and names of certificates. The host w1 may renew those that are not in `forbidden`. */
const holders = {
  kubelet: { commonName: 'system:node:w1', organizations: ['system:nodes'], ...client },
  kubeletServer: { commonName: 'system:node:w1', organizations: ['system:nodes'], ...server },
  proxy: {
    commonName: 'hyperkube:apiserver-proxy:w1',
    organizations: ['hyperkube:apiserver-proxies'],
    ...client,
  },
  flannel: { commonName: 'hyperkube:flannel:w1', organizations: ['hyperkube:flannel'], ...client },
  otherFlannel: { commonName: 'hyperkube:flannel:w2', organizations: ['hyperkube:flannel'], ...client },
  otherNode: { commonName: 'system:node:w2', organizations: ['system:nodes'], ...client },
  person: { commonName: 'alice', organizations: ['hyperkube:admins'], ...client },
  disguised: { commonName: 'hyperkube:flannel:w1', organizations: ['system:masters'], ...client },
} as const
const forbidden: ReadonlySet<string> = new Set(['otherNode', 'otherFlannel', 'person', 'disguised'])

/** Planned certificates of host w1, as its Host object lists them. */
const plannedSubjects = Object.entries(holders)
  .filter(([holder]) => !forbidden.has(holder))
  .map(([, { commonName, organizations }]) => ({ commonName, organizations: [...organizations] }))
const planWith = (ca: CaName): RenewableCertificate[] => plannedSubjects.map((subject) => ({ ca, subject }))
const plannedCertificates = { all: planWith('kubernetes'), none: [], otherCa: planWith('etcd') }

function buildSpec(holder: keyof typeof holders, lifetime = year): CertificateSpec {
  const { commonName, organizations, names, usages } = holders[holder]
  return { subject: { commonName, organizations }, names, usages, lifetime }
}

const lifetimes = { usual: year, short: 20 * 60_000, long: 3 * year, over: 200 * day }

/**
 * The first choice of each field is valid. It is chosen often, so that many cases differ from a valid request
 * in one field only.
 */
const choices = {
  signer: ['current', 'replaced', 'etcd', 'frontProxy', 'foreign'],
  holder: [
    'kubelet',
    'kubeletServer',
    'proxy',
    'flannel',
    'otherNode',
    'otherFlannel',
    'person',
    'disguised',
  ],
  life: ['usual', 'short', 'long', 'over', 'early'],
  planned: ['all', 'none', 'otherCa'],
  proof: ['good', 'otherKey', 'otherRequest', 'none', 'garbage'],
  request: ['good', 'previousKey', 'more', 'broken', 'cut'],
  previous: ['good', 'twice', 'none', 'huge'],
} as const
type Moves = { readonly [K in keyof typeof choices]: (typeof choices)[K][number] }

const good: Moves = {
  signer: 'current',
  holder: 'kubelet',
  life: 'usual',
  planned: 'all',
  proof: 'good',
  request: 'good',
  previous: 'good',
}

function mostly<T>([first, ...rest]: readonly [T, ...T[]]): Arbitrary<T> {
  return oneof({ weight: 6, arbitrary: constant(first) }, { weight: 1, arbitrary: constantFrom(...rest) })
}

const moves: Arbitrary<Moves> = record({
  signer: mostly(choices.signer),
  holder: mostly(choices.holder),
  life: mostly(choices.life),
  planned: mostly(choices.planned),
  proof: mostly(choices.proof),
  request: mostly(choices.request),
  previous: mostly(choices.previous),
})

interface RenewalCase {
  readonly renewal: Parameters<typeof checkRenewal>[1]
  readonly pem: string
  readonly ca: CaName
}

async function buildCase(move: Moves): Promise<RenewalCase> {
  const ca = cas[move.signer]
  const spec = buildSpec(move.holder, move.life === 'early' ? year : lifetimes[move.life])
  const at = { usual: made, long: made, over: made, short: now, early: new Date(now.getTime() + day) }
  const { request: first, privateKey } = await makeRequest('previous', spec.subject, spec.names)
  const pem = await signRequest(ca, first, spec, at[move.life])
  const next = await buildRequest(move.request, spec, first)
  const other = await makeRequest('other', spec.subject, spec.names)
  const proofs = {
    good: () => proveRenewal(next.request, pem, privateKey.revealText()),
    otherKey: () => proveRenewal(next.request, pem, other.privateKey.revealText()),
    otherRequest: () => proveRenewal(other.request, pem, privateKey.revealText()),
    none: () => '',
    garbage: () => 'AAAA',
  }
  const previousTexts = { good: pem, twice: pem + pem, none: 'nothing', huge: pem + ' '.repeat(20_000) }
  const renewal = {
    requester: 'system:node:w1',
    planned: plannedCertificates[move.planned],
    request: next.request,
    previous: previousTexts[move.previous],
    proof: proofs[move.proof](),
  }
  return { renewal, pem, ca: ca.name }
}

async function buildRequest(
  how: Moves['request'],
  spec: CertificateSpec,
  previous: string,
): Promise<Pick<CertificateRequest, 'request'>> {
  if (how === 'previousKey') return { request: previous }
  const more = { ...spec.subject, organizations: [...spec.subject.organizations, 'system:masters'] }
  const { request } = await makeRequest('next', how === 'more' ? more : spec.subject, spec.names)
  if (how === 'cut') return { request: request.slice(0, -60) }
  return { request: how === 'broken' ? tampered(request) : request }
}

/** Changes one byte of the signature. */
function tampered(pem: string): string {
  const der = Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64')
  der[der.length - 1] = (der.at(-1) ?? 0) ^ 1
  const body = (der.toString('base64').match(/.{1,64}/g) ?? []).join('\n')
  return `-----BEGIN CERTIFICATE REQUEST-----\n${body}\n-----END CERTIFICATE REQUEST-----\n`
}

/** Expected result, computed without the code under test. */
function expected(move: Moves): 'granted' | 'refused' {
  const isOurs = move.signer === 'current' || move.signer === 'replaced'
  const isPlannedCa =
    (move.planned === 'all' && isOurs) || (move.planned === 'otherCa' && move.signer === 'etcd')
  const isAllowed = isPlannedCa && !forbidden.has(move.holder)
  const isGood =
    isAllowed &&
    !['over', 'early'].includes(move.life) &&
    move.proof === 'good' &&
    move.request === 'good' &&
    move.previous === 'good'
  return isGood ? 'granted' : 'refused'
}

/**
 * Returns the verdict of checkRenewal. For a granted renewal, also checks that the spec has the content of
 * the previous certificate.
 */
async function decide(move: Moves): Promise<'granted' | 'refused'> {
  const { renewal, pem, ca } = await buildCase(move)
  const verdict = checkRenewal(x509, renewal, trusted, now)
  if (verdict.verdict === 'refused') return 'refused'
  expect(verdict.ca).toBe(ca)
  expect(verdict.spec.lifetime).toBe(Math.min(year, buildSpec(move.holder, lifetimeFor(move)).lifetime))
  const signer = ca === 'etcd' ? cas.etcd : cas.current
  const renewed = await signRequest(signer, renewal.request, verdict.spec, now)
  expect(summarize(renewed)).toEqual(summarize(pem))
  return 'granted'
}

function lifetimeFor({ life }: Moves): number {
  return life === 'early' ? year : lifetimes[life]
}

function summarize(pem: string) {
  const { commonName, organizations, names, usages, isCa: ca } = inspectCertificate(pem)
  return { commonName, organizations, names, usages, isCa: ca }
}

test('a renewal is granted if and only if every condition holds', async () => {
  const holds = asyncProperty(moves, async (move) => {
    expect(await decide(move)).toBe(expected(move))
  })
  await assert(holds, { numRuns: 60 })
})

const alone = Object.entries(choices).flatMap(([what, values]) =>
  values.slice(1).map((value) => [what, value] as const),
)

test.each(alone)('an otherwise valid renewal with %s = %s has the expected verdict', async (what, value) => {
  const move = { ...good, [what]: value }
  expect(await decide(move)).toBe(expected(move))
})

test('a valid renewal is granted', async () => {
  expect(await decide(good)).toBe('granted')
})

test('a refusal has a reason and a message', async () => {
  const { renewal } = await buildCase({ ...good, life: 'over' })
  expect(checkRenewal(x509, renewal, trusted, now)).toEqual({
    verdict: 'refused',
    reason: 'PreviousNotValid',
    message:
      'the previous certificate is only valid from 2026-03-10T11:55:00.000Z to 2026-09-26T12:00:00.000Z',
  })
})

test('a CA that etcd shares with the API renews certificates of both', async () => {
  const shared: TrustedCas = { ...trusted, etcd: trusted.kubernetes }
  const { renewal } = await buildCase(good)
  const planned = plannedCertificates.otherCa
  expect(checkRenewal(x509, { ...renewal, planned }, trusted, now)).toMatchObject({ reason: 'NotRenewable' })
  expect(checkRenewal(x509, { ...renewal, planned }, shared, now)).toMatchObject({ ca: 'etcd' })
  expect(checkRenewal(x509, renewal, shared, now)).toMatchObject({ ca: 'kubernetes' })
})
