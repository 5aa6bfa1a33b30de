import { describe, expect, test } from 'vitest'
import { type CliResult, type InMemoryOptions, runHyperkube } from '../testing/run-in-memory.ts'

// Debian's minisign 0.11 signed these checksums. The key is used only here.
const releaseKey = 'RWSjLuMdnwBRVqMyqB5D4n4aJfM4XjUyd6JSoLDIwgLmgd3YpWV+6iLe'
const files = {
  'd/hyperkube-linux-x64': 'program\n',
  'd/install.sh': 'script\n',
  'd/SHA256SUMS': `fba13a37a73d657dc0f1e671f0dc714f9891dd4da15ec45bd2a6f83e0434648e  hyperkube-linux-x64
5708c28ed70f5aeb31081a46b1ff4b62f772a424563ab73c1132ca08a38ca4e7  install.sh
`,
  'd/SHA256SUMS.minisig': `untrusted comment: signature from minisign secret key
RUSjLuMdnwBRVrNXxonacxlF/gb/B5rthELqbvcLCeHNTn2A87i4pC00q8/4gfBed6g04vDZlsft9rwzWGnwjos8hvYrvNmobQQ=
trusted comment: hyperkube 1.2.3
X6cGdrxms75zXoW7GqoruNBqs3B3Ph2c90SWtY9MBQbv1XwL2/VyIncW4VFZIPduGeFPqVsjlk1gvXhABBqQBw==
`,
}

async function verify(
  name: string,
  changed: Readonly<Record<string, string>> = {},
  options: InMemoryOptions = { releaseKey },
): Promise<CliResult> {
  return runHyperkube(`version --verify d/${name}`, { ...files, ...changed }, options)
}

test.each(['hyperkube-linux-x64', 'install.sh', 'SHA256SUMS', 'SHA256SUMS.minisig'])(
  '%s of a release is valid',
  async (name) => {
    expect(await verify(name)).toMatchObject({
      code: 0,
      stdout: `d/${name}: valid, hyperkube 1.2.3\n`,
      stderr: '',
    })
  },
)

test('-o json prints the digest and the signed comment', async () => {
  const { stdout } = await runHyperkube('version --verify d/install.sh -o json', files, { releaseKey })
  expect(JSON.parse(stdout)).toEqual({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'VerifiedDownload',
    file: 'd/install.sh',
    sha256: files['d/SHA256SUMS'].split('\n')[1]?.slice(0, 64),
    release: 'hyperkube 1.2.3',
  })
})

describe('is refused:', () => {
  const sums = files['d/SHA256SUMS']
  const signature = files['d/SHA256SUMS.minisig']
  test.each([
    ['a changed file', 'd/hyperkube-linux-x64', 'changed\n', 'SHA-256 of d/hyperkube-linux-x64'],
    ['a changed checksum', 'd/SHA256SUMS', sums.replace(/^./, '0'), 'the signature'],
    ['an additional checksum', 'd/SHA256SUMS', `${sums}${'0'.repeat(64)}  other\n`, 'the signature'],
    ['a changed comment', 'd/SHA256SUMS.minisig', signature.replace('1.2.3', '1.2.4'), 'the signature'],
    ['an empty signature', 'd/SHA256SUMS.minisig', '', 'the signature'],
  ])('%s', async (_, path, content, message) => {
    const { code, stdout, stderr } = await verify('hyperkube-linux-x64', { [path]: content })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('RELEASE_NOT_VERIFIED')
    expect(stderr).toContain(message)
    expect(stderr).toContain('do not use d/hyperkube-linux-x64')
  })

  test('a file that is not of the release', async () => {
    const { code, stderr } = await verify('SUMS', { 'd/SUMS': 'content' })
    expect(code).toBe(1)
    expect(stderr).toContain('RELEASE_NOT_VERIFIED')
    expect(stderr).toContain('SHA256SUMS of hyperkube 1.2.3 does not contain SUMS')
  })

  test('a release of another key', async () => {
    const { code, stderr } = await verify(
      'install.sh',
      {},
      { releaseKey: 'RWTokpJzTcxI+P/SJZNpnEAw7ypuyD6F99MyiOLvQPSspG1iD2yc3lCz' },
    )
    expect(code).toBe(1)
    expect(stderr).toContain('RELEASE_NOT_VERIFIED')
  })
})

test('a missing file is named, with what to download', async () => {
  const { code, stderr } = await runHyperkube('version --verify d/x', { 'd/x': '' }, { releaseKey })
  expect(code).toBe(1)
  expect(stderr).toContain('RELEASE_FILE_NOT_READ')
  expect(stderr).toContain('download SHA256SUMS of the same release into d')
})

test('a program without a key needs --public-key, which must be a key', async () => {
  const without = await verify('install.sh', {}, {})
  expect(without.code).toBe(1)
  expect(without.stderr).toContain('RELEASE_KEY_MISSING')
  expect(without.stderr).toContain('hyperkube version --verify d/install.sh --public-key KEY')
  const command = 'version --verify d/install.sh --public-key'
  expect((await runHyperkube(`${command} ${releaseKey}`, files)).code).toBe(0)
  expect((await runHyperkube(`${command} RWQ`, files)).stderr).toContain('RWQ is not a public key')
})
