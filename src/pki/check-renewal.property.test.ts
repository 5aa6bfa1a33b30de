import { X509Certificate } from 'node:crypto'
import { type Arbitrary, assert, asyncProperty, constant, constantFrom, oneof, record } from 'fast-check'
import { expect, test } from 'vitest'
import type { Wish } from '../contract/certificate-spec.ts'
import { type AuthorityName, makeAuthority } from './ca.ts'
import { checkRenewal, type Trusted } from './check-renewal.ts'
import { inspectCertificate } from './inspect.ts'
import { day, year } from './lifetime.ts'
import { proveRenewal } from './renewal-proof.ts'
import { type CertificateRequest, makeRequest } from './request.ts'
import { signRequest } from './sign.ts'
import { loadX509 } from './x509.ts'

const x509 = await loadX509()
const now = new Date('2026-11-15T12:00:00Z')
const made = new Date(now.getTime() - 250 * day)

const authorities = {
  current: await makeAuthority('kubernetes', 10 * year, new Date(now.getTime() - year)),
  /** Still trusted, while another one signs. */
  replaced: await makeAuthority('kubernetes', 10 * year, new Date(now.getTime() - year)),
  etcd: await makeAuthority('etcd', 10 * year, new Date(now.getTime() - year)),
  frontProxy: await makeAuthority('front-proxy', 10 * year, new Date(now.getTime() - year)),
  stranger: await makeAuthority('kubernetes', 10 * year, new Date(now.getTime() - year)),
}
const trusted: Trusted = {
  kubernetes: [authorities.current, authorities.replaced].map(parsed),
  etcd: [parsed(authorities.etcd)],
  'front-proxy': [parsed(authorities.frontProxy)],
}

function parsed({ certificate }: { readonly certificate: string }): X509Certificate {
  return new X509Certificate(certificate)
}

const client = { names: { dns: [], ip: [] }, usages: ['client'] } as const
const server = { names: { dns: ['w1'], ip: ['10.0.0.4', 'fd00::4'] }, usages: ['server'] } as const

/** What a certificate says, and whether a node may have it renewed. */
const holders = {
  kubelet: { commonName: 'system:node:w1', organizations: ['system:nodes'], ...client },
  kubeletServer: { commonName: 'system:node:w1', organizations: ['system:nodes'], ...server },
  proxy: {
    commonName: 'hyperkube:apiserver-proxy:w1',
    organizations: ['hyperkube:apiserver-proxies'],
    ...client,
  },
  flannel: { commonName: 'hyperkube:flannel', organizations: [], ...client },
  otherNode: { commonName: 'system:node:w2', organizations: ['system:nodes'], ...client },
  person: { commonName: 'alice', organizations: ['hyperkube:admins'], ...client },
  disguised: { commonName: 'hyperkube:flannel', organizations: ['system:masters'], ...client },
} as const
const forbidden: ReadonlySet<string> = new Set(['otherNode', 'person', 'disguised'])

function wishOf(holder: keyof typeof holders, lifetime = year): Wish {
  const { commonName, organizations, names, usages } = holders[holder]
  return { subject: { commonName, organizations }, names, usages, lifetime }
}

const lifetimes = { usual: year, short: 20 * 60_000, long: 3 * year, over: 200 * day }

/** The first one is right, and comes often, so that what else is wrong shows. */
const choices = {
  signer: ['current', 'replaced', 'etcd', 'frontProxy', 'stranger'],
  holder: ['kubelet', 'kubeletServer', 'proxy', 'flannel', 'otherNode', 'person', 'disguised'],
  life: ['usual', 'short', 'long', 'over', 'early'],
  requester: ['system:node:w1', 'alice', 'system:serviceaccount:default:system:node:w1', ''],
  proof: ['good', 'otherKey', 'otherRequest', 'none', 'garbage'],
  request: ['good', 'formerKey', 'more', 'broken', 'cut'],
  former: ['good', 'twice', 'none', 'huge'],
} as const
type Moves = { readonly [K in keyof typeof choices]: (typeof choices)[K][number] }

const good: Moves = {
  signer: 'current',
  holder: 'kubelet',
  life: 'usual',
  requester: 'system:node:w1',
  proof: 'good',
  request: 'good',
  former: 'good',
}

function mostly<T>([first, ...rest]: readonly [T, ...T[]]): Arbitrary<T> {
  return oneof({ weight: 6, arbitrary: constant(first) }, { weight: 1, arbitrary: constantFrom(...rest) })
}

const moves: Arbitrary<Moves> = record({
  signer: mostly(choices.signer),
  holder: mostly(choices.holder),
  life: mostly(choices.life),
  requester: mostly(choices.requester),
  proof: mostly(choices.proof),
  request: mostly(choices.request),
  former: mostly(choices.former),
})

