import { expect, test } from 'vitest'
import { createCa } from './ca.ts'
import { hasCertificate, parseCertificates, withoutCertificate } from './certificates.ts'
import { day } from './lifetime.ts'

const now = new Date('2026-11-15T00:00:00Z')
const [first, second] = await Promise.all(
  [1, 2].map(async () => (await createCa('etcd', day, now)).certificate),
)
const both = `# ours\n${first}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n${second}`

test('parseCertificates returns all certificates of a text and skips invalid blocks', () => {
  expect(parseCertificates(both).map((one) => one.toString())).toEqual([first, second])
})

test('a certificate is found and removed in any line format', () => {
  const spelt = both.replaceAll(/([A-Za-z0-9+/=]{40})\n?/g, '$1\r\n')
  expect(hasCertificate(spelt, first ?? '')).toBe(true)
  expect(withoutCertificate(spelt, first ?? '')).toBe(second)
  expect(hasCertificate(second ?? '', first ?? '')).toBe(false)
})
