import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseDocument, stringify } from 'yaml'
import { sendFiles } from '../../lab/cluster/send-files.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { buildClusterDocument } from '../../lab/hyperkube/cluster-document.ts'
import { installReleaseTools } from '../../lab/prerequisites.ts'
import { terminalReport } from '../../lab/report.ts'
import { signMachO } from '../../scripts/executable/mach-o-signature.ts'
import { buildDebianPackage } from '../../scripts/release/linux-packages.ts'
import { formatPublicKey, parseSecretKey } from '../../scripts/release/minisign.ts'
import { readReleaseSource } from '../../scripts/release/source.ts'
import { isOfRelease, type ReleaseTable } from '../../src/contract/release-table.ts'
import { type CommandResult, runProgram } from '../../src/kit/command.ts'
import { readFileBytes } from '../../src/kit/files.ts'
import { upArgs } from '../support/fault-lab.ts'
import { openLabMirror } from '../support/lab-mirror.ts'
import { openFreshLab, startOneHost } from '../support/lab.ts'
import { writeReleaseEvidence } from '../support/release-evidence.ts'

const root = join(import.meta.dirname, '../..')
let version = ''
const url = 'https://release.invalid/download'
const stack = new AsyncDisposableStack()
let directory = ''
/** Directories with the files of two builds. The second build has only the public key. */
let release = ''
let repeated = ''
const seconds: number[] = []
let lab: Lab
/** The machine of the operator. */
let operator: Host
/** One sentence for each test that has passed. */
const passed: string[] = []

beforeAll(async () => {
  await installReleaseTools(terminalReport())
  version = (await readReleaseSource(root, true)).version
  directory = await mkdtemp(join(tmpdir(), 'hyperkube-release-'))
  stack.defer(async () => rm(directory, { recursive: true }))
  const key = join(directory, 'key')
  await runProgram(['minisign', '-G', '-W', '-p', join(directory, 'pub'), '-s', key])
  const publicKey = formatPublicKey(parseSecretKey(await readFile(key, 'utf8')))
  release = await build('one', root, ['--key', key])
  // The repository may have a newer commit by now.
  repeated = await build('two', join(directory, 'one/source'), ['--public-key', publicKey])
}, 7_200_000)
afterAll(async () => stack.disposeAsync())

/** Clones a repository into its own directory and makes a release there. Returns the directory of the files. */
async function build(name: string, repository: string, key: readonly string[]): Promise<string> {
  const clone = join(directory, name, 'source')
  const output = join(directory, name, 'release')
  const started = performance.now()
  await runProgram(['git', 'clone', '--quiet', repository, clone])
  await symlink(join(root, 'node_modules'), join(clone, 'node_modules'))
  const options = [...key, '--output', output, '--url', url, '--allow-untagged']
  await runProgram([process.execPath, join(clone, 'scripts/release.ts'), ...options])
  seconds.push((performance.now() - started) / 1000)
  return output
}

test('a second build without the secret key has the same files', async () => {
  const checksums = await readFile(join(release, 'SHA256SUMS'), 'utf8')
  expect(await readFile(join(repeated, 'SHA256SUMS'), 'utf8')).toBe(checksums)
  expect(checksums.trim().split('\n')).toHaveLength(22)
  expect(await readdir(repeated)).not.toContain('SHA256SUMS.minisig')
  passed.push('The second build had only the public key. All 22 files are equal.')
})

/** Runs `version --verify` of the x64 executable, which contains the public key. */
async function verify(file: string): Promise<CommandResult> {
  const program = join(release, 'hyperkube-linux-x64')
  return runProgram([program, 'version', '--verify', file], { allowFailure: true })
}

