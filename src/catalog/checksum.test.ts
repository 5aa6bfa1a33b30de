import { assert, constantFrom, property, string, stringMatching } from 'fast-check'
import { expect, test } from 'vitest'
import { type ChecksumFormat, maxChecksumFileBytes, readChecksum } from './checksum.ts'

const digest = 'a1'.repeat(32)
const other = 'b2'.repeat(32)

test.each<[string, ChecksumFormat, string]>([
  ['a bare digest', 'bare', digest],
  ['a bare digest with a line end', 'bare', `${digest}\r\n`],
  ['a bare digest in capitals', 'bare', digest.toUpperCase()],
  ['a line with digest and file name', 'lines', `${digest}  runc.amd64\n`],
  ['a line with an asterisk before the file name', 'lines', `${digest} *runc.amd64\n`],
  [
    'one matching line of several',
    'lines',
    `${other}  runc.arm64\r\n${digest}  runc.amd64\r\n${other}  runc.amd64.asc\r\n`,
  ],
  ['the same line twice', 'lines', `${digest}  runc.amd64\n${digest} *runc.amd64\n`],
  [
    'a PGP-signed file',
    'lines',
    `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n${digest} *runc.amd64\n-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----\n`,
  ],
])('the digest is read from %s', (_, format, text) => {
  expect(readChecksum(text, format, 'runc.amd64')).toEqual({ ok: true, sha256: digest })
})

test.each<[string, ChecksumFormat, string, string]>([
  ['an empty file', 'bare', '', 'is empty'],
  ['a file with only white space', 'lines', ' \n\n', 'is empty'],
  ['an HTML page', 'bare', '<!doctype html><title>Not found</title>', 'is not a sha256 digest'],
  [
    'an HTML page',
    'lines',
    `<html>\n<p>${digest}  runc.amd64</p>\n</html>`,
    'has no line with a sha256 digest',
  ],
  ['63 digits', 'bare', digest.slice(1), 'is not a sha256 digest'],
  ['65 digits', 'lines', `a${digest}  runc.amd64`, 'has no line with a sha256 digest'],
  ['a sha512', 'bare', digest + digest, 'is not a sha256 digest'],
  ['two digests', 'bare', `${digest}\n${other}\n`, 'is not a sha256 digest'],
  ['a bare digest for lines', 'lines', digest, 'has no line with a sha256 digest'],
  ['a line for a bare digest', 'bare', `${digest}  runc.amd64`, 'is not a sha256 digest'],
  ['another name', 'lines', `${digest}  runc.arm64`, 'has no line for runc.amd64'],
  ['a name in another folder', 'lines', `${digest}  evil/runc.amd64`, 'has no line for runc.amd64'],
  [
    'two different digests for one name',
    'lines',
    `${digest}  runc.amd64\n${other}  runc.amd64`,
    'has more than one digest for runc.amd64',
  ],
  [
    'a file over the size limit',
    'lines',
    `${digest}  runc.amd64\n`.padEnd(maxChecksumFileBytes + 1),
    'is too long for a checksum file',
  ],
])('%s is refused (%s)', (_, format, text, reason) => {
  expect(readChecksum(text, format, 'runc.amd64')).toEqual({ ok: false, reason })
})

const formats = constantFrom<ChecksumFormat[]>('bare', 'lines')

test('any text results in a digest or in a reason', () => {
  assert(
    property(string({ unit: 'binary', maxLength: 300 }), formats, string(), (text, format, name) => {
      const read = readChecksum(text, format, name)
      expect(read.ok ? read.sha256 : read.reason).toMatch(read.ok ? /^[0-9a-f]{64}$/ : /./)
    }),
  )
})

test('only the line of the requested file name gives a digest', () => {
  const noise = stringMatching(/^[ -~\n]{0,200}$/)
  const name = stringMatching(/^[a-z0-9.-]{1,40}$/)
  assert(
    property(noise, noise, name, name, constantFrom(' ', '*'), (before, after, wanted, requested, mark) => {
      const read = readChecksum(`${before}\n${digest} ${mark}${wanted}\n${after}`, 'lines', requested)
      expect(read).toEqual(
        wanted === requested
          ? { ok: true, sha256: digest }
          : { ok: false, reason: `has no line for ${requested}` },
      )
    }),
  )
})
