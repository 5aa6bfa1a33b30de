import { createReadStream } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { assembleRelease } from '../../scripts/release/assemble.ts'
import { parseSecretKey, signContent } from '../../scripts/release/minisign.ts'
import { readReleaseSource } from '../../scripts/release/source.ts'
import { createBlankTable } from '../../src/contract/release-table.ts'
import { type CommandResult, runProgram } from '../../src/kit/command.ts'

let version = ''
let directory = ''
let release = ''
let server: Server
let url = ''
/** Content that the server sends instead of a file of the release. */
const tampered = new Map<string, string | Buffer>()

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hyperkube-release-'))
  release = join(directory, 'release')
  await mkdir(release)
  const executable = join(release, 'hyperkube-linux-x64')
  const keys = { public: join(directory, 'minisign.pub'), secret: join(directory, 'minisign.key') }
  await runProgram(['minisign', '-G', '-W', '-p', keys.public, '-s', keys.secret])
  server = createServer((request, response) => {
    const name = (request.url ?? '').slice(1)
    const content = tampered.get(name)
    if (content === undefined) createReadStream(join(release, name)).pipe(response)
    else response.end(content)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  url = `http://127.0.0.1:${address.port}`
  const source = await readReleaseSource(join(import.meta.dirname, '../..'), true)
  version = source.version
  // The content of the executable does not matter here, and compressing the real one takes a minute.
  // test/full/release.test.ts packs the real one.
  const script = `#!/bin/sh\necho hyperkube ${version}\nexit\n`
  await writeFile(executable, Buffer.concat([Buffer.from(script), createBlankTable()]), { mode: 0o755 })
  await assembleRelease({
    source,
    directory: release,
    executables: [executable],
    key: parseSecretKey(await readFile(keys.secret, 'utf8')),
    url,
    repository: 'https://example.com/hyperkube.git',
    builder: 'test',
    onStep: () => undefined,
  })
}, 300_000)
afterAll(async () => {
  server.close()
  await rm(directory, { recursive: true })
})

