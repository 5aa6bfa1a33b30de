import { expect, test } from 'vitest'
import { createIdentity } from '../../identity/identity.ts'
import { inspectCertificate } from '../../pki/certificates.ts'
import { year } from '../../pki/lifetime.ts'
import { ensureServingCertificate } from './propose-addons.ts'

const now = new Date('2026-11-15T00:00:00Z')
const identity = await createIdentity('shop', now)
const names = ['metrics-server.kube-system.svc']

test('a serving certificate of the cluster CA is issued for the names and kept while it is valid', async () => {
  const first = await ensureServingCertificate(names, undefined, identity, now)
  expect(inspectCertificate(first.certificate)).toMatchObject({ names: { dns: names }, usages: ['server'] })
  expect(first.ca).toBe(identity.cas.kubernetes.certificate)
  expect(await ensureServingCertificate(names, first, identity, now)).toEqual(first)
})

test('a new serving certificate is issued for other names, another CA, before expiry, and for invalid input', async () => {
  const first = await ensureServingCertificate(names, undefined, identity, now)
  const later = new Date(now.getTime() + 7 * year)
  const otherIdentity = await createIdentity('other', now)
  for (const other of [
    await ensureServingCertificate(['another.name'], first, identity, now),
    await ensureServingCertificate(names, first, otherIdentity, now),
    await ensureServingCertificate(names, first, identity, later),
    await ensureServingCertificate(names, { certificate: 'garbage', privateKey: '' }, identity, now),
  ]) {
    expect(other.certificate).not.toBe(first.certificate)
  }
})
