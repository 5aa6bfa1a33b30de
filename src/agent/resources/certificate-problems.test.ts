import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { createCa } from '../../pki/ca.ts'
import { day } from '../../pki/lifetime.ts'
import { makeRequest } from '../../pki/request.ts'
import { signRequest } from '../../pki/sign.ts'
import {
  findCertificateProblems,
  type CertificatePair,
  type PlannedCertificateSpec,
} from './certificate-problems.ts'

const now = new Date('2027-01-01T00:00:00Z')
const ca = await createCa('etcd', 3650 * day, now)
const trusted = new X509Certificate(ca.certificate)

const spec: PlannedCertificateSpec = {
  ca: 'etcd',
  subject: { commonName: 'cp1', organizations: ['a', 'b'] },
  names: { dns: ['cp1'], ip: ['fd00::1'] },
  usages: ['server', 'client'],
  lifetime: 365 * day,
}

function texts(pair: CertificatePair, cas: readonly X509Certificate[], at = now): string[] {
  return findCertificateProblems(pair, spec, cas, at).map(({ text }) => text)
}

/** Returns the problems of a certificate that was signed for a changed spec. */
async function problemsFor(
  changes: Partial<PlannedCertificateSpec>,
  at = now,
  by = ca,
): Promise<readonly string[]> {
  const { subject, names, usages, lifetime } = { ...spec, ...changes }
  const { request, privateKey } = await makeRequest('key', subject, names)
  const certificate = await signRequest(by, request, { subject, names, usages, lifetime }, now)
  return texts({ certificate, privateKey: privateKey.revealText() }, [trusted], at)
}

test('a certificate that matches its spec, in any order and spelling, has no problem', async () => {
  expect(await problemsFor({})).toEqual([])
  expect(
    await problemsFor({ usages: ['client', 'server'], names: { dns: ['CP1'], ip: ['FD00:0::1'] } }),
  ).toEqual([])
  expect(await problemsFor({ subject: { commonName: 'cp1', organizations: ['b', 'a'] } })).toEqual([])
})

test.each([
  ['name', { subject: { commonName: 'cp2', organizations: ['a', 'b'] } }],
  ['groups', { subject: { commonName: 'cp1', organizations: ['a', 'system:masters'] } }],
  ['groups', { subject: { commonName: 'cp1', organizations: ['a'] } }],
  ['DNS names', { names: { dns: ['cp1', 'more'], ip: ['fd00::1'] } }],
  ['addresses', { names: { dns: ['cp1'], ip: ['fd00::2'] } }],
  ['usages', { usages: ['server'] }],
] as const)('a certificate that differs from its spec in its %s has a problem: %j', async (what, changes) => {
  expect(await problemsFor(changes)).toEqual([`it does not match the plan: ${what}`])
})

test('a certificate with a longer or shorter lifetime has a problem', async () => {
  expect(await problemsFor({ lifetime: 366 * day })).toEqual(['it does not match the plan: lifetime'])
  expect(await problemsFor({ lifetime: 30 * day })).toEqual(['it does not match the plan: lifetime'])
})

test('a certificate may expire together with its CA', async () => {
  const brief = await createCa('etcd', 100 * day, now)
  const { subject, names, usages, lifetime } = spec
  const { request, privateKey } = await makeRequest('key', subject, names)
  const certificate = await signRequest(brief, request, { subject, names, usages, lifetime }, now)
  const pair = { certificate, privateKey: privateKey.revealText() }
  expect(texts(pair, [new X509Certificate(brief.certificate)])).toEqual([])
})

test('a certificate of another CA has a problem', async () => {
  const other = await createCa('etcd', 3650 * day, now)
  expect(await problemsFor({}, now, other)).toContain('it is not signed by CA etcd')
})

test('a certificate of a CA that is being replaced is due, and has no other problem', async () => {
  const next = await createCa('etcd', 3650 * day, now)
  const nextTrusted = new X509Certificate(next.certificate)
  const { subject, names, usages, lifetime } = spec
  const { request, privateKey } = await makeRequest('key', subject, names)
  const certificate = await signRequest(ca, request, { subject, names, usages, lifetime }, now)
  const pair = { certificate, privateKey: privateKey.revealText() }
  expect(findCertificateProblems(pair, spec, [trusted, nextTrusted], now)).toEqual([])
  expect(findCertificateProblems(pair, spec, [nextTrusted, trusted], now)).toEqual([
    { text: expect.stringContaining('is being replaced'), due: true },
  ])
  expect(findCertificateProblems(pair, spec, [nextTrusted], now)).toMatchObject([{ due: false }])
})

test('a certificate that is due, expired or not yet valid has a problem', async () => {
  const later = (days: number): Date => new Date(now.getTime() + days * day)
  expect(await problemsFor({}, later(200))).toEqual([])
  expect((await problemsFor({}, later(250)))[0]).toContain('due for renewal')
  expect((await problemsFor({}, later(366)))[0]).toContain('but the clock of the host is at 2028-01-02')
  expect((await problemsFor({}, later(-1)))[0]).toContain('but the clock of the host is at 2026-12-31')
})

test('a text that is not a certificate has a problem', () => {
  expect(texts({ certificate: 'x', privateKey: 'y' }, [trusted])).toEqual(['it is not a certificate'])
})
