import { expect, test } from 'vitest'
import { createIdentity } from '../../identity/identity.ts'
import { advanced } from '../../identity/replace-key.ts'
import { day, year } from '../../pki/lifetime.ts'
import { makeRequest } from '../../pki/request.ts'
import { signRequest } from '../../pki/sign.ts'
import { authorityRows, certificateRows } from './certificate-rows.ts'

const now = new Date('2026-11-15T12:00:00Z')
const later = (days: number): Date => new Date(now.getTime() + days * day)
const identity = await createIdentity('shop', now)
const switched = await advanced(await advanced(identity, 'kubernetes', now), 'kubernetes', now)
const subject = { commonName: 'system:node:w1', organizations: ['system:nodes'] }
const names = { dns: [], ip: [] }
const { request } = await makeRequest('key', subject, names)
const certificate = await signRequest(
  identity.authorities.kubernetes,
  request,
  { subject, names, usages: ['client'], lifetime: year },
  now,
)
const place = {
  component: 'kubelet',
  file: '/etc/hyperkube/kubelet/client.crt',
  authority: 'kubernetes',
} as const

test('whose it is, who signed it, until when, and when it is due', () => {
  expect(certificateRows('w1', [{ ...place, certificate }], identity, now)).toEqual([
    {
      host: 'w1',
      ...place,
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
  // Another key signs now.
  ['due', switched, now],
] as const)('%s', (state, by, at) => {
  expect(certificateRows('w1', [{ ...place, certificate }], by, at)).toMatchObject([{ state }])
})

test('a file that is gone, or is no certificate, is missing', () => {
  const rows = certificateRows('w1', [place, { ...place, certificate: 'x' }], identity, now)
  expect(rows.map(({ state }) => state)).toEqual(['missing', 'missing'])
})

test('one of a key that nobody knows is said to be so', async () => {
  const stranger = await createIdentity('other', now)
  const rows = certificateRows('w1', [{ ...place, certificate }], stranger, now)
  expect(rows).toMatchObject([{ signedBy: 'unknown', state: 'due' }])
})

test('authorities, with the one that replaces or was replaced', () => {
  const uses = authorityRows(switched).map(({ authority, use, phase }) => [authority, use, phase])
  expect(uses).toEqual([
    ['kubernetes', 'current', 'switch'],
    ['kubernetes', 'former', 'switch'],
    ['etcd', 'current', undefined],
    ['front-proxy', 'current', undefined],
  ])
})