interface Scene {
  readonly asked: Parameters<typeof checkRenewal>[1]
  readonly pem: string
  readonly authority: AuthorityName
}

async function sceneOf(move: Moves): Promise<Scene> {
  const authority = authorities[move.signer]
  const wish = wishOf(move.holder, move.life === 'early' ? year : lifetimes[move.life])
  const at = { usual: made, long: made, over: made, short: now, early: new Date(now.getTime() + day) }
  const { request: first, privateKey } = await makeRequest('former', wish.subject, wish.names)
  const pem = await signRequest(authority, first, wish, at[move.life])
  const next = await requestOf(move.request, wish, first)
  const other = await makeRequest('other', wish.subject, wish.names)
  const proofs = {
    good: () => proveRenewal(next.request, pem, privateKey.revealText()),
    otherKey: () => proveRenewal(next.request, pem, other.privateKey.revealText()),
    otherRequest: () => proveRenewal(other.request, pem, privateKey.revealText()),
    none: () => '',
    garbage: () => 'AAAA',
  }
  const formers = { good: pem, twice: pem + pem, none: 'nothing', huge: pem + ' '.repeat(20_000) }
  const asked = {
    requester: move.requester,
    request: next.request,
    former: formers[move.former],
    proof: proofs[move.proof](),
  }
  return { asked, pem, authority: authority.name }
}

async function requestOf(
  how: Moves['request'],
  wish: Wish,
  former: string,
): Promise<Pick<CertificateRequest, 'request'>> {
  if (how === 'formerKey') return { request: former }
  const more = { ...wish.subject, organizations: [...wish.subject.organizations, 'system:masters'] }
  const { request } = await makeRequest('next', how === 'more' ? more : wish.subject, wish.names)
  if (how === 'cut') return { request: request.slice(0, -60) }
  return { request: how === 'broken' ? tampered(request) : request }
}

/** One byte of its signature is another one. */
function tampered(pem: string): string {
  const der = Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64')
  der[der.length - 1] = (der.at(-1) ?? 0) ^ 1
  const body = (der.toString('base64').match(/.{1,64}/g) ?? []).join('\n')
  return `-----BEGIN CERTIFICATE REQUEST-----\n${body}\n-----END CERTIFICATE REQUEST-----\n`
}

/** What must be so, said once more from the outside. */
function expected(move: Moves): 'granted' | 'refused' {
  const isOurs = move.signer === 'current' || move.signer === 'replaced'
  const isAllowed = move.signer === 'etcd' || (isOurs && !forbidden.has(move.holder))
  const isGood =
    isAllowed &&
    !['over', 'early'].includes(move.life) &&
    move.requester === 'system:node:w1' &&
    move.proof === 'good' &&
    move.request === 'good' &&
    move.former === 'good'
  return isGood ? 'granted' : 'refused'
}

/** What comes of it; what is granted says what the former one says. */
async function judged(move: Moves): Promise<'granted' | 'refused'> {
  const { asked, pem, authority } = await sceneOf(move)
  const verdict = checkRenewal(x509, asked, trusted, now)
  if (verdict.verdict === 'refused') return 'refused'
  expect(verdict.authority).toBe(authority)
  expect(verdict.wish.lifetime).toBe(Math.min(year, wishOf(move.holder, lifetimeFor(move)).lifetime))
  const signer = authority === 'etcd' ? authorities.etcd : authorities.current
  const renewed = await signRequest(signer, asked.request, verdict.wish, now)
  expect(said(renewed)).toEqual(said(pem))
  return 'granted'
}

function lifetimeFor({ life }: Moves): number {
  return life === 'early' ? year : lifetimes[life]
}

function said(pem: string) {
  const { commonName, organizations, names, usages, authority } = inspectCertificate(pem)
  return { commonName, organizations, names, usages, authority }
}

test('a certificate is renewed when all is right, and only then', async () => {
  const holds = asyncProperty(moves, async (move) => {
    expect(await judged(move)).toBe(expected(move))
  })
  await assert(holds, { numRuns: 60 })
})

const alone = Object.entries(choices).flatMap(([what, values]) =>
  values.slice(1).map((value) => [what, value] as const),
)

test.each(alone)('all is right, but %s is %s', async (what, value) => {
  const move = { ...good, [what]: value }
  expect(await judged(move)).toBe(expected(move))
})

test('all is right', async () => {
  expect(await judged(good)).toBe('granted')
})

test('who asks is told what is wrong', async () => {
  const { asked } = await sceneOf({ ...good, life: 'over' })
  expect(checkRenewal(x509, asked, trusted, now)).toEqual({
    verdict: 'refused',
    reason: 'FormerNotValid',
    message: 'the former certificate is only valid from 2026-03-10T11:55:00.000Z to 2026-09-26T12:00:00.000Z',
  })
})
