import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { conformanceBinaryPath } from '../../catalog/artifacts.ts'
import { httpFetcher } from '../../catalog/fetcher.ts'
import { runProgram } from '../../kit/command.ts'
import { prepareKubectl, prepareSuiteProgram } from './programs.ts'

const program = '#!/bin/sh\necho v1.37.1\n'
const archivePath = '/dl.k8s.io/v1.37.1/kubernetes-test-linux-amd64.tar.gz'
const kubectlPath = '/dl.k8s.io/release/v1.37.1/bin/linux/amd64/kubectl'

let root: string
let mirror: string
let close: () => Promise<void>
let files: Map<string, Buffer>
let requests: string[]

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'programs-'))
  const member = join(root, 'tree', conformanceBinaryPath)
  await mkdir(dirname(member), { recursive: true })
  await writeFile(member, program)
  await runProgram(['tar', '-czf', join(root, 'tests.tar.gz'), '-C', join(root, 'tree'), 'kubernetes'])
  const archive = await readFile(join(root, 'tests.tar.gz'))
  files = new Map([
    [archivePath, archive],
    [`${archivePath}.sha256`, Buffer.from(createHash('sha256').update(archive).digest('hex'))],
    [kubectlPath, Buffer.from(program)],
    [`${kubectlPath}.sha256`, Buffer.from(createHash('sha256').update(program).digest('hex'))],
  ])
  requests = []
  const server = createServer(({ url = '' }, response) => {
    requests.push(url)
    const file = files.get(url)
    response.writeHead(file === undefined ? 404 : 200).end(file)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  mirror = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})
afterEach(async () => {
  await close()
  await rm(root, { recursive: true })
})

const lines: string[] = []
const buildDeps = () => ({
  cacheDirectory: () => join(root, 'cache'),
  openWeb: async () => ({ fetcher: httpFetcher({}), route: {} }),
  signal: new AbortController().signal,
  writeLine: (line: string) => void lines.push(line),
})
const buildOptions = () => ({
  kubernetes: '1.37.1',
  source: { mirror },
  target: { os: 'linux', arch: 'amd64' } as const,
})

test('the conformance suite is downloaded once, verified, unpacked and made executable', async () => {
  const path = await prepareSuiteProgram(buildOptions(), buildDeps())
  expect(await readFile(path, 'utf8')).toBe(program)
  expect((await stat(path)).mode & 0o777).toBe(0o755)
  expect((await runProgram([path, '--version'])).stdout).toBe('v1.37.1\n')
  expect(lines).toContain(`downloading ${mirror}${archivePath}`)
  expect(await prepareSuiteProgram(buildOptions(), buildDeps())).toBe(path)
  expect(requests).toEqual([`${archivePath}.sha256`, archivePath])
  // The archive is deleted, only the program is kept.
  expect(await readdir(dirname(path))).toEqual(['e2e.test'])
})

test('kubectl is downloaded without unpacking', async () => {
  expect(await readFile(await prepareKubectl(buildOptions(), buildDeps()), 'utf8')).toBe(program)
})

test.each([
  ['an archive with another digest', archivePath, 'CONFORMANCE_WRONG_DIGEST'],
  ['an invalid checksum file', `${archivePath}.sha256`, 'CONFORMANCE_CHECKSUM'],
])('%s is refused, and no file is kept in the cache', async (_, path, code) => {
  files.set(path, Buffer.from('evil'))
  await expect(prepareSuiteProgram(buildOptions(), buildDeps())).rejects.toMatchObject({ code })
  expect(await readdir(join(root, 'cache/hyperkube/programs/v1.37.1-linux-amd64'))).toEqual([])
})

test('without a checksum file the archive is not downloaded', async () => {
  files.delete(`${archivePath}.sha256`)
  await expect(prepareSuiteProgram(buildOptions(), buildDeps())).rejects.toMatchObject({
    code: 'FETCH_NOT_FOUND',
  })
  expect(requests).toEqual([`${archivePath}.sha256`])
})