test('minisign, sha256sum and version --verify accept every file', async () => {
  const options = { cwd: release }
  await runProgram(['minisign', '-V', '-q', '-p', join(directory, 'pub'), '-m', 'SHA256SUMS'], options)
  await runProgram(['sha256sum', '--check', '--strict', '--quiet', 'SHA256SUMS'], options)
  const names = await readdir(release)
  for (const name of names) {
    const { code, stdout } = await verify(join(release, name))
    expect({ name, code }).toEqual({ name, code: 0 })
    expect(stdout).toContain(`valid, hyperkube ${version} test release`)
  }
  passed.push(`minisign, sha256sum and \`hyperkube version --verify\` accept all ${names.length} files.`)
})

test('version --verify refuses every file in which one bit was changed', async () => {
  const copy = join(directory, 'tampered')
  await mkdir(copy)
  const names = await readdir(release)
  for (const name of ['SHA256SUMS', 'SHA256SUMS.minisig'])
    await copyFile(join(release, name), join(copy, name))
  for (const name of names) {
    const content = await readFile(join(release, name))
    // In the file of the signature, this byte is in the signature, and not in its untrusted comment.
    content[60] = (content[60] ?? 0) ^ 1
    await writeFile(join(copy, name), content)
    const { code, stderr } = await verify(join(copy, name))
    expect({ name, code }).toEqual({ name, code: 1 })
    expect(stderr).toContain('RELEASE_NOT_VERIFIED')
    await rm(join(copy, name))
    if (name.startsWith('SHA256SUMS')) await copyFile(join(release, name), join(copy, name))
  }
  passed.push('`version --verify` refuses each of them after one bit was changed.')
})

test('the arm64 executable runs under emulation with its compiled code', async () => {
  const file = join(release, 'hyperkube-linux-arm64')
  const run = ['qemu-aarch64-static', '-L', '/usr/aarch64-linux-gnu', file, 'version'] as const
  expect((await runProgram(run)).stdout).toBe(`hyperkube ${version}\n`)
  passed.push('The arm64 executable prints its version under qemu.')
})

