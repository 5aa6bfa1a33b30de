import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { parse } from 'yaml'
import { type Lock, readLock } from '../../catalog/lock.ts'
import { fakeFetcher } from '../../catalog/testing/fake-fetcher.ts'
import { fakeImages, fakeUpstream } from '../../catalog/testing/fake-upstream.ts'
import { fakeRegistries } from '../../catalog/registry/testing/fake-registry.ts'
import { createLocalFiles } from '../environment/local-files.ts'
import { buildCacheName, findLocalArtifact } from '../environment/locked-program.ts'
import { runCommandLine } from '../run-command-line.ts'
import { createInMemoryContext, runHyperkube } from '../testing/run-in-memory.ts'

let directory: string
let files: Readonly<Record<string, string>>
let kubectl: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kubectl-'))
  const sites = fakeUpstream('1.37.1', '1.36.4')
  const upstream = { fetcher: fakeFetcher((url) => sites.get(url)), web: fakeRegistries(fakeImages()) }
  const created = await runHyperkube('init --name shop --host 127.0.0.1=control-plane')
  const arch = process.arch === 'arm64' ? 'arm64' : 'amd64'
  const locked = await runHyperkube(`lock --arch ${arch}`, Object.fromEntries(created.files), upstream)
  files = Object.fromEntries(locked.files)
  const lock: Lock = readLock('cluster.lock', files['cluster.lock'] ?? '')
  const programs = join(directory, 'hyperkube', 'programs')
  kubectl = join(programs, buildCacheName(findLocalArtifact(lock, 'kubectl')))
  await mkdir(programs, { recursive: true })
  await writeFile(kubectl, 'a program that was verified before')
})
afterAll(async () => rm(directory, { recursive: true }))

interface Call {
  readonly argv: readonly string[]
  readonly kubeconfig: string
  readonly mode: number
  readonly path: string
}

async function runKubectl(programPath: string, args: readonly string[]): Promise<[number, Call[], string]> {
  const calls: Call[] = []
  const { context, collectResult } = createInMemoryContext(files, { cacheDirectory: directory })
  const { privateFiles } = createLocalFiles()
  const code = await runCommandLine(programPath, args, {
    ...context,
    // The kubeconfig is a real file, because a real kubectl reads it.
    privateFiles: { ...context.privateFiles, create: async (path, text) => privateFiles.create(path, text) },
    async runForeground(argv, { KUBECONFIG: path = '' }) {
      const { mode } = await stat(path)
      calls.push({ argv, path, mode: mode & 0o777, kubeconfig: await readFile(path, 'utf8') })
      return 7
    },
  })
  return [code, calls, collectResult(code).stderr]
}

test('kubectl gets its arguments unchanged, and its exit code is returned', async () => {
  const args = ['kubectl', '-v', '8', 'get', 'pods', '-o', 'json', '--', '--help']
  const [code, [call]] = await runKubectl('hyperkube', args)
  expect(code).toBe(7)
  expect(call?.argv).toEqual([kubectl, ...args.slice(1)])
})

test('a symbolic link named kubectl runs kubectl with all arguments', async () => {
  const [, [call]] = await runKubectl('/usr/local/bin/kubectl', ['get', 'nodes', '--help'])
  expect(call?.argv).toEqual([kubectl, 'get', 'nodes', '--help'])
})

test('the kubeconfig has mode 0600, uses a loopback server, and is removed afterwards', async () => {
  const [, [call]] = await runKubectl('hyperkube', ['--timeout', '1m', 'kubectl', 'get', 'nodes'])
  expect(call?.mode).toBe(0o600)
  expect(parse(call?.kubeconfig ?? '')).toMatchObject({
    clusters: [{ name: 'shop', cluster: { server: expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+$/) } }],
  })
  await expect(stat(call?.path ?? '')).rejects.toThrow('ENOENT')
})

test('a temporary directory that cannot be written has its own error code', async () => {
  vi.stubEnv('TMPDIR', join(directory, 'missing'))
  onTestFinished(() => void vi.unstubAllEnvs())
  const [code, calls, stderr] = await runKubectl('hyperkube', ['kubectl', 'get', 'nodes'])
  expect([code, calls]).toEqual([1, []])
  expect(stderr).toMatch(/^TMPDIR_NOT_WRITTEN: cannot write to the temporary directory .+missing: ENOENT/)
  expect(stderr).toContain('or set TMPDIR to another directory\n')
})
