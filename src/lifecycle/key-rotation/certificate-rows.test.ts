import { expect, test } from 'vitest'
import { createIdentity } from '../../identity/identity.ts'
import { advanceReplacement } from '../../identity/replace-key.ts'
import { day, year } from '../../pki/lifetime.ts'
import { makeRequest } from '../../pki/request.ts'
import { signRequest } from '../../pki/sign.ts'
import { listCaRows, listCertificateRows } from './certificate-rows.ts'

const now = new Date('2026-11-15T12:00:00Z')
const later = (days: number): Date => new Date(now.getTime() + days * day)
const identity = await createIdentity('shop', now)
const switched = await advanceReplacement(
  await advanceReplacement(identity, 'kubernetes', now),
  'kubernetes',
  now,
)
const subject = { commonName: 'system:node:w1', organizations: ['system:nodes'] }
const names = { dns: [], ip: [] }
const { request } = await makeRequest('key', subject, names)
const certificate = await signRequest(
  identity.cas.kubernetes,
  request,
  { subject, names, usages: ['client'], lifetime: year },
  now,
)
const installed = {
  component: 'kubelet',
  file: '/etc/hyperkube/kubelet/client.crt',
  ca: 'kubernetes',
} as const

test('a certificate row has subject, signer, validity and renewal time', () => {
  expect(listCertificateRows('w1', [{ ...installed, certificate }], identity, now)).toEqual([
    {
      host: 'w1',
      ...installed,
      state: 'good',
      subject: 'CN=system:node:w1, O=system:nodes',
      signedBy: 'current',
      from: '2026-11-15T11:55:00.000Z',
      until: '2027-11-15T12:00:00.000Z',
      due: '2027-07-16T19:58:20.000Z',
    },
  ])
})

test.each([
  ['good', identity, later(200)],
  ['due', identity, later(250)],
  ['expired', identity, later(366)],
  ['expired', identity, later(-1)],
  // The CA signs with another key now.
  ['due', switched, now],
] as const)('a certificate is %s (case %#)', (state, by, at) => {
  expect(listCertificateRows('w1', [{ ...installed, certificate }], by, at)).toMatchObject([{ state }])
})

test('a missing or invalid certificate file has the state missing', () => {
  const rows = listCertificateRows('w1', [installed, { ...installed, certificate: 'x' }], identity, now)
  expect(rows.map(({ state }) => state)).toEqual(['missing', 'missing'])
})

test('a certificate of an unknown CA key is due and has the signer unknown', async () => {
  const otherIdentity = await createIdentity('other', now)
  const rows = listCertificateRows('w1', [{ ...installed, certificate }], otherIdentity, now)
  expect(rows).toMatchObject([{ signedBy: 'unknown', state: 'due' }])
})

test('CA rows list each current CA and the previous CA of a rotation', () => {
  const uses = listCaRows(switched).map(({ ca, use, phase }) => [ca, use, phase])
  expect(uses).toEqual([
    ['kubernetes', 'current', 'switch'],
    ['kubernetes', 'previous', 'switch'],
    ['etcd', 'current', undefined],
    ['front-proxy', 'current', undefined],
  ])
})
