import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { makeAuthority } from '../../pki/ca.ts'
import { day } from '../../pki/lifetime.ts'
import { makeRequest } from '../../pki/request.ts'
import { signRequest } from '../../pki/sign.ts'
import { certificateFaults, type CertificatePair, type CertificateWish } from './certificate-problems.ts'

const now = new Date('2027-01-01T00:00:00Z')
const authority = await makeAuthority('etcd', 3650 * day, now)
const trusted = new X509Certificate(authority.certificate)

const wish: CertificateWish = {
  authority: 'etcd',
  subject: { commonName: 'cp1', organizations: ['a', 'b'] },
  names: { dns: ['cp1'], ip: ['fd00::1'] },
  usages: ['server', 'client'],
  lifetime: 365 * day,
}

function texts(pair: CertificatePair, authorities: readonly X509Certificate[], at = now): string[] {
  return certificateFaults(pair, wish, authorities, at).map(({ text }) => text)
}

/** What is wrong with one that was made for another wish. */
async function faults(
  changes: Partial<CertificateWish>,
  at = now,
  by = authority,
): Promise<readonly string[]> {
  const { subject, names, usages, lifetime } = { ...wish, ...changes }
  const { request, privateKey } = await makeRequest('key', subject, names)
  const certificate = await signRequest(by, request, { subject, names, usages, lifetime }, now)
  return texts({ certificate, privateKey: privateKey.revealText() }, [trusted], at)
}

test('one that says all that is wished, in whatever order and spelling', async () => {
  expect(await faults({})).toEqual([])
  expect(await faults({ usages: ['client', 'server'], names: { dns: ['CP1'], ip: ['FD00:0::1'] } })).toEqual(
    [],
  )
  expect(await faults({ subject: { commonName: 'cp1', organizations: ['b', 'a'] } })).toEqual([])
})

test.each([
  ['name', { subject: { commonName: 'cp2', organizations: ['a', 'b'] } }],
  ['groups', { subject: { commonName: 'cp1', organizations: ['a', 'system:masters'] } }],
  ['groups', { subject: { commonName: 'cp1', organizations: ['a'] } }],
  ['DNS names', { names: { dns: ['cp1', 'more'], ip: ['fd00::1'] } }],
  ['addresses', { names: { dns: ['cp1'], ip: ['fd00::2'] } }],
  ['usages', { usages: ['server'] }],
] as const)('one with other %s', async (what, changes) => {
  expect(await faults(changes)).toEqual([`its ${what} are not those of the plan`])
})

test('one that lives longer or shorter', async () => {
  expect(await faults({ lifetime: 366 * day })).toEqual(['its lifetime is not that of the plan'])
  expect(await faults({ lifetime: 30 * day })).toEqual(['its lifetime is not that of the plan'])
})

test('one may end with its authority', async () => {
  const brief = await makeAuthority('etcd', 100 * day, now)
  const { subject, names, usages, lifetime } = wish
  const { request, privateKey } = await makeRequest('key', subject, names)
  const certificate = await signRequest(brief, request, { subject, names, usages, lifetime }, now)
  const pair = { certificate, privateKey: privateKey.revealText() }
  expect(texts(pair, [new X509Certificate(brief.certificate)])).toEqual([])
})

test('one of another authority, where anybody asks', async () => {
  const other = await makeAuthority('etcd', 3650 * day, now)
  expect(await faults({}, now, other)).toContain('the authority etcd has not signed it')
})

test('one of an authority that is being replaced is due, and nothing is wrong with it', async () => {
  const next = await makeAuthority('etcd', 3650 * day, now)
  const nextTrusted = new X509Certificate(next.certificate)
  const { subject, names, usages, lifetime } = wish
  const { request, privateKey } = await makeRequest('key', subject, names)
  const certificate = await signRequest(authority, request, { subject, names, usages, lifetime }, now)
  const pair = { certificate, privateKey: privateKey.revealText() }
  expect(certificateFaults(pair, wish, [trusted, nextTrusted], now)).toEqual([])
  expect(certificateFaults(pair, wish, [nextTrusted, trusted], now)).toEqual([
    { text: expect.stringContaining('is being replaced'), due: true },
  ])
  expect(certificateFaults(pair, wish, [nextTrusted], now)).toMatchObject([{ due: false }])
})

test('one that is due, over, or not yet', async () => {
  const later = (days: number): Date => new Date(now.getTime() + days * day)
  expect(await faults({}, later(200))).toEqual([])
  expect((await faults({}, later(250)))[0]).toContain('due to be renewed')
  expect((await faults({}, later(366)))[0]).toContain('and here it is 2028-01-02')
  expect((await faults({}, later(-1)))[0]).toContain('and here it is 2026-12-31')
})

test('what is none at all', () => {
  expect(texts({ certificate: 'x', privateKey: 'y' }, [trusted])).toEqual(['it is no certificate'])
})
