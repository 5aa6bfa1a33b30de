import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import { installReleaseTools } from '../../lab/prerequisites.ts'
import { terminalReport } from '../../lab/report.ts'
import { signMachO } from '../../scripts/executable/mach-o-signature.ts'
import { buildDebianPackage } from '../../scripts/release/linux-packages.ts'
import { readReleaseSource } from '../../scripts/release/source.ts'
import { isOfRelease, type ReleaseTable } from '../../src/contract/release-table.ts'
import { runProgram } from '../../src/kit/command.ts'
import { readFileBytes } from '../../src/kit/files.ts'
import { openFreshLab, startOneHost } from '../support/lab.ts'
import { writeReleaseEvidence } from '../support/release-evidence.ts'

const root = join(import.meta.dirname, '../..')
let version = ''
const url = 'https://release.invalid/download'
const stack = new AsyncDisposableStack()
let directory = ''
/** Directory with the files of each build. */
const builds: string[] = []
const seconds: number[] = []

beforeAll(async () => {
  await installReleaseTools(terminalReport())
  version = (await readReleaseSource(root, true)).version
  directory = await mkdtemp(join(tmpdir(), 'hyperkube-release-'))
  stack.defer(async () => rm(directory, { recursive: true }))
  await runProgram(['minisign', '-G', '-W', '-p', join(directory, 'pub'), '-s', join(directory, 'key')])
  for (const name of ['one', 'two']) await build(name)
}, 7_200_000)
afterAll(async () => stack.disposeAsync())

/** Clones the commit into its own directory and makes a release there. */
async function build(name: string): Promise<void> {
  const clone = join(directory, name, 'source')
  const output = join(directory, name, 'release')
  const started = performance.now()
  await runProgram(['git', 'clone', '--quiet', root, clone])
  await symlink(join(root, 'node_modules'), join(clone, 'node_modules'))
  const options = ['--key', join(directory, 'key'), '--output', output, '--url', url, '--allow-untagged']
  await runProgram([process.execPath, join(clone, 'scripts/release.ts'), ...options])
  seconds.push((performance.now() - started) / 1000)
  builds.push(output)
}

test('two builds in two directories have the same files', async () => {
  const [one, two] = await Promise.all(builds.map(async (path) => readFile(join(path, 'SHA256SUMS'), 'utf8')))
  expect(one).toBe(two)
  expect(one?.trim().split('\n')).toHaveLength(21)
  await writeReleaseEvidence({ version, checksums: one ?? '', seconds })
})

test('the arm64 executable runs under emulation with its compiled code', async () => {
  const file = join(builds[0] ?? '', 'hyperkube-linux-arm64')
  const run = ['qemu-aarch64-static', '-L', '/usr/aarch64-linux-gnu', file, 'version'] as const
  expect((await runProgram(run)).stdout).toBe(`hyperkube ${version}\n`)
})

test('the x64 executable contains the digests of the others, which match', async () => {
  const release = builds[0] ?? ''
  const content = await readFile(join(release, 'hyperkube-linux-x64'), 'latin1')
  const table: ReleaseTable = JSON.parse(/\{"url":"[^\n]*?\}\}\}/.exec(content)?.[0] ?? '')
  expect(table.url).toBe(url)
  for (const name of ['hyperkube-linux-x64', 'hyperkube-linux-arm64', 'hyperkube-windows-x64.exe'])
    expect(await isOfRelease(readFileBytes(join(release, name)), name, table)).toBe(true)
})

test('the Windows executable has no signature entry', async () => {
  const program = await readFile(join(builds[0] ?? '', 'hyperkube-windows-x64.exe'))
  const header = program.readUInt32LE(0x3c) + 24
  expect(program.readBigUInt64LE(header + 144)).toBe(0n)
})

test('macOS executables are signed, and our signature has the same bytes as that of the linker of Go', async () => {
  for (const arch of ['x64', 'arm64']) {
    const program = await readFile(join(builds[0] ?? '', `hyperkube-darwin-${arch}`))
    expect(signMachO(program, 'hyperkube').equals(program)).toBe(true)
  }
  await writeFile(join(directory, 'main.go'), 'package main\n\nfunc main() { println("hello") }\n')
  const env = { ...process.env, GOOS: 'darwin', GOARCH: 'arm64', CGO_ENABLED: '0' }
  await runProgram(['go', 'build', '-o', 'hello', 'main.go'], { cwd: directory, env })
  const signed = await readFile(join(directory, 'hello'))
  const damaged = Buffer.from(signed)
  damaged.fill(0, damaged.length - 32)
  expect(signMachO(damaged, 'a.out').equals(signed)).toBe(true)
})

test('apt installs, upgrades and removes the package from a repository', async () => {
  const repository = join(directory, 'repository')
  await mkdir(repository)
  const deb = `hyperkube_${version}_amd64.deb`
  await copyFile(join(builds[0] ?? '', deb), join(repository, deb))
  const lab = await openFreshLab('release')
  stack.defer(async () => lab.down())
  const host = await startOneHost(lab, 'h1')
  await publish(host, repository)
  const apt = 'DEBIAN_FRONTEND=noninteractive apt-get -q -y'
  const list = 'echo "deb [trusted=yes] file:/srv/repository ./" > /etc/apt/sources.list'
  await host.script(`rm -f /etc/apt/sources.list.d/*; ${list}; ${apt} update; ${apt} install hyperkube`)
  expect((await host.exec(['hyperkube', 'version'])).stdout).toBe(`hyperkube ${version}\n`)
  const { stdout: files } = await host.exec(['dpkg', '--verify', 'hyperkube'])
  expect(files).toBe('')
  const newer = { version: '0.999.0', commit: '', epoch: 1_700_000_000, isTagged: false }
  const executable = join(builds[0] ?? '', 'hyperkube-linux-x64')
  await buildDebianPackage({ source: newer, executable, arch: 'x64', license: '', directory: repository })
  await publish(host, repository)
  await host.script(`${apt} update; ${apt} install hyperkube`)
  const { stdout: installed } = await host.exec(['dpkg-query', '-W', '-f', '${Version}', 'hyperkube'])
  expect(installed).toBe('0.999.0')
  await host.script(`${apt} purge hyperkube`)
  const { stdout: left } = await host.script('find / -xdev -path /srv -prune -o -name "*hyperkube*" -print')
  expect(left.split('\n').filter((path) => !path.startsWith('/var/lib/apt/lists'))).toEqual([''])
})

/** Writes the index of an apt repository, and copies the repository to a host. */
async function publish(host: Host, repository: string): Promise<void> {
  const { stdout } = await runProgram(['apt-ftparchive', 'packages', '.'], { cwd: repository })
  await writeFile(join(repository, 'Packages'), stdout)
  const archive = join(directory, 'repository.tar')
  await runProgram(['tar', '-C', repository, '-cf', archive, '.'])
  await host.script('rm -rf /srv/repository; mkdir -p /srv/repository')
  await host.exec(['tar', '-C', '/srv/repository', '-xf', '-'], { input: await readFile(archive) })
}
