import { expect, test } from 'vitest'
import { createIdentity } from '../../identity/identity.ts'
import { inspectCertificate } from '../../pki/inspect.ts'
import { year } from '../../pki/lifetime.ts'
import { servingCertificate } from './serving-certificate.ts'

const now = new Date('2026-11-15T00:00:00Z')
const identity = await createIdentity('shop', now)
const names = ['metrics-server.kube-system.svc']

test('there is one for the names, of our authority, and it stays as long as it is good', async () => {
  const first = await servingCertificate(names, undefined, identity, now)
  expect(inspectCertificate(first.certificate)).toMatchObject({ names: { dns: names }, usages: ['server'] })
  expect(first.authority).toBe(identity.authorities.kubernetes.certificate)
  expect(await servingCertificate(names, first, identity, now)).toEqual(first)
})

test('a new one is made for other names, of another authority, in good time, and for garbage', async () => {
  const first = await servingCertificate(names, undefined, identity, now)
  const later = new Date(now.getTime() + 7 * year)
  const stranger = await createIdentity('other', now)
  for (const other of [
    await servingCertificate(['another.name'], first, identity, now),
    await servingCertificate(names, first, stranger, now),
    await servingCertificate(names, first, identity, later),
    await servingCertificate(names, { certificate: 'garbage', privateKey: '' }, identity, now),
  ]) {
    expect(other.certificate).not.toBe(first.certificate)
  }
})