test('the release has every kind of file, and minisign and sha256sum accept it', async () => {
  expect((await readdir(release)).toSorted()).toEqual(
    [
      'RELEASE_NOTES.md',
      'SHA256SUMS',
      'SHA256SUMS.minisig',
      `hyperkube-${version}-1.x86_64.rpm`,
      `hyperkube-${version}-man-and-completions.tar.gz`,
      `hyperkube-${version}.cdx.json`,
      `hyperkube-${version}.spdx.json`,
      `hyperkube-${version}.tgz`,
      'hyperkube-linux-x64',
      'hyperkube-linux-x64.gz',
      `hyperkube_${version}_amd64.deb`,
      'install.sh',
      'provenance.intoto.json',
    ].toSorted(),
  )
  const key = join(directory, 'minisign.pub')
  const { stdout } = await runProgram(['minisign', '-V', '-p', key, '-m', 'SHA256SUMS'], { cwd: release })
  expect(stdout).toContain('Signature and comment signature verified')
  expect(stdout).toContain(`hyperkube ${version}`)
  await runProgram(['sha256sum', '--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: release })
})

test('the Debian package contains the program, pages and completions', async () => {
  const file = join(release, `hyperkube_${version}_amd64.deb`)
  const { stdout } = await runProgram(['dpkg-deb', '--contents', file])
  for (const path of ['./usr/bin/hyperkube', './usr/share/man/man1/hyperkube-up.1.gz'])
    expect(stdout).toMatch(new RegExp(`root/root .* ${path.replaceAll('.', '\\.')}\n`))
  const fields = await runProgram(['dpkg-deb', '--field', file, 'Package', 'Version', 'Architecture'])
  expect(fields.stdout).toBe(`Package: hyperkube\nVersion: ${version}\nArchitecture: amd64\n`)
})

test('the rpm package has valid digests and the same files', async () => {
  const file = join(release, `hyperkube-${version}-1.x86_64.rpm`)
  expect((await runProgram(['rpm', '--checksig', '--nosignature', file])).stdout).toContain('digests OK')
  const { stdout } = await runProgram(['rpm', '-qp', '--list', file])
  expect(stdout).toContain('/usr/bin/hyperkube\n')
  expect(stdout).toContain('/usr/share/fish/vendor_completions.d/hyperkube.fish\n')
})

test('the npm package runs without installing anything else', async () => {
  const cache = join(directory, 'npm-cache')
  const tarball = join(release, `hyperkube-${version}.tgz`)
  const { stdout } = await runProgram(
    ['npx', '--yes', '--offline', '--cache', cache, `--package=${tarball}`, 'hyperkube', '--version'],
    { cwd: directory, env: { PATH: process.env['PATH'], HOME: directory } },
  )
  expect(stdout).toContain(version)
})

/** Runs install.sh. `PATH` decides which program verifies the signature. */
async function install(path: string): Promise<CommandResult> {
  const target = join(directory, 'bin')
  await rm(target, { recursive: true, force: true })
  return runProgram(['sh', join(release, 'install.sh'), '--dir', target], {
    env: { PATH: path },
    allowFailure: true,
  })
}

/** Makes a directory with the tools of a machine that has no minisign. */
async function createToolsWithoutMinisign(): Promise<string> {
  const tools = join(directory, 'tools')
  await mkdir(tools, { recursive: true })
  const names = ['sh', 'uname', 'mktemp', 'rm', 'curl', 'openssl', 'sed', 'tail', 'head', 'grep', 'sha256sum']
  for (const name of [...names, 'cut', 'gzip', 'chmod', 'mkdir', 'cp', 'mv', 'cat'])
    await runProgram(['sh', '-c', 'ln -sf "$(command -v "$1")" "$2/$1"', 'sh', name, tools])
  return tools
}

const verifiers = [
  ['minisign', async () => Promise.resolve(process.env['PATH'] ?? '')],
  ['openssl', createToolsWithoutMinisign],
] as const

test.each(verifiers)('install.sh verifies with %s and installs', async (_, findPath) => {
  const { code, stdout, stderr } = await install(await findPath())
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain(`installed hyperkube ${version}`)
  const installed = join(directory, 'bin/hyperkube')
  expect((await runProgram([installed, 'version'])).stdout).toBe(`hyperkube ${version}\n`)
})

test.each(verifiers)('install.sh with %s refuses every tampered file', async (_, findPath) => {
  const path = await findPath()
  const sums = await readFile(join(release, 'SHA256SUMS'), 'utf8')
  const signature = await readFile(join(release, 'SHA256SUMS.minisig'), 'utf8')
  const cases = [
    ['hyperkube-linux-x64.gz', 'changed', 'checksum'],
    ['SHA256SUMS', sums.replace(/^./, (digit) => (digit === '0' ? '1' : '0')), 'signature'],
    ['SHA256SUMS.minisig', signature.replace(/^trusted comment: /m, 'trusted comment: x'), 'signature'],
    ['SHA256SUMS.minisig', 'no signature', 'signature'],
  ] as const
  for (const [name, content, message] of cases) {
    tampered.set(name, content)
    const { code, stderr } = await install(path)
    tampered.clear()
    expect({ name, code }).toEqual({ name, code: 1 })
    expect(stderr).toMatch(new RegExp(`${message}.*nothing was installed`))
    expect(await readdir(directory)).not.toContain('bin')
  }
})

test.each(verifiers)('install.sh with %s refuses another version of the same key', async (_, findPath) => {
  const sums = await readFile(join(release, 'SHA256SUMS'))
  const key = parseSecretKey(await readFile(join(directory, 'minisign.key'), 'utf8'))
  const signature = signContent(sums, key, 'hyperkube 0.0.1')
  tampered.set('SHA256SUMS.minisig', `${signature}trusted comment: hyperkube ${version}\n`)
  const { code, stderr } = await install(await findPath())
  tampered.clear()
  expect(code).toBe(1)
  expect(stderr).toContain(`does not contain version ${version}; nothing was installed`)
})

test('install.sh refuses a release that is signed with another key', async () => {
  const other = join(directory, 'other')
  await mkdir(other)
  await copyFile(join(release, 'SHA256SUMS'), join(other, 'SHA256SUMS'))
  await runProgram(['minisign', '-G', '-W', '-p', join(other, 'pub'), '-s', join(other, 'key')])
  await runProgram(['minisign', '-S', '-s', join(other, 'key'), '-m', join(other, 'SHA256SUMS')])
  tampered.set('SHA256SUMS.minisig', await readFile(join(other, 'SHA256SUMS.minisig')))
  const { code, stderr } = await install(process.env['PATH'] ?? '')
  tampered.clear()
  expect(code).toBe(1)
  expect(stderr).toContain('signature')
})

test('the provenance names the commit and the digest of each file', async () => {
  const statement: unknown = JSON.parse(await readFile(join(release, 'provenance.intoto.json'), 'utf8'))
  const sums = await readFile(join(release, 'SHA256SUMS'), 'utf8')
  const [, deb = ''] = /^(\w+) {2}hyperkube_.*deb$/m.exec(sums) ?? []
  expect(statement).toMatchObject({
    predicateType: 'https://slsa.dev/provenance/v1',
    subject: expect.arrayContaining([{ name: `hyperkube_${version}_amd64.deb`, digest: { sha256: deb } }]),
  })
})