test('the x64 executable contains the digests of the others, which match', async () => {
  const content = await readFile(join(release, 'hyperkube-linux-x64'), 'latin1')
  const table: ReleaseTable = JSON.parse(/\{"url":"[^\n]*?\}\}\}/.exec(content)?.[0] ?? '')
  expect(table.url).toBe(url)
  for (const name of ['hyperkube-linux-x64', 'hyperkube-linux-arm64', 'hyperkube-windows-x64.exe'])
    expect(await isOfRelease(readFileBytes(join(release, name)), name, table)).toBe(true)
  passed.push('The table in the x64 executable accepts all three executables for hosts.')
})

test('the Windows executable has no signature entry', async () => {
  const program = await readFile(join(release, 'hyperkube-windows-x64.exe'))
  const header = program.readUInt32LE(0x3c) + 24
  expect(program.readBigUInt64LE(header + 144)).toBe(0n)
  passed.push('The Windows executable has no entry for an Authenticode signature.')
})

test('macOS executables are signed, and our signature has the same bytes as that of the linker of Go', async () => {
  for (const arch of ['x64', 'arm64']) {
    const program = await readFile(join(release, `hyperkube-darwin-${arch}`))
    expect(signMachO(program, 'hyperkube').equals(program)).toBe(true)
  }
  await writeFile(join(directory, 'main.go'), 'package main\n\nfunc main() { println("hello") }\n')
  const env = { ...process.env, GOOS: 'darwin', GOARCH: 'arm64', CGO_ENABLED: '0' }
  await runProgram(['go', 'build', '-o', 'hello', 'main.go'], { cwd: directory, env })
  const signed = await readFile(join(directory, 'hello'))
  const damaged = Buffer.from(signed)
  damaged.fill(0, damaged.length - 32)
  expect(signMachO(damaged, 'a.out').equals(signed)).toBe(true)
  passed.push(
    "The ad-hoc signature of a macOS program of Go's linker, made again by our code, has the same bytes.",
  )
})

test('createrepo makes a repository of the rpm packages, with their digests', async () => {
  const repository = join(directory, 'rpm-repository')
  await mkdir(repository)
  const names = (await readdir(release)).filter((name) => name.endsWith('.rpm'))
  for (const name of names) {
    await copyFile(join(release, name), join(repository, name))
    const { stdout } = await runProgram(['rpm', '--checksig', '--nosignature', join(repository, name)])
    expect(stdout).toContain('digests OK')
  }
  await runProgram(['createrepo_c', '--quiet', '--compress-type=gz', repository])
  const index = await readdir(join(repository, 'repodata'))
  const primary = index.find((name) => name.endsWith('primary.xml.gz')) ?? ''
  const text = gunzipSync(await readFile(join(repository, 'repodata', primary))).toString()
  expect(text).toContain('packages="2"')
  const checksums = await readFile(join(release, 'SHA256SUMS'), 'utf8')
  for (const name of names) {
    const sha256 = checksums
      .split('\n')
      .find((line) => line.endsWith(name))
      ?.slice(0, 64)
    expect(text).toContain(`<checksum type="sha256" pkgid="YES">${sha256}</checksum>`)
  }
  passed.push('createrepo_c makes a repository of both rpm packages with the digests of the release.')
})

test('the arm64 image contains all libraries of its program', async () => {
  const layout = join(directory, 'layout')
  await mkdir(layout)
  await runProgram(['tar', '-xf', join(release, `hyperkube-${version}-image.tar`), '-C', layout])
  const readBlob = async (digest: string): Promise<string> =>
    readFile(join(layout, 'blobs', digest.replace(':', '/')), 'utf8')
  const { manifests: tops } = JSON.parse(await readFile(join(layout, 'index.json'), 'utf8'))
  const { manifests } = JSON.parse(await readBlob(tops[0].digest))
  expect(manifests[1].platform).toEqual({ architecture: 'arm64', os: 'linux' })
  const { layers } = JSON.parse(await readBlob(manifests[1].digest))
  const files = join(directory, 'arm64')
  await mkdir(files)
  const layer = join(layout, 'blobs', layers[0].digest.replace(':', '/'))
  await runProgram(['tar', '-xzf', layer, '-C', files])
  const program = join(files, 'usr/bin/hyperkube')
  const run = ['qemu-aarch64-static', '-L', files, program, 'version'] as const
  expect((await runProgram(run)).stdout).toBe(`hyperkube ${version}\n`)
  passed.push(
    'The program in the arm64 image prints its version under qemu, with the libraries of the image.',
  )
})

test('apt installs the package from a repository', async () => {
  lab = await openFreshLab('release')
  stack.defer(async () => lab.down())
  operator = await startOneHost(lab, 'op')
  const deb = `hyperkube_${version}_amd64.deb`
  await mkdir(aptRepository())
  await copyFile(join(release, deb), join(aptRepository(), deb))
  await publish()
  const list = 'echo "deb [trusted=yes] file:/srv/repository ./" > /etc/apt/sources.list'
  await operator.script(`rm -f /etc/apt/sources.list.d/*; ${list}; ${apt} update; ${apt} install hyperkube`)
  expect((await operator.exec(['hyperkube', 'version'])).stdout).toBe(`hyperkube ${version}\n`)
  const { stdout: changes } = await operator.exec(['dpkg', '--verify', 'hyperkube'])
  expect(changes).toBe('')
  passed.push('apt installs the Debian package on a lab host, from a repository on that host.')
})

test('the installed package brings up a control plane and a worker', async () => {
  const hosts = await lab.up(['cp1', 'w1'], { disk: 'loop', diskGigabytes: 12 })
  const [first] = hosts
  if (first === undefined) throw new Error('no host came up')
  const mirror = await openLabMirror(lab)
  stack.defer(async () => mirror.close())
  const document = parseDocument(stringify(buildClusterDocument('1.37.1', mirror.address, hosts)))
  document.setIn(['spec', 'ssh', 'key'], '/root/lab.key')
  const knownHosts = await Promise.all(hosts.map(async ({ ssh }) => readFile(ssh.knownHosts, 'utf8')))
  await sendFiles(operator, {
    'root/cluster.yml': String(document),
    'root/lab.key': await readFile(first.ssh.keyFile, 'utf8'),
    'root/.ssh/known_hosts': knownHosts.join(''),
  })
  await operator.script(`cd /root; hyperkube init; hyperkube lock; hyperkube ${upArgs.join(' ')}`)
  const { stdout } = await operator.script('cd /root; hyperkube kubectl get nodes')
  expect(stdout).toMatch(/^cp1 +Ready[\s\S]*^w1 +Ready/m)
  passed.push(
    'The installed package, with that host as the machine of the operator, brings up Kubernetes 1.37.1 on two other hosts (`init`, `lock`, `up`).',
  )
})

test('containerd imports and runs the image', async () => {
  // The control plane of the cluster has containerd.
  const [host] = await lab.up(['cp1'])
  if (host === undefined) throw new Error('cp1 did not come up')
  const image = await readFile(join(release, `hyperkube-${version}-image.tar`))
  await host.exec(['dd', 'of=/root/image.tar', 'status=none'], { input: image })
  const mount = '--mount type=bind,src=/root/shop,dst=/work,options=rbind:rw'
  const name = `localhost/hyperkube:${version}`
  const { stdout } = await host.script(`ctr=$(echo /opt/hyperkube/containerd-*/ctr)
$ctr images import /root/image.tar >&2
$ctr run --rm ${name} version /usr/bin/hyperkube version
mkdir /root/shop
$ctr run --rm ${mount} ${name} init /usr/bin/hyperkube init --name shop --host 10.0.0.1=control-plane >&2
ls /root/shop`)
  expect(stdout).toContain(`hyperkube ${version}\ncluster.identity\ncluster.yml\n`)
  passed.push(
    'containerd 2.3.7 on a lab host imports the image with `ctr images import` and runs it. `init` in it writes cluster.yml into a mounted directory.',
  )
})

test('apt upgrades and removes the package', async () => {
  const newer = { version: '0.999.0', commit: '', epoch: 1_700_000_000, isTagged: false }
  const executable = join(release, 'hyperkube-linux-x64')
  await buildDebianPackage({
    source: newer,
    executable,
    arch: 'x64',
    license: '',
    directory: aptRepository(),
  })
  await publish()
  await operator.script(`${apt} update; ${apt} install hyperkube`)
  const { stdout: installed } = await operator.exec(['dpkg-query', '-W', '-f', '${Version}', 'hyperkube'])
  expect(installed).toBe('0.999.0')
  await operator.script(`${apt} purge hyperkube`)
  const { stdout: left } = await operator.script(
    'find / -xdev \\( -path /srv -o -path /root \\) -prune -o -name "*hyperkube*" -print',
  )
  expect(left.split('\n').filter((path) => !path.startsWith('/var/lib/apt/lists'))).toEqual([''])
  passed.push('apt upgrades the package to a newer version and removes it without a trace.')
})

const apt = 'DEBIAN_FRONTEND=noninteractive apt-get -q -y'
const aptRepository = (): string => join(directory, 'repository')

/** Writes the index of the apt repository, and copies the repository to the machine of the operator. */
async function publish(): Promise<void> {
  const { stdout } = await runProgram(['apt-ftparchive', 'packages', '.'], { cwd: aptRepository() })
  await writeFile(join(aptRepository(), 'Packages'), stdout)
  const archive = join(directory, 'repository.tar')
  await runProgram(['tar', '-C', aptRepository(), '-cf', archive, '.'])
  await operator.script('rm -rf /srv/repository; mkdir -p /srv/repository')
  await operator.exec(['tar', '-C', '/srv/repository', '-xf', '-'], { input: await readFile(archive) })
}

test('the report lists what passed', async () => {
  const checksums = await readFile(join(release, 'SHA256SUMS'), 'utf8')
  expect(passed).toHaveLength(13)
  await writeReleaseEvidence({ version, checksums, seconds, passed })
})
